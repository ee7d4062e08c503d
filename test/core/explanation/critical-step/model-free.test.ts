import { describe, expect, it } from 'vitest';
import { runChecks } from '../../../../core/checks/registry.ts';
import { criticalStepSchema } from '../../../../core/diagnosis/schema.ts';
import { judgeWithoutModel } from '../../../../core/explanation/critical-step/by-rule.ts';
import type { Trajectory } from '../../../../core/trajectory/trajectory.ts';
import { agent, call, chat, fromSpans, groupChat, result, user } from '../../checks/sessions.ts';

const judge = (trajectory: Trajectory) => judgeWithoutModel(trajectory, runChecks(trajectory));

describe('without a model a critical step is named only where the record proves it', () => {
  const failing = (text: string, ...after: readonly ReturnType<typeof user>[]) =>
    chat([user('Pay the bill.'), call('1', 'pay', { a: 1 }), result('1', text), ...after]);

  it('the session ends in an outside error', () => {
    const critical = judge(failing('{"statusCode": 503, "body": "ledger offline"}'));
    expect(critical).toMatchObject({ spanId: 'm2', category: 'system-failure', judgedBy: 'checks' });
    expect(criticalStepSchema.safeParse(critical).success).toBe(true);
  });

  it('whatever the agent says of it', () => {
    const told = failing('{"statusCode": 503, "body": "ledger offline"}', agent('It is paid.'));
    expect(judge(told)).toMatchObject({ spanId: 'm2' });
  });

  it('not where the call itself was wrong, since the record does not show what that cost', () => {
    expect(judge(failing('{"errors": [{"field": "b", "detail": "required"}]}', agent('Sorry.')))).toBeNull();
  });

  it('not where something else succeeded after it', () => {
    const noted = [call('2', 'write_note', { text: 'open' }), result('2', 'noted')];
    expect(judge(failing('Error: 503', ...noted))).toBeNull();
  });

  it('not where the error was got past', () => {
    const paid = [call('2', 'pay', { a: 1 }), result('2', 'paid')];
    expect(judge(failing('Error: timeout', ...paid))).toBeNull();
  });

  it('not on an ordinary chat, also when the agent greets first', () => {
    const turns = [agent('Hello!'), user('I lost my card, please block it.'), agent('It is blocked.')];
    expect(judge(chat(turns))).toBeNull();
  });

  it('not by a hand-over of other words than the goal', () => {
    const handedOver = groupChat('Find the tallest tower of Vienna and its height', [
      ['Planner', 'Each of you says hello.'],
      ['Writer', 'Hello.'],
    ]);
    expect(judge(handedOver)).toBeNull();
  });

  it('nor in an empty session', () => {
    expect(judge(fromSpans([]))).toBeNull();
  });
});
