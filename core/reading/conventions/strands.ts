import type { Convention, RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { textAt } from './attributes.ts';
import { buildAgent, buildInference } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';
import { contentEvents } from './events.ts';
import { operationOf } from './genai.ts';

/**
 * Strands Agents. Split layout: one log record a span with `input.messages` and `output.messages`; the collector
 * keeps only the last message of a role there, so the Bedrock call's own records, when present, say more.
 * Unified layout: the same as span events.
 */
export const strands: Convention = {
  id: 'strands',
  title: 'Strands Agents',
  knownBy: 'scope strands.telemetry.tracer',
  from: 'the SDK’s tracer: `StrandsTelemetry()`, or ADOT (`opentelemetry-instrument`) on AgentCore, split and unified layout',
  checkedOn: 'strands.telemetry.tracer 1.4.2, AgentCore records',
  claim: (span) => (span.scope.name === 'strands.telemetry.tracer' ? 80 : 0),
  read: (span, logs) => {
    const operation = operationOf(span);
    if (operation === 'execute_tool') return buildTool(span, toolPartsFrom(span, logs));
    if (operation === 'inference') return readCall(span, logs);
    if (operation === 'invoke_agent') return readAgent(span, logs);
    return span.attributes['rootspan.synthetic'] === true ? readOrphan(span, logs) : buildOther(span);
  },
};

/** An event-loop record lists the assistant's earlier turns under `output`; the answer is the last one. */
function readCall(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const result = buildInference(span, logs);
  if (result.span.kind !== 'inference') return result;
  const answer = result.span.output.at(-1);
  const earlier = result.span.output.slice(0, -1);
  if (answer === undefined || earlier.length === 0) return result;
  return {
    ...result,
    span: { ...result.span, input: alternate(result.span.input, earlier), output: [answer] },
  };
}

function readAgent(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  return buildAgent(span, logs, {}, { agent: textAt(span.attributes, 'gen_ai.agent.name') });
}

/**
 * A record whose span did not arrive: only a call or a run has a finish reason, and only a call's answer is a list
 * of blocks. A tool's record is told by the id beside its arguments.
 */
function readOrphan(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const text = contentEvents(span, logs)
    .map((event) => JSON.stringify(event.body))
    .join('\n');
  if (/"finish_reason":/.test(text)) {
    return /"message":"\[\{/.test(text) ? readCall(span, logs) : readAgent(span, logs);
  }
  return /"id":"tooluse_/.test(text) ? buildTool(span, toolPartsFrom(span, logs)) : buildOther(span);
}

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
