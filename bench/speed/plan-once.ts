import { readFileSync } from 'node:fs';
import { chunkSettings } from '../../core/planning/chunk-settings.ts';
import { planChunks } from '../../core/planning/plan-chunks.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { cpuTimed } from '../print/cpu-time.ts';
import { madeSession } from './made-session.ts';

/** Plans one made session and prints the figures as JSON. A process of its own, so that its peak memory is its own. */

const LIMITS = { contextTokens: 200_000, maxOutputTokens: 8192, tokenFactor: 1 };
/** Enough for the compiler to have seen the code; else small sessions would pay for it and growth look flat. */
const WARM_UP_SPANS = 1000;

const settings = chunkSettings(LIMITS, 4000);
planChunks(toTrajectory(madeSession(WARM_UP_SPANS)), makeTokenCounter(), settings);

const session = madeSession(Number(process.argv[2]));
const counter = makeTokenCounter();
const trajectory = await cpuTimed(() => toTrajectory(session));
const plan = await cpuTimed(() => planChunks(trajectory.result, counter, settings));
console.log(
  JSON.stringify({
    tokens: plan.result.totalTokens,
    chunks: plan.result.chunks.length,
    trajectoryMs: trajectory.seconds * 1000,
    planMs: plan.seconds * 1000,
    peakMb: peakKilobytes() / 1024,
  }),
);

/**
 * On Linux `maxRSS` of a child begins with what its parent held at the fork, so a large parent would be measured;
 * the kernel's mark of the program's own memory begins at exec.
 */
function peakKilobytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS;
  const mark = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  if (mark === null) throw new Error('no VmHWM in /proc/self/status: cannot tell the peak memory');
  return Number(mark[1]);
}
