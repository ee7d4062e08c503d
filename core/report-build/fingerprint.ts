import { canonicalJson, sha256Hex } from '../base/hash.ts';
import type { Failure } from '../diagnosis/schema.ts';
import type { Step, Trajectory } from '../trajectory/trajectory.ts';

const SHAPE_LENGTH = 160;
const INPUT_LENGTH = 2000;

/**
 * An error text without what differs from one occurrence to the next: identifiers, numbers, quoted values, paths
 * beyond their first part. Linear in a capped input.
 */
export function errorShape(text: string): string {
  return text
    .slice(0, INPUT_LENGTH)
    .toLowerCase()
    .replace(/"[^"]{0,500}"|'[^']{0,500}'|`[^`]{0,500}`/gu, '<v>')
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gu, '<id>')
    .replace(/\b(?=[a-z_-]*\d)[\w-]{6,}\b/gu, '<id>')
    .replace(/\d+(?:[.,]\d+)*/gu, '<n>')
    .replace(/\s+/gu, ' ')
    .trim()
    .slice(0, SHAPE_LENGTH);
}

/**
 * The identity of a fault across sessions: who failed (agent), how (category), with what (tool) and with which
 * error (its shape). Equal faults in different sessions have equal fingerprints; the words of a model do not enter.
 */
export function fingerprintsOf(
  failures: readonly Failure[],
  trajectory: Trajectory,
  sessionAgent: string | null,
): string[] {
  const found = failures.flatMap((failure) => {
    const step = trajectory.stepBySpan.get(failure.span_id);
    return failure.category.map((category) =>
      sha256Hex(
        canonicalJson({
          agent: step?.agent ?? sessionAgent,
          category,
          tool: step === undefined ? null : toolOf(step),
          error: step === undefined ? '' : errorShape(errorOf(step)),
        }),
      ).slice(0, 16),
    );
  });
  return [...new Set(found)].sort();
}

function toolOf(step: Step): string | null {
  if (step.span.kind === 'execute_tool') return step.span.toolCall.name;
  for (const { block } of step.parts) if (block.type === 'tool_use') return block.name;
  return null;
}

function errorOf(step: Step): string {
  const [error] = step.span.errors;
  if (error !== undefined) return `${error.type ?? ''} ${error.code ?? ''} ${error.message}`;
  for (const { block } of step.parts) {
    if (block.type === 'tool_result' && block.isError === true) return block.content;
  }
  return '';
}
