import type { Dialect } from '../format.ts';
import { textAt } from './attributes.ts';
import { buildAgent, buildInference, buildOther, buildTool, toolPartsFrom } from './build.ts';
import { contentEvents } from './gather.ts';
import { operationOf } from './genai.ts';

/**
 * Strands Agents. Split layout: one log record a span with `input.messages` and `output.messages`; the collector
 * keeps only the last message of a role there, so the Bedrock call's own records, when present, say more.
 * Unified layout: the same as span events.
 */
export const strands: Dialect = {
  id: 'strands',
  title: 'Strands Agents',
  knownBy: 'scope strands.telemetry.tracer',
  claim: (span) => (span.scope.name === 'strands.telemetry.tracer' ? 80 : 0),
  read: (span, logs) => {
    const operation = operationOf(span);
    if (operation === 'execute_tool') return buildTool(span, toolPartsFrom(span, logs));
    if (operation === 'inference') {
      const result = buildInference(span, logs);
      if (result.span.kind !== 'inference') return result;
      // An event-loop log lists the assistant's earlier turns under `output`; the answer is the last one.
      const answer = result.span.output.at(-1);
      const earlier = result.span.output.slice(0, -1);
      if (answer === undefined || earlier.length === 0) return result;
      return {
        ...result,
        span: { ...result.span, input: alternate(result.span.input, earlier), output: [answer] },
      };
    }
    if (operation === 'invoke_agent')
      return buildAgent(span, logs, {}, { agent: textAt(span.attributes, 'gen_ai.agent.name') });
    // A record without its span tells a model call only by its finish reason.
    const isOrphan = span.attributes['rootspan.synthetic'] === true;
    const hasAnswer = contentEvents(span, logs).some((event) =>
      JSON.stringify(event.body).includes('"finish_reason"'),
    );
    return isOrphan && hasAnswer ? buildInference(span, logs) : buildOther(span);
  },
};

/** Turns alternate in Bedrock: each asks or brings results, each is answered once. */
function alternate<T>(asked: readonly T[], answered: readonly T[]): T[] {
  const out: T[] = [];
  for (let i = 0; i < Math.max(asked.length, answered.length); i += 1) {
    const [a, b] = [asked[i], answered[i]];
    if (a !== undefined) out.push(a);
    if (b !== undefined) out.push(b);
  }
  return out;
}
