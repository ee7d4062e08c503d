import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/base/json.ts';
import type { Span } from '../../../core/session/session.ts';
import {
  agent,
  bareSpan,
  call,
  chat,
  findings,
  fromSpans,
  groupChat,
  positions,
  report,
  result,
  tool,
  user,
} from './sessions.ts';

const weather = tool('get_weather', {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city'],
  additionalProperties: false,
});

/** Each definition tries the next one twice: 2^levels paths. */
function doubling(levels: number): JsonValue {
  const $defs: Record<string, JsonValue> = { d0: { type: 'string' } };
  for (let n = 1; n <= levels; n += 1) {
    $defs[`d${n}`] = { anyOf: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] };
  }
  return { $defs, properties: { a: { $ref: `#/$defs/d${levels}` } } };
}

function nested(levels: number): JsonValue {
  return levels === 0 ? {} : { properties: { a: nested(levels - 1) } };
}

describe('a call to a tool that does not exist', () => {
  it('is reported when it was refused', () => {
    const trajectory = chat(
      [user('hi'), call('1', 'get_wether', {}), result('1', 'Error: unknown tool')],
      [weather],
    );
    expect(findings(trajectory, 'unknown-tool')).toMatchObject([{ spanId: 'm1', weight: 'failure' }]);
  });

  it('is not reported when it was answered: then the tool list is partial', () => {
    const trajectory = chat([user('hi'), call('1', 'web', {}), result('1', 'a page')], [weather]);
    expect(findings(trajectory, 'unknown-tool')).toEqual([]);
  });

  it('cannot be known without a tool list', () => {
    const trajectory = chat([user('hi'), call('1', 'web', {}), result('1', 'Error: unknown tool')]);
    expect(report(trajectory, 'unknown-tool')).toMatchObject({ state: 'blind' });
  });
});

describe('arguments against the JSON Schema', () => {
  const asked = (args: Parameters<typeof call>[2], answer: string, tools = [weather]) =>
    chat([user('weather?'), call('1', 'get_weather', args), result('1', answer)], tools);

  it.each([
    [{}, 'city'],
    [{ city: 4 }, '/city'],
    [{ city: 'Bern', unit: 'C' }, 'unit'],
  ])('%j breaks it and the problem is named', (args, named) => {
    const [one] = findings(asked(args, 'Error: bad arguments'), 'arguments-break-schema');
    expect(one).toMatchObject({ weight: 'failure', confidence: 0.9 });
    expect(one?.summary).toContain(named);
  });

  it('a breach that the tool put up with is only evidence', () => {
    expect(findings(asked({ city: 'Bern', unit: 'C' }, '4 degrees'), 'arguments-break-schema')).toMatchObject(
      [{ weight: 'evidence', confidence: 0.5 }],
    );
  });

  it('fitting arguments are silent', () => {
    expect(findings(asked({ city: 'Bern', days: 2 }, '4 degrees'), 'arguments-break-schema')).toEqual([]);
  });

  it.each([
    ['a remote reference', { $ref: 'https://example.com/schema.json' }, 'outside itself'],
    ['a reference in a circle', { properties: { a: { $ref: '#' } } }, 'refers to itself'],
    ['a reference to nowhere', { properties: { a: { $ref: '#/$defs/b' } } }, 'refers to itself'],
    ['alternatives that double at each level', doubling(40), 'unfolds'],
    ['a schema nested without end', nested(40), 'nested deeper'],
    ['a broken schema', { type: 'objekt' }, 'does not compile'],
    [
      'a schema of patterns',
      { patternProperties: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x${i}`, {}])) },
      'more than 100 patterns',
    ],
    [
      'a pattern without end',
      { properties: { a: { pattern: 'a?'.repeat(600) } } },
      'more than 1000 characters',
    ],
    [
      'patterns that compile without end',
      {
        patternProperties: Object.fromEntries(
          Array.from({ length: 90 }, (_, i) => [`${'a{1000}'.repeat(140)}${i}`, {}]),
        ),
      },
      'more than 50000 instructions',
    ],
  ])('%s makes the check blind, with the reason', (_, schema, reason) => {
    const one = report(asked({}, 'ok', [tool('get_weather', schema)]), 'arguments-break-schema');
    expect(one.state).toBe('blind');
    expect(one.reason).toContain(reason);
  });

  it('a pattern that backtracks for ever elsewhere ends here', () => {
    const evil = tool('get_weather', { properties: { city: { type: 'string', pattern: '^(a+)+$' } } });
    const trajectory = asked({ city: `${'a'.repeat(50_000)}!` }, 'ok', [evil]);
    expect(findings(trajectory, 'arguments-break-schema')).toHaveLength(1);
  });

  it('patterns that take too long on a value make the check blind, with the reason', () => {
    const slow = tool('get_weather', { properties: { city: { pattern: '(a{0,500}){2}b' } } });
    const one = report(asked({ city: 'a'.repeat(1_000_000) }, 'ok', [slow]), 'arguments-break-schema');
    expect(one).toMatchObject({ state: 'blind', reason: expect.stringContaining('takes too long') });
  });

  it('references inside the schema are followed', () => {
    const local = tool('get_weather', {
      $defs: { c: { type: 'string' } },
      properties: { city: { $ref: '#/$defs/c' } },
    });
    expect(findings(asked({ city: 1 }, 'ok', [local]), 'arguments-break-schema')).toHaveLength(1);
  });
});

describe('the same call again', () => {
  const times = (answers: readonly string[]) =>
    chat([
      user('weather?'),
      ...answers.flatMap((answer, n) => [
        call(`${n}`, 'get_weather', { city: 'Bern', days: 1 }),
        result(`${n}`, answer),
      ]),
    ]);

  it('twice with the same result is evidence, three times a failure', () => {
    expect(findings(times(['4', '4']), 'repeated-call')).toMatchObject([
      { weight: 'evidence', spanId: 'm3' },
    ]);
    expect(findings(times(['4', '4', '4']), 'repeated-call')).toMatchObject([{ weight: 'failure' }]);
  });

  it('with other calls in between, which may have changed something, stays evidence', () => {
    const round = (n: number) => [
      call(`s${n}`, 'git_status', {}),
      result(`s${n}`, 'clean'),
      call(`e${n}`, 'edit', { n }),
      result(`e${n}`, 'ok'),
    ];
    expect(findings(chat([user('x'), ...round(1), ...round(2), ...round(3)]), 'repeated-call')).toMatchObject(
      [{ weight: 'evidence' }],
    );
  });

  it('that gets another answer is polling', () => {
    expect(findings(times(['busy', 'busy', 'done']), 'repeated-call')).toEqual([]);
  });

  it('is the same whatever the order of its arguments', () => {
    const trajectory = chat([
      user('x'),
      call('1', 'get_weather', { city: 'Bern', days: 1 }),
      result('1', '4'),
      call('2', 'get_weather', { days: 1, city: 'Bern' }),
      result('2', '4'),
    ]);
    expect(findings(trajectory, 'repeated-call')).toHaveLength(1);
  });
});

describe('a result that never came', () => {
  it('is reported where other results are recorded', () => {
    const trajectory = chat([user('x'), call('1', 'a', {}), result('1', 'ok'), call('2', 'b', {})]);
    expect(findings(trajectory, 'missing-result')).toMatchObject([{ spanId: 'm3', weight: 'failure' }]);
  });

  it('is by design where the call ends the session', () => {
    const trajectory = chat([
      user('x'),
      call('1', 'a', {}),
      result('1', 'ok'),
      call('2', 'final_answer', {}),
    ]);
    expect(findings(trajectory, 'missing-result')).toEqual([]);
  });

  it('cannot be known where no result is recorded at all', () => {
    expect(report(chat([user('x'), call('1', 'a', {})]), 'missing-result').state).toBe('blind');
  });
});

describe('an answer cut at the token limit', () => {
  const answered = (reason: string): Span => ({
    ...bareSpan('model'),
    kind: 'inference',
    input: [{ role: 'user', content: [{ type: 'text', text: 'write' }] }],
    output: [{ role: 'assistant', content: [{ type: 'text', text: 'Once upon a' }] }],
    finishReasons: [reason],
  });

  it.each(['length', 'max_tokens'])('is told by the stop reason %s', (reason) => {
    const [one] = findings(fromSpans([answered(reason)]), 'output-cut');
    expect(one).toMatchObject({ weight: 'failure', recovered: false });
    expect(one?.evidence[0]?.quote).toContain('Once upon a');
  });

  it('is not there with another reason, and unknown without any', () => {
    expect(findings(fromSpans([answered('end_turn')]), 'output-cut')).toEqual([]);
    expect(report(chat([user('x'), agent('y')]), 'output-cut').state).toBe('blind');
  });

  it.each(['model_context_window_exceeded', 'MODEL_LENGTH', 'max-tokens', 'FinishReason.MAX_TOKENS'])(
    "in every provider's word: %s",
    (reason) => expect(findings(fromSpans([answered(reason)]), 'output-cut')).toHaveLength(1),
  );

  it.each([
    'content_filter',
    'content-filter',
    'RECITATION',
    'blocklist',
    'prohibited_content',
    'SPII',
    'refusal',
  ])('a withheld answer is a guardrail: %s', (reason) => {
    expect(findings(fromSpans([answered(reason)]), 'blocked')).toMatchObject([
      { criticalCategory: 'guardrail', weight: 'failure' },
    ]);
  });

  it.each([
    ['malformed_function_call', 'invalid-invocation'],
    ['malformed_tool_use', 'invalid-invocation'],
    ['error', 'system-failure'],
  ])('a call that ended in %s is an error of its own', (reason, criticalCategory) => {
    const [one] = findings(fromSpans([answered(reason)]), 'explicit-error');
    expect(one).toMatchObject({ criticalCategory, weight: 'failure', recovered: false });
    expect(one?.evidence[0]?.quote).toContain(reason);
  });

  it.each(['stop', 'toolUse', 'pause_turn', 'a word of next year'])('%s says nothing is wrong', (reason) => {
    const session = fromSpans([answered(reason)]);
    for (const check of ['output-cut', 'blocked', 'explicit-error'])
      expect(findings(session, check)).toEqual([]);
  });
});

describe('the end of a session', () => {
  const ending = (last: string) => chat([user('Change my order.'), agent('To what?'), user(last)]);

  it.each([
    'Yes, go ahead and finalize it. Thanks! ###STOP###',
    'Please proceed with the change.',
    'Could you send it to my new address?',
  ])('with an open request is abrupt: %j', (last) => {
    expect(positions(ending(last), 'abrupt-end')).toEqual([2]);
  });

  it.each([
    'No, that is all. Thanks for your help!',
    'Great, thank you. ###STOP###',
    'Please do not proceed with it. Thank you, bye!',
    'Never mind.',
  ])('with a goodbye is not: %j', (last) => {
    expect(positions(ending(last), 'abrupt-end')).toEqual([]);
  });

  it('right after a failed call is abrupt', () => {
    const trajectory = chat([
      user('x'),
      call('1', 'pay', {}),
      result('1', 'Error: 500 internal server error'),
    ]);
    expect(positions(trajectory, 'abrupt-end')).toEqual([2]);
  });
});

describe('an identifier in a call', () => {
  const paid = (card: string, name = 'refund') =>
    chat([
      user('Refund R7K9, card_8810.'),
      call('1', name, { card_id: card, booking: 'R7K9' }),
      result('1', 'done'),
    ]);

  it('that nothing names is unsupported', () => {
    expect(findings(paid('card_5519'), 'unsupported-value')).toMatchObject([
      { spanId: 'm1', weight: 'evidence' },
    ]);
  });

  it('that somebody named is supported', () => {
    expect(findings(paid('card_8810'), 'unsupported-value')).toEqual([]);
  });

  it('that only the agent itself has named is still unsupported', () => {
    const trajectory = chat([
      user('Refund me.'),
      agent('I will refund to card_551988.'),
      call('1', 'refund', { card_id: 'card_551988' }),
      result('1', 'done'),
    ]);
    expect(findings(trajectory, 'unsupported-value')).toMatchObject([
      { spanId: 'm1', weight: 'evidence' },
      { spanId: 'm2', weight: 'evidence' },
    ]);
  });

  it.each(['Card_88-10', 'CARD8810', 'r7k9-8810-card'])(
    'in another spelling, or composed of named parts, is supported: %s',
    (card) => {
      expect(findings(paid(card), 'unsupported-value')).toEqual([]);
    },
  );

  it('that only shows the form of one is none', () => {
    const trajectory = chat([
      user('x'),
      agent('An order id looks like #W0000000.'),
      call('1', 'a', {}),
      result('1', 'b'),
    ]);
    expect(findings(trajectory, 'unsupported-value')).toEqual([]);
  });

  it('cannot be traced where an image may have named it', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const trajectory = chat([
      { role: 'user', content: [image] },
      call('1', 'pay', { card_id: 'card_5519' }),
      result('1', 'ok'),
    ]);
    expect(report(trajectory, 'unsupported-value').state).toBe('blind');
  });

  it('that is given to a new thing is only evidence', () => {
    expect(findings(paid('card_5519', 'create_card'), 'unsupported-value')).toMatchObject([
      { weight: 'evidence' },
    ]);
  });
});

describe('internals in an answer', () => {
  it.each([
    '<|im_start|>assistant hello',
    'Dear {{customer_name}},',
    'Call us at [insert phone number].',
    '[INST] go [/INST]',
  ])('leaked: %j', (text) => {
    expect(positions(chat([user('x'), agent(text)]), 'leaked-markup')).toEqual([1]);
  });

  it.each([
    'Use `{{name}}` in the template.',
    '```\n<|im_start|>\n```',
    'f(x) = [x]',
    'I will add [1] as a source.',
  ])('ordinary: %j', (text) => {
    expect(positions(chat([user('x'), agent(text)]), 'leaked-markup')).toEqual([]);
  });
});

describe('a task handed over among agents', () => {
  const goal = 'Which museum in Basel shows the largest collection of Holbein paintings?';

  it('that is not the goal is lost at the first step', () => {
    const trajectory = groupChat(goal, [
      ['Manager', 'Find out why the script stops with an unknown language.'],
      ['Coder', 'Please send the script.'],
    ]);
    expect(positions(trajectory, 'goal-lost-at-start')).toEqual([0]);
  });

  it('that keeps the goal in other order is fine', () => {
    const trajectory = groupChat(goal, [
      [
        'Manager',
        'Holbein paintings: which Basel museum shows the largest collection? Plan: 1. list the museums.',
      ],
      ['Scout', 'I start.'],
    ]);
    expect(positions(trajectory, 'goal-lost-at-start')).toEqual([]);
  });

  it('cannot be compared without a stated goal', () => {
    // What a person asks for is no stated goal, however long, and a greeting before it is no hand-over.
    const greeted = [agent('Good day, what can I do?'), user('Please block my card and order another one.')];
    expect(report(chat(greeted), 'goal-lost-at-start')).toMatchObject({
      state: 'blind',
      reason: 'the session does not state its goal apart from the messages',
    });
  });
});
