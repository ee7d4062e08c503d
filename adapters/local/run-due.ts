import { type SweepDeps, sweep } from '../../core/ingest/sweep.ts';
import type { Timer } from '../../core/ports/ingest-ports.ts';
import type { LocalTimerQueue } from './local-timer-queue.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface RunDueDeps extends Omit<SweepDeps, 'maxRunning' | 'workflow'> {
  readonly timers: LocalTimerQueue;
  readonly clock: VirtualClock;
}

/**
 * The sweeper and its queue in this process, on a clock that jumps to whatever is due next, until nothing is (or nothing
 * by `until`). `look` says whether it could look; a session that it could not is left as it is, due another time.
 */
export async function runDue(
  deps: RunDueDeps,
  look: (timer: Timer) => Promise<boolean>,
  until = Number.POSITIVE_INFINITY,
): Promise<void> {
  const failed = new Set<string>();
  for (;;) {
    const timer = deps.timers.next(Math.min(until, deps.clock.now()));
    if (timer !== null) {
      if (!failed.has(timer.sessionId) && !(await look(timer))) failed.add(timer.sessionId);
      continue;
    }
    let next =
      deps.timers.waiting.length > 0 ? Math.min(...deps.timers.waiting.map(({ dueAt }) => dueAt)) : null;
    for await (const { sessionId, dueAt } of deps.index.due(Math.min(until, Number.MAX_SAFE_INTEGER))) {
      if (dueAt !== null && !failed.has(sessionId)) next = Math.min(next ?? dueAt, dueAt);
    }
    if (next === null || next > until) break;
    deps.clock.moveTo(next);
    await sweep({ ...deps, workflow: { running: async () => 0 }, maxRunning: Number.POSITIVE_INFINITY });
  }
  if (Number.isFinite(until)) deps.clock.moveTo(until);
}
