import { chunkSettings } from '../../core/chunking/chunk-settings.ts';
import { planChunks } from '../../core/chunking/plan-chunks.ts';
import { toTrajectory } from '../../core/session/to-trajectory.ts';
import { makeTokenCounter } from '../../core/tokens/make-token-counter.ts';
import { madeSession } from './made-session.ts';

/** Plans one made session and prints the figures as JSON. A process of its own, so that its peak memory is its own. */
const session = madeSession(Number(process.argv[2]));
const limits = { contextTokens: 200_000, maxOutputTokens: 8192, tokenFactor: 1 };
const start = performance.now();
const trajectory = toTrajectory(session);
const laidOut = performance.now();
const plan = planChunks(trajectory, makeTokenCounter(), chunkSettings(limits, 4000));
const end = performance.now();
console.log(
  JSON.stringify({
    tokens: plan.totalTokens,
    chunks: plan.chunks.length,
    trajectoryMs: laidOut - start,
    planMs: end - laidOut,
    // Kilobytes, on Linux and macOS alike as Node reports them.
    peakMb: process.resourceUsage().maxRSS / 1024,
  }),
);
