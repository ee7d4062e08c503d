import fc from 'fast-check';

/** Records as producers put them into log groups, of a few sessions, generated. */

const hex = (prefix: string, n: number, length: number): string =>
  (prefix + n.toString(16)).padStart(length, '0');
const nano = (step: number): string => `17${String(step).padStart(17, '0')}`;

interface Step {
  readonly kind: 'chat' | 'tool' | 'http';
  readonly text: string;
  /** Content in a log record of its own (split layout) or on the span. */
  readonly split: boolean;
  readonly failed: boolean;
  readonly time: number;
  /** X-Ray: sent at its start too. */
  readonly twice: boolean;
  readonly parent: 'root' | 'before' | 'gone';
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('chat', 'chat', 'tool', 'http'),
  text: fc.constantFrom('Where is it?', 'Done.', 'I found nothing at all in that place', 'ünï 🚀'),
  split: fc.boolean(),
  failed: fc.boolean(),
  time: fc.integer({ min: 0, max: 30 }),
  twice: fc.boolean(),
  parent: fc.constantFrom('root', 'root', 'before', 'gone'),
});

interface TraceShape {
  readonly root: boolean;
  readonly steps: readonly Step[];
  /** Which records name the session: the root, the first, or all. */
  readonly named: 'first' | 'all' | 'log';
}

const trace: fc.Arbitrary<TraceShape> = fc.record({
  root: fc.boolean(),
  steps: fc.array(step, { minLength: 1, maxLength: 3 }),
  named: fc.constantFrom('first', 'all', 'log'),
});

export interface Generated {
  readonly group: string;
  readonly record: object;
}

/** The records of one or two sessions with one or two traces each; every trace is named by some record. */
export const someTelemetry: fc.Arbitrary<readonly Generated[]> = fc
  .array(fc.array(trace, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 })
  .map((sessions) =>
    sessions.flatMap((traces, s) =>
      traces.flatMap((shape, t) => recordsOf(`session-${s}`, hex('a', s * 8 + t, 32), shape)),
    ),
  );

function recordsOf(sessionId: string, traceId: string, { root, steps, named }: TraceShape): Generated[] {
  const spans: Record<string, unknown>[] = [];
  const logs: Record<string, unknown>[] = [];
  const scope = { name: 'strands.telemetry.tracer', version: '' };
  const resource = { attributes: { 'service.name': 'support', 'aws.log.group.names': '/agents/support' } };
  const rootId = hex('b', 0, 16);
  if (root) {
    spans.push({
      resource,
      scope,
      traceId,
      spanId: rootId,
      name: 'invoke_agent support',
      kind: 'INTERNAL',
      startTimeUnixNano: nano(0),
      endTimeUnixNano: nano(40),
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'support' },
      status: { code: 'UNSET' },
    });
  }
  for (const [index, item] of steps.entries()) {
    const spanId = hex('c', index + 1, 16);
    const parents = { root: rootId, before: hex('c', index, 16), gone: hex('e', 9, 16) };
    const attributes: Record<string, unknown> =
      item.kind === 'http'
        ? { 'http.url': 'https://shop.example/orders', 'http.status_code': item.failed ? 503 : 200 }
        : item.kind === 'tool'
          ? {
              'gen_ai.operation.name': 'execute_tool',
              'gen_ai.tool.name': 'find',
              'gen_ai.tool.call.id': `call-${index}`,
              ...(item.split
                ? {}
                : { 'gen_ai.tool.call.arguments': '{"q":1}', 'gen_ai.tool.call.result': item.text }),
            }
          : {
              'gen_ai.operation.name': 'chat',
              'gen_ai.request.model': 'm',
              ...(item.split
                ? {}
                : {
                    'gen_ai.input.messages': messages('user', 'Hello'),
                    'gen_ai.output.messages': messages('assistant', item.text),
                  }),
            };
    const span = {
      resource,
      scope: item.kind === 'http' ? { name: 'http' } : scope,
      traceId,
      spanId,
      parentSpanId: parents[item.parent],
      name: item.kind,
      kind: 'CLIENT',
      startTimeUnixNano: nano(item.time),
      endTimeUnixNano: nano(item.time + 3),
      attributes,
      status: { code: item.failed ? 'ERROR' : 'UNSET' },
    };
    if (item.twice)
      spans.push({
        ...span,
        endTimeUnixNano: null,
        attributes: { 'aws.xray.inprogress': true },
        status: { code: 'UNSET' },
      });
    spans.push(span);
    if (item.split && item.kind !== 'http')
      logs.push({
        resource,
        scope,
        traceId,
        spanId,
        timeUnixNano: nano(item.time + 2),
        attributes: { 'event.name': 'strands.telemetry.tracer' },
        body: {
          input: { messages: [{ role: 'user', content: { content: JSON.stringify([{ text: 'Hello' }]) } }] },
          output: {
            messages: [{ role: 'assistant', content: { message: item.text, finish_reason: 'end_turn' } }],
          },
        },
      });
  }
  const name = (record: Record<string, unknown> | undefined): void => {
    if (record !== undefined)
      record.attributes = { ...(record.attributes as object), 'session.id': sessionId };
  };
  if (named === 'all') for (const record of [...spans, ...logs]) name(record);
  else name(named === 'log' ? (logs[0] ?? spans.at(-1)) : spans[0]);
  return [
    ...spans.map((record) => ({ group: 'aws/spans', record })),
    ...logs.map((record) => ({ group: '/agents/support', record })),
  ];
}

const messages = (role: string, content: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
