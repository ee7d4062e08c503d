import { describe, expect, it } from 'vitest';
import {
  judgeByReference,
  readExpectedActions,
} from '../../../../core/explanation/critical-step/by-reference.ts';
import { toTrajectory } from '../../../../core/trajectory/to-trajectory.ts';
import { message, said, session, tool } from '../../../helpers/build-session.ts';

const run = (...calls: (readonly [string, Record<string, string | number | string[]>, string?])[]) =>
  toTrajectory(
    session([
      ...calls.map(([name, args, result = 'ok'], index) => tool(`c${index}`, name, args, result)),
      said(message('assistant', 'Done.')),
    ]),
  );
const expected = [
  { name: 'get_order', arguments: { id: 'W1' } },
  { name: 'cancel_order', arguments: { id: 'W1', items: ['a', 'b'] } },
];

describe('a file of expected actions', () => {
  const deep = `[{"name":"a","arguments":{"x":${'['.repeat(50_000)}${']'.repeat(50_000)}}}]`;
  it.each([
    ['is no JSON', 'cancel', /expected.json is not JSON; expected a JSON list/],
    ['has other fields', '[{"tool":"x"}]', /Unrecognized key.*Expected a JSON list/s],
    ['is nested to the end of the stack', deep, /nested deeper than 64 levels/],
  ])('that %s is a fault of configuration that says so', (_what, text, message) => {
    expect(() => readExpectedActions(text, 'expected.json')).toThrow(message);
    expect(() => readExpectedActions(text, 'expected.json')).toThrow(
      expect.objectContaining({ name: 'ConfigurationInvalidError' }),
    );
  });
});

describe('the mode with a reference', () => {
  it.each([
    [
      'all as expected',
      run(['get_order', { id: 'W1' }], ['cancel_order', { id: 'W1', items: ['b', 'a'] }]),
      null,
    ],
    [
      'looking around is free',
      run(['find_user', { x: 1 }], ['listOrders', {}], ['cancel_order', { id: 'W1', items: ['a', 'b'] }]),
      null,
    ],
    ['a write with other arguments', run(['cancel_order', { id: 'W2', items: ['a'] }]), 'span-1'],
    ['a write that nobody asked for', run(['get_order', { id: 'W1' }], ['refund', { id: 'W1' }]), 'span-2'],
    [
      'a refused write changed nothing',
      run(['refund', { id: 'W1' }, 'Error: not allowed'], ['cancel_order', { id: 'W1', items: ['a', 'b'] }]),
      null,
    ],
    [
      'the same write twice',
      run(
        ['cancel_order', { id: 'W1', items: ['a', 'b'] }],
        ['cancel_order', { id: 'W1', items: ['a', 'b'] }],
      ),
      'span-2',
    ],
    ['an action left out shows at the end', run(['get_order', { id: 'W1' }]), 'span-2'],
  ])('%s', (_symptom, trajectory, span) => {
    const critical = judgeByReference(trajectory, expected);
    expect(critical?.spanId ?? null).toBe(span);
    if (critical !== null) expect(critical.judgedBy).toBe('reference');
  });

  it('free text may be worded otherwise, an id may not', () => {
    const said = {
      name: 'hand_over',
      arguments: { summary: 'The user wants a refund for two flights booked last week.' },
    };
    const run_ = (summary: string) => judgeByReference(run(['hand_over', { summary }]), [said]);
    expect(run_('User asks to be paid back for both of the flights.')).toBeNull();
    expect(run_('B-17')?.spanId).toBe('span-1');
  });

  it('numbers as text, and lists in another order, are the same argument', () => {
    const trajectory = run(['pay', { amount: '30', to: ['y', 'x'] }]);
    expect(
      judgeByReference(trajectory, [{ name: 'pay', arguments: { amount: 30, to: ['x', 'y'] } }]),
    ).toBeNull();
  });
});
