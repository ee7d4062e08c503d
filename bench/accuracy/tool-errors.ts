import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { stepOutcomes } from '../../core/trajectory/tool-outcome.ts';
import type { LabelledRun } from '../datasets/labelled-run.ts';
import { share } from '../print/share.ts';

/** How the results of calls are read, beside what labellers say of them: no lines where nobody labelled them. */
export function toolErrorLines(runs: readonly LabelledRun[]): string[] {
  const byClass = new Map<string, { seen: number; classed: number; all: number }>();
  const total = { seen: 0, classed: 0, all: 0, lookalikes: 0, taken: 0 };
  for (const run of runs) {
    if (run.toolErrors === undefined) continue;
    const read = stepOutcomes(toTrajectory(run.session)).map(({ step, exchange, outcome }) => ({
      spanId: step.spanId,
      toolCallId: exchange?.toolCallId ?? null,
      said: outcome.state === 'failed' ? (outcome.class ?? 'unclassed') : outcome.state,
    }));
    for (const error of run.toolErrors) {
      const here = read.filter((finding) =>
        error.toolCallId === null ? finding.spanId === error.spanId : finding.toolCallId === error.toolCallId,
      );
      const row = byClass.get(error.class) ?? { seen: 0, classed: 0, all: 0 };
      byClass.set(error.class, row);
      const classed = here.some(({ said }) => said === error.class);
      const seen = classed || here.some(({ said }) => !['done', 'pending', 'unanswered'].includes(said));
      for (const sum of [row, total]) {
        sum.all += 1;
        if (classed) sum.classed += 1;
        if (seen) sum.seen += 1;
      }
    }
    const failing = new Set(
      read
        .filter(({ said }) => !['done', 'pending', 'unanswered', 'empty', 'interrupted'].includes(said))
        .map(({ spanId }) => spanId),
    );
    total.lookalikes += run.lookalikes?.length ?? 0;
    total.taken += run.lookalikes?.filter((spanId) => failing.has(spanId)).length ?? 0;
  }
  if (total.all === 0) return [];
  const line = (name: string, row: { seen: number; classed: number; all: number }): string =>
    `  ${name.padEnd(24)} ${share(row.seen, row.all).padEnd(18)} ${share(row.classed, row.all)}`;
  return [
    'labelled tool errors, without a model: seen, and seen with their class',
    ...[...byClass].sort(([a], [b]) => a.localeCompare(b)).map(([name, row]) => line(name, row)),
    line('all', total),
    `  lookalikes taken for errors ${share(total.taken, total.lookalikes)}`,
  ];
}
