import type { Session, Span } from '../../core/session/session.ts';

const WORDS =
  'order refund flight customer status payment address policy retry agent result search booking window total error'.split(
    ' ',
  );

/**
 * A made session of many spans of some hundred tokens each (times `factor`), calls and results in turn. Equal for equal
 * sizes.
 */
export function madeSession(spanCount: number, factor = 1): Session {
  const text = (seed: number, words: number): string =>
    Array.from(
      { length: words },
      (_, i) => `${WORDS[(seed * 7 + i * (1 + (seed % 5))) % WORDS.length]}-${(seed + i) % 997}`,
    ).join(' ');
  const spans = Array.from({ length: spanCount }, (_, i): Span => {
    const base = {
      spanId: (0xa5a5a5a5 + i).toString(16).padStart(16, '0'),
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      parentSpanId: null,
      name: 'step',
      agent: 'assistant',
      startTimeUnixNano: `17${String(i).padStart(8, '0')}000000000`,
      endTimeUnixNano: `17${String(i).padStart(8, '0')}500000000`,
      status: 'ok' as const,
      errors: [],
      flags: [],
    };
    const call = Math.floor(i / 2);
    if (i % 2 === 0) {
      return {
        ...base,
        kind: 'inference',
        input: [],
        output: [
          {
            role: 'assistant',
            content: [
              { type: 'text', text: text(i, 30 * factor) },
              {
                type: 'tool_use',
                toolCallId: `call_${call}`,
                name: 'lookup',
                arguments: { query: text(i, 4) },
              },
            ],
          },
        ],
      };
    }
    return {
      ...base,
      kind: 'execute_tool',
      toolCall: { name: 'lookup', arguments: { query: text(i - 1, 4) }, toolCallId: `call_${call}` },
      toolResult: { content: text(i, 40 * factor), isError: false, toolCallId: `call_${call}` },
    };
  });
  return {
    sessionId: `made-${spanCount}`,
    format: 'made',
    traces: [{ traceId: '4bf92f3577b34da6a3ce929d0e0e4736', sessionId: `made-${spanCount}`, spans }],
    goal: 'Refund every order of the list.',
    agent: 'assistant',
    service: null,
    unread: [],
  };
}
