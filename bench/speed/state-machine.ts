import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { FileObjectStore } from '../../adapters/local/file-object-store.ts';
import { plural } from '../../core/base/plural.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../core/session/session.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { startEmbeddedDynamo } from '../../test/helpers/embedded-dynamo.ts';
import type { LocalWorkflow } from '../../test/helpers/local-workflow.ts';
import { cpuTimed } from '../print/cpu-time.ts';
import { lineChart } from '../print/line-chart.ts';
import { fitLine } from './growth.ts';
import { madeSession } from './made-session.ts';
import type { Figure, SpeedSection } from './section.ts';
import { stubModel } from './stub-model.ts';

export interface StateMachineSizes {
  /** Spans of the one session, the same for every window: what a handler reads does not grow with the chunks. */
  readonly spans: number;
  /** Windows of the model, falling: the smaller, the more chunks. */
  readonly contextTokens: readonly number[];
  /** Of each measurement; the least counts. */
  readonly runs: number;
}

interface Row {
  readonly chunks: number;
  readonly states: number;
  readonly largestStateBytes: number;
  readonly machineMs: number;
  readonly inProcessMs: number;
}

const CLOCK = { now: () => Date.UTC(2026, 0, 1) };

/**
 * The synthesised state machine under a local interpreter against the same stages called in process, so the
 * difference is what the steps cost beside their work: the interpreter, events as JSON, and what is carried between
 * steps through files and an embedded DynamoDB. Step Functions' own latency can only be measured in an account.
 */
export function stateMachineSection({ spans, contextTokens, runs }: StateMachineSizes): SpeedSection {
  return {
    id: 'state-machine',
    title: `State machine under a local interpreter against the same stages in process, ${spans} spans (CPU time, least of ${runs})`,
    needsCorpus: false,
    async run({ say }) {
      const folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-machine-'));
      const dynamo = await startEmbeddedDynamo();
      try {
        say('synthesising the stack');
        // Late, because the CDK takes seconds to load and no other section needs it.
        const { definitionOf, synthesise } = await import('../../test/helpers/synthesised.ts');
        const definition = definitionOf(synthesise());
        const local = { dynamo, counter: makeTokenCounter(), clock: CLOCK, definition };
        let count = 0;
        const once = async (window: number): Promise<Row> => {
          const name = `run-${++count}`;
          const session = { ...madeSession(spans), sessionId: name };
          const objects = new FileObjectStore(path.join(folder, name));
          return measureOnce(session, { ...local, objects }, window);
        };
        for (const window of contextTokens) await once(window);
        const rows: Row[] = [];
        for (const window of contextTokens) {
          const tries: Row[] = [];
          while (tries.length < runs) tries.push(await once(window));
          const [first] = tries;
          if (first === undefined) throw new RangeError('a measurement needs at least one run');
          say(plural(first.chunks, 'chunk'));
          rows.push({
            ...first,
            machineMs: Math.min(...tries.map(({ machineMs }) => machineMs)),
            inProcessMs: Math.min(...tries.map(({ inProcessMs }) => inProcessMs)),
          });
        }
        return result(rows);
      } finally {
        await dynamo.close();
        await rm(folder, { recursive: true, force: true });
      }
    },
  };
}

async function measureOnce(session: Session, local: LocalWorkflow, window: number): Promise<Row> {
  const { freeze, runLocally } = await import('../../test/helpers/local-workflow.ts');
  const model = stubModel(0, window);
  const input = await freeze(local.objects, session);
  const machine = await cpuTimed(() => runLocally(local, model, input, session.sessionId));
  const { failedWith, entered, largestState } = machine.result;
  if (failedWith !== null) throw new Error(`the execution failed with ${failedWith}`);
  // Equal and new: nothing laid out for the state machine is used again.
  const again = structuredClone(session);
  const inProcess = await cpuTimed(() =>
    diagnose(again, DEFAULT_OPTIONS, {
      model,
      counter: local.counter,
      clock: local.clock,
    }),
  );
  return {
    chunks: entered.filter((name) => name === 'AnalyzeChunk').length,
    states: entered.length,
    largestStateBytes: largestState,
    machineMs: machine.seconds * 1000,
    inProcessMs: inProcess.seconds * 1000,
  };
}

function result(rows: readonly Row[]): { figures: Figure[]; pictures: { file: string; svg: string }[] } {
  const overhead = (row: Row): number => row.machineMs - row.inProcessMs;
  const line = fitLine(rows.map((row) => [row.states, overhead(row)]));
  const states = rows.map((row) => row.states);
  return {
    figures: [
      ...rows.flatMap(({ chunks, states, largestStateBytes, machineMs, inProcessMs }): Figure[] => [
        {
          name: `${plural(chunks, 'chunk')}: states entered`,
          value: states,
          unit: 'states',
          better: 'lower',
        },
        {
          name: `${plural(chunks, 'chunk')}: largest state`,
          value: largestStateBytes,
          unit: 'bytes',
          better: 'lower',
        },
        {
          name: `${plural(chunks, 'chunk')}: state machine`,
          value: machineMs,
          unit: 'ms CPU',
          better: 'lower',
        },
        {
          name: `${plural(chunks, 'chunk')}: in process`,
          value: inProcessMs,
          unit: 'ms CPU',
          better: 'lower',
        },
      ]),
      { name: 'overhead per further state entered', value: line.slope, unit: 'ms CPU', better: 'lower' },
      { name: 'overhead per execution', value: line.intercept, unit: 'ms CPU', better: 'lower' },
    ],
    pictures: [
      {
        file: 'state-machine.svg',
        svg: lineChart({
          title: 'CPU time of an execution, by states entered',
          xLabel: 'states entered',
          xTicks: [0, ...states.filter((count) => count >= Math.max(...states) / 10)],
          xMax: Math.max(...states),
          yMax: Math.max(...rows.flatMap(({ machineMs, inProcessMs }) => [machineMs, inProcessMs])),
          yUnit: 'ms',
          series: [
            {
              label: 'state machine, locally',
              points: rows.map((row) => [row.states, row.machineMs] as const),
              dashed: false,
            },
            {
              label: 'the same in process',
              points: rows.map((row) => [row.states, row.inProcessMs] as const),
              dashed: true,
            },
          ],
        }),
      },
    ],
  };
}
