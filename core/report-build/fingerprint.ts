import { canonicalJson, sha256Hex } from '../base/hash.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { Failure, Fault, RootCause } from '../diagnosis/schema.ts';
import type { ErrorSpot } from '../trajectory/error-signals.ts';
import { parseJson } from '../trajectory/result-view.ts';
import { stepOutcomes } from '../trajectory/tool-outcome.ts';
import type { Step, Trajectory } from '../trajectory/trajectory.ts';
import { promptSectionOf } from './prompt-section.ts';
import { tellingWords } from './telling-words.ts';

const SHAPE_LENGTH = 160;
const INPUT_LENGTH = 2000;

/**
 * An error text without what differs from one occurrence to the next: identifiers, numbers, quoted values. A quoted name
 * of a field or parameter stays: it tells one cause from another. Linear in a capped input.
 */
export function errorShape(text: string): string {
  return text
    .slice(0, INPUT_LENGTH)
    .replace(/"[^"]{0,500}"|'[^']{0,500}'|`[^`]{0,500}`/gu, (quoted) => {
      const inner = quoted.slice(1, -1);
      return /^[A-Za-z]{1,30}(?:[_.][A-Za-z]{1,30}){1,4}$|^[a-z]{1,30}(?:[A-Z][a-z]{1,30}){1,4}$/u.test(inner)
        ? inner
        : '<v>';
    })
    .toLowerCase()
    .replace(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gu, '<id>')
    .replace(/\b(?=[a-z_-]*\d)[\w-]{6,}\b/gu, '<id>')
    .replace(/\d+(?:[.,]\d+)*/gu, '<n>')
    .replace(/\s+/gu, ' ')
    .trim()
    .slice(0, SHAPE_LENGTH);
}

/**
 * The faults of a diagnosis, one for each category of each failure, with their identity across sessions.
 *
 * `site` is who failed (agent), how (category) and where (tool, else the part of the system prompt that the cause lies
 * in; a constraint of the team by its name). It carries most weight: no wording enters it. `words` tell causes at one
 * site apart, and come from the error that the telemetry states, never from a model's explanation, which is worded anew each
 * time. `fingerprint` is the hash of both: equal for equal faults; whether two near ones are the same cause is decided
 * where issues are kept (`sameCause`).
 */
export function faultsOf(
  failures: readonly Failure[],
  rootCauses: readonly RootCause[],
  trajectory: Trajectory,
  sessionAgent: string | null,
): Fault[] {
  const toolErrors = toolErrorsBySpan(trajectory);
  return failures.flatMap((failure, at) => {
    const step = trajectory.stepBySpan.get(failure.span_id);
    const agent = step?.agent ?? sessionAgent;
    const toolError = toolErrors.get(failure.span_id);
    const tool = toolError?.tool ?? (step === undefined ? null : toolOf(step));
    const section = tool === null ? promptSectionOf(trajectory.systemPrompt, failure, rootCauses[at]) : null;
    const cause = errorShape((step === undefined ? null : statedError(step)) ?? toolError?.text ?? '');
    const words = tellingWords(cause);
    return failure.category.map((category, i): Fault => {
      const source = failure.source[i];
      const constraint = source?.kind === 'constraint' ? source.ref : null;
      const site = hash16({ agent, category, tool, section, constraint });
      return {
        spanId: failure.span_id,
        category,
        agent,
        place: placeOf(tool, section, constraint),
        cause,
        words,
        site,
        fingerprint: hash16({ site, words }),
      };
    });
  });
}

/** The same without the spans: each once. */
export const fingerprintsOf = (faults: readonly Fault[]): string[] =>
  [...new Set(faults.map(({ fingerprint }) => fingerprint))].sort();

const hash16 = (value: JsonValue): string => sha256Hex(canonicalJson(value)).slice(0, 16);

function placeOf(tool: string | null, section: string | null, constraint: string | null): string | null {
  if (constraint !== null) return `constraint ${constraint}`;
  if (tool !== null) return `tool ${tool}`;
  return section === null ? null : `prompt: ${section}`;
}

interface ToolError {
  readonly tool: string;
  /** What the tool said; `null` when its result is no error. */
  readonly text: string | null;
}

/** By the span that called and the span that has the result. */
function toolErrorsBySpan(trajectory: Trajectory): ReadonlyMap<string, ToolError> {
  const found = new Map<string, ToolError>();
  for (const { step, exchange, name, text, outcome } of stepOutcomes(trajectory)) {
    if (exchange === null) continue;
    const error: ToolError = {
      tool: name,
      text: outcome.state === 'failed' ? said(text, outcome.spot) : null,
    };
    const call = trajectory.steps[exchange.callStep];
    // Of several calls of one step, the one that failed is meant.
    for (const spanId of new Set([step.spanId, ...(call === undefined ? [] : [call.spanId])]))
      if ((found.get(spanId)?.text ?? null) === null) found.set(spanId, error);
  }
  return found;
}

/** The error in words: of JSON the part that states it, or all its texts; of other text from where it begins to the line's end. */
function said(text: string, { start, end }: ErrorSpot): string {
  const json = parseJson(text.slice(0, INPUT_LENGTH));
  if (json !== undefined) return end > start ? text.slice(start, end) : textsOf(json, 4).join(' ');
  const from = text.slice(start, Math.max(end, start + INPUT_LENGTH));
  return /^[^\n]{12,}|^[^\n]*\n?[^\n]*/u.exec(from)?.[0] ?? from;
}

function textsOf(value: JsonValue, levels: number): string[] {
  if (typeof value === 'string') return [value];
  if (levels === 0 || typeof value !== 'object' || value === null) return [];
  const items = isJsonObject(value) ? Object.values(value) : Array.isArray(value) ? value : [];
  return items.flatMap((item) => textsOf(item, levels - 1));
}

function toolOf(step: Step): string | null {
  if (step.span.kind === 'execute_tool') return step.span.toolCall.name;
  for (const { block } of step.parts) if (block.type === 'tool_use') return block.name;
  return null;
}

function statedError({ span }: Step): string | null {
  const [error] = span.errors;
  return error === undefined ? null : `${error.type ?? ''} ${error.message}`;
}
