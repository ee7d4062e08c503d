import { describe, expect, it } from 'vitest';
import { loadAgentRx } from '../../../../bench/datasets/agentrx.ts';
import { loadWhoWhen } from '../../../../bench/datasets/who-when.ts';
import { runChecks } from '../../../../core/checks/registry.ts';
import { criticalStepSchema } from '../../../../core/diagnosis/schema.ts';
import { judgeWithoutModel } from '../../../../core/explanation/critical-step/by-rule.ts';
import { toTrajectory } from '../../../../core/trajectory/to-trajectory.ts';
import type { Trajectory } from '../../../../core/trajectory/trajectory.ts';
import { sharedPath } from '../../../helpers/shared-data.ts';
import { agent, call, chat, fromSpans, groupChat, result, user } from '../../checks/sessions.ts';

const judge = (trajectory: Trajectory, assumeFailed = false) =>
  judgeWithoutModel(trajectory, runChecks(trajectory), { assumeFailed });

describe('the model-free judge', () => {
  const healthy = chat([
    user('weather?'),
    call('1', 'get_weather', {}),
    result('1', '4 degrees'),
    agent('4 degrees.'),
  ]);

  it('abstains on a session in which nothing precise was found', () => {
    expect(judge(healthy)).toBeNull();
  });

  it('names a step at low confidence when the session is known to have failed', () => {
    expect(judge(healthy, true)).toMatchObject({ confidence: 0.5, judgedBy: 'checks', evidence: [] });
  });

  it('has nothing to name in an empty session', () => {
    expect(judge(fromSpans([]), true)).toBeNull();
  });

  it('blames the caller for a wrong call and the tool for its outage', () => {
    const failing = (text: string) =>
      chat([user('x'), call('1', 'pay', { a: 1 }), result('1', text), agent('Sorry.')]);
    expect(judge(failing('Error: missing required argument b'))).toMatchObject({
      spanId: 'm1',
      category: 'invalid-invocation',
    });
    expect(judge(failing('Error: 503 service unavailable'))).toMatchObject({
      spanId: 'm2',
      category: 'system-failure',
    });
  });

  it('does not blame an error that was got past', () => {
    const trajectory = chat([
      user('x'),
      call('1', 'pay', { a: 1 }),
      result('1', 'Error: timeout'),
      call('2', 'pay', { a: 1 }),
      result('2', 'paid'),
      agent('Done.'),
    ]);
    expect(judge(trajectory)).toBeNull();
  });

  it('puts the more precise kind of fault first and keeps the others as alternatives', () => {
    const items = Array.from({ length: 12 }, (_, n) => ({ id: `i${n}` }));
    const trajectory = chat([
      user('how many shirts?'),
      call('1', 'list', {}),
      result('1', JSON.stringify(items)),
      agent('There are 11 shirts.'),
      user('Buy one.'),
      call('2', 'buy', { n: 1 }),
      result('2', 'Error: 503 service unavailable'),
    ]);
    const critical = judge(trajectory);
    expect(critical).toMatchObject({ spanId: 'm3', category: 'misinterpretation', confidence: 0.9 });
    expect(critical?.alternatives.map((one) => one.spanId)).toContain('m6');
    expect(criticalStepSchema.safeParse(critical).success).toBe(true);
  });

  it('takes made-up data in place of failing code as the point of no return', () => {
    const trajectory = groupChat('Count the visitors of the museum in Thun last year', [
      ['Manager', 'Task: count the visitors of the museum in Thun last year.'],
      ['Coder', 'Run:\n```python\nread("visitors")\n```'],
      ['Terminal', 'exitcode: 1 (execution failed)\nCode output: FileNotFoundError: visitors'],
      ['Coder', "Without the file, let's assume 40,000 visitors."],
      ['Checker', 'Agreed: 40,000. TERMINATE'],
    ]);
    expect(judge(trajectory)).toBeNull();
    expect(judge(trajectory, true)).toMatchObject({ position: 3, agent: 'Coder', category: 'invention' });
  });

  it('prefers an act to a thought when it has nothing else to go by', () => {
    const trajectory = groupChat('Find the opening hours of the library', [
      ['Manager', 'Find the opening hours of the library. Plan: ask the scout.'],
      ['Manager (thought)', 'The scout is free.'],
      ['Scout', 'Open from nine to five.'],
    ]);
    expect(judge(trajectory, true)?.position).toBe(2);
  });
});

const root = sharedPath('bench', 'dev');

describe.skipIf(root === null)('on the development half of the benchmarks', () => {
  const runs = (root === null ? [] : [...loadAgentRx(root), ...loadWhoWhen(root)]).map(
    ({ group, session, gold }) => ({
      group,
      trajectory: toTrajectory(session),
      gold: gold?.critical.position ?? null,
    }),
  );
  const failed = (group: string) => runs.filter((run) => run.group === group && run.gold !== null);
  const healthy = runs.filter((run) => run.gold === null);
  const hits = (rows: typeof runs) =>
    rows.filter((run) => judge(run.trajectory, true)?.position === run.gold).length;
  const bestConstant = (rows: typeof runs) =>
    Math.max(...rows.map((run) => rows.filter((other) => other.gold === run.gold).length));

  it('has the runs', () => {
    expect(healthy.length).toBe(36);
    expect(
      ['tau', 'magentic', 'hand-crafted', 'algorithm-generated'].map((group) => failed(group).length),
    ).toEqual([14, 24, 29, 63]);
  });

  it('beats the best constant by ten points and more on Algorithm-Generated, on either half of it', () => {
    const rows = failed('algorithm-generated');
    for (const part of [rows, rows.filter((_, n) => n % 2 === 0), rows.filter((_, n) => n % 2 === 1)]) {
      expect((hits(part) - bestConstant(part)) / part.length).toBeGreaterThanOrEqual(0.1);
    }
  });

  it('is not below the best constant on tau', () => {
    expect(hits(failed('tau'))).toBeGreaterThanOrEqual(bestConstant(failed('tau')));
  });

  it('gives at most a tenth of the healthy runs a critical step at medium confidence', () => {
    const alarms = healthy.filter((run) => (judge(run.trajectory)?.confidence ?? 0) >= 0.75);
    expect(alarms.length / healthy.length).toBeLessThanOrEqual(0.1);
  });

  it('no check that stands as a failure by itself fires on more than a tenth of the healthy runs', () => {
    const fired = new Map<string, number>();
    for (const run of healthy) {
      for (const report of runChecks(run.trajectory)) {
        if (report.findings.some((finding) => finding.weight === 'failure')) {
          fired.set(report.checkId, (fired.get(report.checkId) ?? 0) + 1);
        }
      }
    }
    for (const [checkId, count] of fired)
      expect([checkId, count / healthy.length <= 0.1]).toEqual([checkId, true]);
  });
});
