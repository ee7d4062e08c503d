/** Small records of the shape of `aws/spans` and of AgentCore's runtime log group. */

export const id = (text: string, length: number): string => text.padStart(length, '0');

interface SpanParts {
  readonly traceId?: string;
  readonly spanId?: string;
  readonly parent?: string | null;
  readonly session?: string;
  readonly text?: string;
  readonly attributes?: object;
  readonly [field: string]: unknown;
}

/** A model call with its content on the span. */
export function span({
  traceId,
  spanId,
  parent,
  session,
  text,
  attributes,
  ...rest
}: SpanParts = {}): object {
  return {
    resource: { attributes: { 'service.name': 'support' } },
    scope: { name: 'strands.telemetry.tracer', version: '' },
    traceId: id(traceId ?? 'a', 32),
    spanId: id(spanId ?? 'c', 16),
    ...(parent === null ? {} : { parentSpanId: id(parent ?? 'e', 16) }),
    name: 'chat',
    kind: 'INTERNAL',
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000001000000000',
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.input.messages': messages('user', 'Where is my order?'),
      'gen_ai.output.messages': messages('assistant', text ?? 'On its way.'),
      ...(session === undefined ? {} : { 'session.id': session }),
      ...attributes,
    },
    status: { code: 'UNSET' },
    ...rest,
  };
}

/** A Strands log record: the content of a span in split layout. */
export function contentLog({ traceId, spanId, session, text }: SpanParts = {}): object {
  return {
    resource: { attributes: { 'service.name': 'support' } },
    scope: { name: 'strands.telemetry.tracer' },
    traceId: id(traceId ?? 'a', 32),
    spanId: id(spanId ?? 'c', 16),
    timeUnixNano: '1700000000500000000',
    attributes: {
      'event.name': 'strands.telemetry.tracer',
      ...(session === undefined ? {} : { 'session.id': session }),
    },
    body: {
      input: {
        messages: [{ role: 'user', content: { content: JSON.stringify([{ text: 'Where is my order?' }]) } }],
      },
      output: {
        messages: [
          { role: 'assistant', content: { message: text ?? 'On its way.', finish_reason: 'end_turn' } },
        ],
      },
    },
  };
}

const messages = (role: string, content: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
