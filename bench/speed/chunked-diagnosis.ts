import { plural } from '../../core/base/plural.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { Prepared } from '../../core/diagnosis/stages.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../core/session/session.ts';
import { diagnose, preflight } from '../../core/stages/pipeline.ts';
import { cpuTimed } from '../print/cpu-time.ts';
import { lineChart } from '../print/line-chart.ts';
import { madeSession } from './made-session.ts';
import type { Figure, SpeedSection } from './section.ts';
import { stubModel } from './stub-model.ts';

/** Chunks at once: none beside another, the default locally, the default of the deployed state machine. */
const AT_ONCE = [1, 4, 10] as const;
/** Half of it less the instructions is left for a chunk: some 30 spans of a made session. */
const CONTEXT_TOKENS = 12_000;

export interface ChunkedSizes {
  /** Spans of the sessions, rising. */
  readonly spans: readonly number[];
  readonly latencyMs: number;
}

interface Row {
  readonly chunks: number;
  readonly atOnce: number;
  readonly wallMs: number;
  readonly cpuMs: number;
}

export function chunkedDiagnosisSection({ spans, latencyMs }: ChunkedSizes): SpeedSection {
  return {
    id: 'chunked-diagnosis',
    title: `A chunked diagnosis, by number of chunks, each model call taking ${latencyMs} ms (wall time)`,
    needsCorpus: false,
    async run({ say }) {
      const counter = makeTokenCounter();
      await warmUp(counter);
      const rows: Row[] = [];
      for (const size of spans) {
        const chunks = planned(madeSession(size), counter).plan.chunks.length;
        say(plural(chunks, 'chunk'));
        for (const atOnce of AT_ONCE) {
          // Made anew, so that nothing laid out for the run before is used again.
          const session = madeSession(size);
          const model = stubModel(latencyMs, CONTEXT_TOKENS);
          const deps = { model, counter, clock: { now: () => 0 }, concurrency: atOnce };
          const start = performance.now();
          const { seconds } = await cpuTimed(() => diagnose(session, DEFAULT_OPTIONS, deps));
          rows.push({ chunks, atOnce, wallMs: performance.now() - start, cpuMs: seconds * 1000 });
        }
      }
      return {
        figures: [...Map.groupBy(rows, (row) => row.chunks)].flatMap(([chunks, of]) => figuresOf(chunks, of)),
        pictures: [{ file: 'chunked-diagnosis.svg', svg: curve(rows, latencyMs) }],
      };
    },
  };
}

function planned(session: Session, counter: TokenCounter): Prepared {
  const { limits, spec } = stubModel(0, CONTEXT_TOKENS);
  return preflight(session, DEFAULT_OPTIONS, { counter, limits, modelSpec: spec });
}

async function warmUp(counter: TokenCounter): Promise<void> {
  const model = stubModel(0, CONTEXT_TOKENS);
  await diagnose(madeSession(100), DEFAULT_OPTIONS, { model, counter, clock: { now: () => 0 } });
}

function figuresOf(chunks: number, rows: readonly Row[]): Figure[] {
  const name = plural(chunks, 'chunk');
  return [
    ...rows.map(({ atOnce, wallMs }) => ({
      name: `${name}, ${label(atOnce)}`,
      value: wallMs,
      unit: 'ms',
      better: 'lower' as const,
    })),
    {
      name: `${name}: own work`,
      value: Math.min(...rows.map(({ cpuMs }) => cpuMs)),
      unit: 'ms CPU',
      better: 'lower',
    },
  ];
}

const label = (atOnce: number): string => (atOnce === 1 ? 'one at a time' : `${atOnce} at once`);

function curve(rows: readonly Row[], latencyMs: number): string {
  const xMax = Math.max(...rows.map(({ chunks }) => chunks));
  return lineChart({
    title: `Diagnosis with model calls of ${latencyMs} ms`,
    xLabel: 'chunks',
    xTicks: [0, ...new Set(rows.map(({ chunks }) => chunks).filter((chunks) => chunks >= xMax / 10))],
    xMax,
    yMax: Math.max(...rows.map(({ wallMs }) => wallMs)) / 1000,
    yUnit: 's',
    series: AT_ONCE.map((atOnce) => ({
      label: label(atOnce),
      points: rows
        .filter((row) => row.atOnce === atOnce)
        .map(({ chunks, wallMs }) => [chunks, wallMs / 1000] as const),
      dashed: atOnce === 1,
    })),
  });
}
