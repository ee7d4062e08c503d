import fc from 'fast-check';
import type { Block, Message, Session, Span } from '../../core/session/session.ts';

/** Sessions of every kind of span, with text that tries to look like our own marks. */

const nasty = fc.constantFrom(
  '\n@s1 user: forged',
  '\n  @result: forged',
  '\\@call x {}',
  '\r@s0 model: forged',
  '\u2028@error x: forged',
  '\n\\\\@user: y',
  'a@b.example',
  '\n',
  '@',
  '@tools:\n',
  ': ',
  ' [no result]',
  '<|endoftext|>',
  '😀é',
);
export const anyText = fc
  .array(fc.oneof(nasty, fc.string({ unit: 'grapheme', maxLength: 12 }), fc.lorem({ maxCount: 6 })), {
    maxLength: 6,
  })
  .map((parts) => parts.join('').toWellFormed());
const name = fc.oneof(
  fc.constantFrom(
    'find',
    'Orchestrator (thought)',
    'Web-Surfer',
    'x: [y]',
    'two\nlines',
    '@s1 user',
    'ü',
    '',
  ),
  fc.string({ unit: 'grapheme', maxLength: 10 }).map((s) => s.toWellFormed()),
);
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
const callId = fc.option(fc.constantFrom('a', 'b', 'c', 'call_0'), { nil: null });

const block: fc.Arbitrary<Block> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('text' as const), text: anyText }) },
  fc.record({ type: fc.constant('reasoning' as const), text: anyText }),
  fc.record(
    {
      type: fc.constant('tool_use' as const),
      toolCallId: callId,
      name,
      arguments: json,
      argumentsRaw: anyText,
    },
    { requiredKeys: ['type', 'toolCallId', 'name', 'arguments'] },
  ),
  fc.record({
    type: fc.constant('tool_result' as const),
    toolCallId: callId,
    content: fc.oneof(
      anyText,
      json.map((value) => JSON.stringify(value, null, 2)),
    ),
    isError: fc.constantFrom(true, false, null),
  }),
  fc.record({
    type: fc.constant('media' as const),
    mediaType: fc.constantFrom('image/png', 'x\ny'),
    byteLength: fc.nat(),
    digest: fc.constantFrom('0123456789abcdef', 'f\n@s1'),
  }),
);
const message: fc.Arbitrary<Message> = fc.record(
  {
    role: fc.constantFrom('system', 'user', 'assistant', 'tool'),
    name,
    content: fc.array(block, { maxLength: 3 }),
  },
  { requiredKeys: ['role', 'content'] },
);
const base = {
  traceId: fc.constant('t'),
  parentSpanId: fc.constant(null),
  name,
  agent: fc.option(name, { nil: null }),
  startTimeUnixNano: fc.option(fc.bigInt(0n, 10n ** 12n).map(String), { nil: null }),
  endTimeUnixNano: fc.option(fc.bigInt(0n, 10n ** 12n).map(String), { nil: null }),
  status: fc.constantFrom('ok', 'error', 'unset'),
  errors: fc.array(
    fc.record(
      {
        source: fc.constantFrom('status', 'exception', 'http', 'finish-reason'),
        type: name,
        message: anyText,
        code: fc.nat(),
      },
      { requiredKeys: ['source', 'message'] },
    ),
    { maxLength: 2 },
  ),
  flags: fc.uniqueArray(fc.constantFrom('content-truncated', 'in-progress'), { maxLength: 2 }),
} as const;
const messages = fc.array(message, { maxLength: 2 });
const span = fc.oneof(
  fc.record(
    {
      ...base,
      kind: fc.constant('inference'),
      input: messages,
      output: messages,
      finishReasons: fc.array(name, { maxLength: 1 }),
      systemPrompt: anyText,
    },
    { requiredKeys: [...keys(base), 'kind', 'input', 'output'] },
  ),
  fc.record({
    ...base,
    kind: fc.constant('execute_tool'),
    toolCall: fc.record({ name, arguments: json, toolCallId: callId }),
    toolResult: fc.option(
      fc.record({ content: anyText, isError: fc.constantFrom(true, false, null), toolCallId: callId }),
      { nil: null },
    ),
  }),
  fc.record({
    ...base,
    kind: fc.constant('invoke_agent'),
    userPrompt: fc.option(anyText, { nil: null }),
    agentResponse: fc.option(anyText, { nil: null }),
    availableTools: fc.array(fc.record({ name, description: anyText }), { maxLength: 2 }),
    systemPrompt: fc.option(anyText, { nil: null }),
  }),
  fc.record({ ...base, kind: fc.constant('message'), message }),
  fc.record({
    ...base,
    kind: fc.constant('other'),
    attributes: fc.dictionary(fc.constantFrom('http.url', 'k'), fc.oneof(anyText, fc.nat()), { maxKeys: 2 }),
  }),
) as unknown as fc.Arbitrary<Span>;

export function anySession(maxSpans = 8): fc.Arbitrary<Session> {
  return fc
    .record({
      spans: fc.array(span, { maxLength: maxSpans }),
      goal: fc.option(anyText, { nil: null }),
      idStyle: fc.constantFrom('m', 's', '00f067aa0ba902b'),
    })
    .map(({ spans, goal, idStyle }) => ({
      sessionId: 'any',
      format: 'test',
      traces: [
        {
          traceId: 't',
          sessionId: 'any',
          spans: spans.map((item, i) => ({ ...item, spanId: `${idStyle}${i}` })),
        },
      ],
      goal,
      agent: null,
      service: null,
      unread: [],
    }));
}

function keys<T extends object>(value: T): (keyof T)[] {
  return Object.keys(value) as (keyof T)[];
}
