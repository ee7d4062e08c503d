import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Block } from '../../../core/session/session.ts';
import { plainResult } from '../../../core/trajectory/block-key.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import type { Trajectory } from '../../../core/trajectory/trajectory.ts';
import { anySession } from '../../helpers/arbitrary-session.ts';
import {
  agent,
  inference,
  message,
  other,
  result,
  said,
  session,
  tool,
  use,
} from '../../helpers/build-session.ts';

const words = (block: Block): string => {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.text;
    case 'tool_use':
      return `call ${block.toolCallId ?? '-'} ${block.name}`;
    case 'tool_result':
      return `result ${block.toolCallId ?? '-'} ${block.content}`;
    case 'media':
      return block.mediaType;
  }
};
const shown = (t: Trajectory): string[][] => t.steps.map((s) => s.parts.map((p) => words(p.block)));
const pairs = (t: Trajectory) => t.exchanges.map((e) => [e.name, e.callStep, e.resultStep, e.result]);

describe('repeated history', () => {
  const turns = session([
    agent('hi', 'done', { agent: 'A', systemPrompt: 'be kind' }),
    inference(
      [message('system', 'be kind'), message('user', 'hi')],
      [message('assistant', 'look', use('c1', 'find'))],
    ),
    tool('c1', 'find', {}, '42'),
    inference(
      [
        message('system', 'be kind'),
        message('user', 'hi'),
        message('assistant', 'look', use('c1', 'find')),
        message('tool', result('c1', '[{"text":"42"}]')),
      ],
      [message('assistant', 'done')],
    ),
  ]);

  test('each thing appears once: prompt at the agent, call at the model, result at the tool, answer at the end', () => {
    const t = toTrajectory(turns);
    expect(shown(t)).toEqual([['hi'], ['look', 'call c1 find'], ['result c1 42'], ['done']]);
    expect(pairs(t)).toEqual([['find', 1, 2, '42']]);
    expect([t.goal, t.systemPrompt]).toEqual(['hi', 'be kind']);
  });

  test('a second "yes" is news although the first stands in the history', () => {
    const t = toTrajectory(
      session([
        inference([message('user', 'yes')], [message('assistant', 'sure?')]),
        inference(
          [message('user', 'yes'), message('assistant', 'sure?'), message('user', 'yes')],
          [message('assistant', 'ok')],
        ),
      ]),
    );
    expect(shown(t)).toEqual([
      ['yes', 'sure?'],
      ['yes', 'ok'],
    ]);
  });

  test('a window that drops the oldest turns repeats nothing', () => {
    const t = toTrajectory(
      session([
        inference([message('user', 'one')], [message('assistant', 'a')]),
        inference(
          [message('user', 'one'), message('assistant', 'a'), message('user', 'two')],
          [message('assistant', 'b')],
        ),
        inference(
          [message('user', 'two'), message('assistant', 'b'), message('user', 'two')],
          [message('assistant', 'c')],
        ),
      ]),
    );
    expect(shown(t)).toEqual([
      ['one', 'a'],
      ['two', 'b'],
      ['two', 'c'],
    ]);
  });

  test('a summary in place of old turns is news once, the kept tail is not', () => {
    const tail = [message('user', 'two'), message('assistant', 'b')];
    const t = toTrajectory(
      session([
        inference(
          [message('user', 'one'), message('assistant', 'a'), message('user', 'two')],
          [message('assistant', 'b')],
        ),
        inference(
          [message('user', 'summary'), ...tail, message('user', 'three')],
          [message('assistant', 'c')],
        ),
        inference(
          [
            message('user', 'summary'),
            ...tail,
            message('user', 'three'),
            message('assistant', 'c'),
            message('user', 'four'),
          ],
          [message('assistant', 'd')],
        ),
      ]),
    );
    expect(shown(t)).toEqual([
      ['one', 'a', 'two', 'b'],
      ['summary', 'three', 'c'],
      ['four', 'd'],
    ]);
  });

  test('two conversations of agents with one name, interleaved, each keep their own history', () => {
    const turn = (who: string, n: number) => {
      const past = Array.from({ length: n }, (_, i) => [
        message('user', `${who} asks ${i}`),
        message('assistant', `to ${who} ${i}`),
      ]).flat();
      return inference(
        [...past, message('user', `${who} asks ${n}`)],
        [message('assistant', `to ${who} ${n}`)],
        { agent: 'w' },
      );
    };
    const t = toTrajectory(session([turn('x', 0), turn('y', 0), turn('x', 1), turn('y', 1), turn('x', 2)]));
    expect(t.steps.map((s) => s.parts.length)).toEqual([2, 2, 2, 2, 2]);
  });

  test('every message of a chat list is kept, equal ones too', () => {
    const t = toTrajectory(
      session([
        said(message('system', 'policy'), { sourcePosition: 0 }),
        said(message('user', 'yes'), { sourcePosition: 1 }),
        inference([], [message('assistant', use('c', 'f'))], { sourcePosition: 2 }),
        tool('c', 'f', {}, 'r', { sourcePosition: 3 }),
        said(message('user', 'yes'), { sourcePosition: 4 }),
      ]),
    );
    expect(shown(t)).toEqual([['policy'], ['yes'], ['call c f'], ['result c r'], ['yes']]);
    expect(t.steps.map((s) => s.position)).toEqual([0, 1, 2, 3, 4]);
  });

  test('a result that the model saw otherwise than the tool gave it is shown at both', () => {
    const t = toTrajectory(
      session([
        inference([message('user', 'q')], [message('assistant', use('c', 'f'))]),
        tool('c', 'f', {}, 'the truth'),
        inference(
          [
            message('user', 'q'),
            message('assistant', use('c', 'f')),
            message('tool', result('c', 'something else')),
          ],
          [message('assistant', 'a')],
        ),
      ]),
    );
    expect(shown(t)[2]).toEqual(['result c something else', 'a']);
    expect(pairs(t)).toEqual([['f', 0, 1, 'the truth']]);
  });

  test("another agent's system prompt is shown once, the first is the trajectory's own", () => {
    const call = (who: string, prompt: string) =>
      inference([message('user', who)], [message('assistant', 'ok')], { agent: who, systemPrompt: prompt });
    const t = toTrajectory(session([call('a', 'P1'), call('b', 'P2'), call('b', 'P2')]));
    expect(t.systemPrompt).toBe('P1');
    expect(t.steps.map((s) => s.parts.filter((p) => p.role === 'system').map((p) => words(p.block)))).toEqual(
      [[], ['P2'], []],
    );
  });

  test("an agent's answer that no model call shows is kept", () => {
    expect(shown(toTrajectory(session([agent('q', 'a'), other()])))).toEqual([['q', 'a'], []]);
  });
});

describe('pairing calls with results', () => {
  test('results in reversed order go to the call of their id', () => {
    const t = toTrajectory(
      session([
        inference([], [message('assistant', use('a', 'f', { n: 1 }), use('b', 'f', { n: 2 }))]),
        inference([message('tool', result('b', 'two'), result('a', 'one'))], []),
      ]),
    );
    expect(pairs(t)).toEqual([
      ['f', 0, 1, 'one'],
      ['f', 0, 1, 'two'],
    ]);
    expect(t.steps.flatMap((s) => s.span.flags)).toEqual([]);
  });

  test('an id used again in each turn, with one result lost, does not shift the later pairs', () => {
    const ask = (n: number) => inference([], [message('assistant', use('call_0', 'f', { n }))]);
    const t = toTrajectory(
      session([
        ask(1),
        tool('call_0', 'f', { n: 1 }, 'r1'),
        ask(2),
        ask(3),
        tool('call_0', 'f', { n: 3 }, 'r3'),
      ]),
    );
    expect(t.exchanges.map((e) => e.result)).toEqual(['r1', null, 'r3']);
    expect(t.steps[2]?.span.flags).toEqual(['duplicate-call-id']);
  });

  test('two calls with one id in one message are paired in order', () => {
    const t = toTrajectory(
      session([
        inference([], [message('assistant', use('x', 'f', { n: 1 }), use('x', 'f', { n: 2 }))]),
        inference([message('tool', result('x', 'one'), result('x', 'two'))], []),
      ]),
    );
    expect(t.exchanges.map((e) => e.result)).toEqual(['one', 'two']);
  });

  test('without ids calls and results are paired by name and order, and the step says so', () => {
    const t = toTrajectory(
      session([
        inference([], [message('assistant', use(null, 'f'), use(null, 'g'))]),
        tool(null, 'g', {}, 'of g'),
        tool(null, 'f', { other: 'spelling' }, 'of f'),
      ]),
    );
    expect(pairs(t)).toEqual([
      ['f', 0, 2, 'of f'],
      ['g', 0, 1, 'of g'],
    ]);
    expect(t.steps[1]?.span.flags).toEqual(['paired-by-position']);
    expect(shown(t)[1]).toEqual(['result - of g']);
  });

  test('a tool span before the call that asked for it (clock drift) is still its result', () => {
    const t = toTrajectory(
      session([tool('c', 'f', {}, 'r'), inference([], [message('assistant', use('c', 'f'))])]),
    );
    expect(pairs(t)).toEqual([['f', 1, 0, 'r']]);
    expect(shown(t)).toEqual([['result c r'], ['call c f']]);
  });

  test('a call never answered has no result; a result nobody asked for makes no exchange', () => {
    const t = toTrajectory(
      session([
        inference([], [message('assistant', use('c', 'f'))]),
        inference([message('tool', result('zzz', 'stray'))], []),
      ]),
    );
    expect(pairs(t)).toEqual([['f', 0, null, null]]);
    expect(shown(t)[1]).toEqual(['result zzz stray']);
  });

  test('a call known only from the next input and its tool span is one exchange', () => {
    const t = toTrajectory(
      session([
        tool('c', 'f', {}, 'r'),
        inference(
          [message('user', 'q'), message('assistant', use('c', 'f')), message('tool', result('c', 'r'))],
          [],
        ),
      ]),
    );
    expect(pairs(t)).toEqual([['f', 0, 0, 'r']]);
    expect(shown(t)).toEqual([['call c f', 'result c r'], ['q']]);
  });

  test("a result without id that comes before any open call is nobody's", () => {
    const t = toTrajectory(
      session([
        inference([message('tool', result(null, 'early'))], []),
        inference([], [message('assistant', use('c', 'f'), use('d', 'g'))]),
        inference([message('tool', result(null, 'first'), result(null, 'second'))], []),
      ]),
    );
    expect(pairs(t)).toEqual([
      ['f', 1, 2, 'first'],
      ['g', 1, 2, 'second'],
    ]);
    expect(t.steps[2]?.span.flags).toEqual(['paired-by-position']);
  });

  test('a stray tool span does not take a call that comes later', () => {
    const t = toTrajectory(
      session([
        tool('x', 'f', {}, 'stray'),
        inference([], [message('assistant', use('y', 'f'))]),
        tool('y', 'f', {}, 'own'),
      ]),
    );
    expect(pairs(t)).toEqual([
      ['f', 0, 0, 'stray'],
      ['f', 1, 2, 'own'],
    ]);
  });

  test('a JSON result in another spelling is the same result', () => {
    const t = toTrajectory(
      session([
        inference([message('user', 'q')], [message('assistant', use('c', 'f'))]),
        tool('c', 'f', {}, '{"b": 1, "a": [2]}'),
        inference(
          [
            message('user', 'q'),
            message('assistant', use('c', 'f')),
            message('tool', result('c', '{"a":[2],"b":1}')),
          ],
          [message('assistant', 'ok')],
        ),
      ]),
    );
    expect(shown(t)[2]).toEqual(['ok']);
  });
});

describe('nothing is lost', () => {
  /** Everything any span says, whether its own or given to it. Calls with one id are one call, however named. */
  const everythingSaid = (t: Trajectory): Block[] =>
    t.steps.flatMap(({ span }) => {
      switch (span.kind) {
        case 'inference':
          return [...span.input, ...span.output].flatMap((m) => m.content);
        case 'message':
          return span.message.content;
        case 'execute_tool':
          return [
            { type: 'tool_use' as const, ...span.toolCall },
            ...(span.toolResult === null ? [] : [{ type: 'tool_result' as const, ...span.toolResult }]),
          ];
        default:
          return [];
      }
    });
  const norm = (text: string): string => plainResult(text);

  test('each text, call and result of a session stands somewhere in its trajectory', () => {
    fc.assert(
      fc.property(anySession(10), (s) => {
        const t = toTrajectory(s);
        const blocks = t.steps.flatMap((step) => step.parts.map((part) => part.block));
        const texts = new Set(
          [t.systemPrompt ?? '', ...blocks.flatMap((b) => ('text' in b ? [b.text] : []))].map((x) =>
            x.trim(),
          ),
        );
        const results = blocks.flatMap((b) => (b.type === 'tool_result' ? [norm(b.content)] : []));
        const calls = new Set(blocks.flatMap((b) => (b.type === 'tool_use' ? [b.name] : [])));
        for (const block of everythingSaid(t)) {
          if ('text' in block && block.text.trim() !== '') expect(texts).toContain(block.text.trim());
          if (block.type === 'tool_use' && block.toolCallId === null) expect(calls).toContain(block.name);
          if (block.type === 'tool_result')
            expect(results.some((shown) => shown.includes(norm(block.content)))).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('of a conversation whose every call repeats it, each turn is shown once', () => {
    fc.assert(
      fc.property(fc.array(fc.lorem({ maxCount: 3 }), { minLength: 1, maxLength: 12 }), (words) => {
        const turns = words.map((_, i) =>
          inference(
            words
              .slice(0, i)
              .flatMap((w, k) => [message('user', `${k} ${w}`), message('assistant', `re ${k} ${w}`)])
              .concat(message('user', `${i} ${words[i]}`)),
            [message('assistant', `re ${i} ${words[i]}`)],
          ),
        );
        const t = toTrajectory(session(turns));
        expect(shown(t)).toEqual(words.map((w, i) => [`${i} ${w}`, `re ${i} ${w}`]));
      }),
    );
  });
});
