import { type SweepDeps, type SweepReport, sweep } from '../../core/ingest/sweep.ts';

/** Once a minute: hints at the sessions that are due. `count` hears how many, and how many wait. */
export function makeSweepHandler(
  deps: SweepDeps,
  count: (report: SweepReport) => void,
): (event: unknown) => Promise<SweepReport> {
  return async () => {
    const report = await sweep(deps);
    count(report);
    return report;
  };
}
