import { describe, expect, it } from 'vitest';
import { loadAgentRx } from '../../bench/datasets/agentrx.ts';
import { loadLabels } from '../../bench/datasets/labels.ts';
import { HEALTHY } from '../../bench/healthy/conversations.ts';
import { healthySessions } from '../../bench/healthy/sessions.ts';
import { WRITERS } from '../../bench/healthy/writers.ts';
import type { Session } from '../../core/session/session.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { sharedPath } from '../helpers/shared-data.ts';
import { diagnoseWithoutModel } from '../helpers/without-model.ts';

/** From this confidence on a failure counts as an alarm. */
const ALARM = 0.75;
const MOST_ALARMED = 0.02;

async function alarmed(sessions: readonly (readonly [string, Session])[]): Promise<string[]> {
  const names: string[] = [];
  for (const [name, session] of sessions) {
    const { failures, criticalStep } = await diagnoseWithoutModel(session);
    const loud = failures.some(({ confidence }) => confidence.some((value) => value >= ALARM));
    if (loud || criticalStep !== null) names.push(name);
  }
  return names;
}

describe('healthy sessions', () => {
  const own = healthySessions();

  it('of our own are read whole, in every form', () => {
    expect(own).toHaveLength(HEALTHY.length * Object.keys(WRITERS).length);
    expect(own.length).toBeGreaterThanOrEqual(60);
    for (const { kind, writer, session } of own) {
      const calls = HEALTHY.find((one) => one.kind === kind)?.turns.filter((turn) => 'calls' in turn);
      expect([
        writer,
        kind,
        toTrajectory(session).exchanges.map(({ name, result }) => [name, result]),
      ]).toEqual([writer, kind, calls?.map(({ calls: name, result }) => [name, result])]);
    }
  });

  it('of our own raise no alarm, and no critical step', async () =>
    expect(await alarmed(own.map(({ kind, writer, session }) => [`${writer}: ${kind}`, session]))).toEqual(
      [],
    ));

  const dev = sharedPath('bench', 'dev');
  const labelled = sharedPath('dev-sessions');
  it.skipIf(dev === null || labelled === null)(
    'of the shared data raise an alarm on 2 % at most',
    async () => {
      const runs = [...loadAgentRx(dev ?? ''), ...loadLabels(labelled ?? '')].filter(
        ({ gold }) => gold === null,
      );
      expect(runs.length).toBeGreaterThan(40);
      const loud = await alarmed(runs.map(({ id, session }) => [id, session]));
      expect(loud.length / runs.length, loud.join(', ')).toBeLessThanOrEqual(MOST_ALARMED);
    },
  );
});
