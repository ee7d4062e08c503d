import type { Example, ExampleTurn } from '../diagnosis/constraint.ts';
import type { Session, Span, ToolDefinition } from '../session/session.ts';
import { toTrajectory } from '../trajectory/to-trajectory.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';

/** An example of a constraint as a trajectory: every turn is a step, a call and its result are two. */
export function exampleTrajectory(example: Example): Trajectory {
  const tools = (example.tools ?? []).map(
    (tool): ToolDefinition => ({
      name: tool.name,
      ...(tool.description === undefined ? {} : { description: tool.description }),
      ...(tool.parameters === undefined ? {} : { parameters: tool.parameters }),
    }),
  );
  const opening = inferenceSpan('s0', { systemPrompt: example.policy ?? '', tools });
  const spans = [opening, ...example.turns.flatMap((turn, index) => turnSpans(turn, index + 1))];
  const session: Session = {
    sessionId: 'example',
    format: 'example',
    traces: [{ traceId: 'example', sessionId: 'example', spans }],
    goal: example.goal ?? null,
    agent: null,
    service: null,
    unread: [],
  };
  return toTrajectory(session);
}

const base = (spanId: string) => ({
  spanId,
  traceId: 'example',
  parentSpanId: null,
  name: spanId,
  agent: 'agent',
  startTimeUnixNano: null,
  endTimeUnixNano: null,
  status: 'unset' as const,
  errors: [],
  flags: [],
});

function inferenceSpan(spanId: string, prompt: { systemPrompt: string; tools: ToolDefinition[] }): Span {
  return { ...base(spanId), kind: 'inference', input: [], output: [], ...prompt };
}

function turnSpans(turn: ExampleTurn, index: number): readonly Span[] {
  const spanId = `s${index}`;
  if ('user' in turn) return [messageSpan(spanId, 'user', turn.user)];
  if ('assistant' in turn) return [messageSpan(spanId, 'assistant', turn.assistant)];
  const toolCallId = `c${index}`;
  const call: Span = {
    ...base(spanId),
    kind: 'message',
    message: {
      role: 'assistant',
      content: [{ type: 'tool_use', toolCallId, name: turn.call, arguments: turn.args ?? {} }],
    },
  };
  if (turn.result === undefined && turn.failed === undefined) return [call];
  const content = typeof turn.result === 'string' ? turn.result : JSON.stringify(turn.result ?? '');
  const result: Span = {
    ...base(`${spanId}r`),
    kind: 'message',
    message: {
      role: 'tool',
      content: [{ type: 'tool_result', toolCallId, content, isError: turn.failed ?? null }],
    },
  };
  return [call, result];
}

function messageSpan(spanId: string, role: 'user' | 'assistant', text: string): Span {
  return { ...base(spanId), kind: 'message', message: { role, content: [{ type: 'text', text }] } };
}
