import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { readSessions } from '../core/formats/registry.ts';
import type { Session } from '../core/session/model.ts';
import { toTrajectory } from '../core/session/to-trajectory.ts';
import type { Trajectory } from '../core/session/trajectory.ts';

export const DATA_SETS = ['tau', 'tau-passed', 'magentic', 'hand-crafted', 'algorithm-generated'] as const;
export type DataSet = (typeof DATA_SETS)[number];

/** An annotated run: the trajectory as the product reads it, and apart from it the labels, for measuring only. */
export interface LabelledRun {
  readonly dataSet: DataSet;
  readonly name: string;
  readonly trajectory: Trajectory;
  /** 0-based raw position of the gold step; `null` on healthy runs. */
  readonly goldPosition: number | null;
  readonly goldAgent: string | null;
  readonly healthy: boolean;
}

const agentRxSchema = z.array(
  z.object({
    trajectory_id: z.union([z.string(), z.number()]),
    failures: z.array(
      z.object({
        failure_id: z.union([z.string(), z.number()]),
        step_number: z.number(),
        failed_agent: z.string(),
      }),
    ),
    root_cause: z.object({ failure_id: z.union([z.string(), z.number()]) }),
  }),
);
const tauIdsSchema = z.array(z.object({ task_id: z.union([z.string(), z.number()]) }));
const whoWhenSchema = z.object({ mistake_step: z.coerce.number().int(), mistake_agent: z.string() });

interface Label {
  readonly position: number;
  readonly agent: string;
}

/** Reads a bench folder in the publishers' layouts. Label quirks: its README. Throws when a label is missing. */
export function readLabelledRuns(root: string): readonly LabelledRun[] {
  return [...tauRuns(root), ...magenticRuns(root), ...whoWhenRuns(root)];
}

function tauRuns(root: string): LabelledRun[] {
  const labels = agentRxLabels(path.join(root, 'agentrx-tau/ground_truth/tau_ground_truth.json'));
  const read = (file: string, dataSet: DataSet): LabelledRun[] => {
    const text = readFileSync(path.join(root, 'agentrx-tau/tau_retail', file), 'utf8');
    const ids = tauIdsSchema.parse(JSON.parse(text)).map((run) => String(run.task_id));
    const { sessions } = readSessions({ text, source: file });
    if (sessions.length !== ids.length)
      throw new Error(`${file}: ${ids.length} runs, ${sessions.length} sessions read`);
    return sessions.map((session, index) => {
      const name = ids[index] ?? '';
      return labelled(dataSet, name, session, dataSet === 'tau' ? need(labels, name) : null);
    });
  };
  return [...read('tau_dataset_failed.json', 'tau'), ...read('tau_dataset_passed.json', 'tau-passed')];
}

function magenticRuns(root: string): LabelledRun[] {
  const labels = agentRxLabels(
    path.join(root, 'agentrx-magentic/ground_truth/magentic_one_ground_truth.json'),
  );
  const folder = path.join(root, 'agentrx-magentic/magentic_dataset');
  return jsonFiles(folder).map((file) => {
    const name = path.basename(file, '.json');
    return labelled('magentic', name, onlySession(folder, file), need(labels, name));
  });
}

function whoWhenRuns(root: string): LabelledRun[] {
  const sets = [
    ['Hand-Crafted', 'hand-crafted'],
    ['Algorithm-Generated', 'algorithm-generated'],
  ] as const;
  return sets.flatMap(([directory, dataSet]) => {
    const folder = path.join(root, 'whowhen', directory);
    return jsonFiles(folder).map((file) => {
      const label = whoWhenSchema.parse(JSON.parse(readFileSync(path.join(folder, file), 'utf8')));
      return labelled(dataSet, path.basename(file, '.json'), onlySession(folder, file), {
        position: label.mistake_step,
        agent: label.mistake_agent,
      });
    });
  });
}

function labelled(dataSet: DataSet, name: string, session: Session, label: Label | null): LabelledRun {
  return {
    dataSet,
    name,
    trajectory: toTrajectory(session),
    goldPosition: label?.position ?? null,
    goldAgent: label?.agent ?? null,
    healthy: label === null,
  };
}

function agentRxLabels(file: string): ReadonlyMap<string, Label> {
  const records = agentRxSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  return new Map(
    records.map((record) => {
      const rootId = String(record.root_cause.failure_id);
      const root = record.failures.find((failure) => String(failure.failure_id) === rootId);
      if (root === undefined) throw new Error(`${file}: ${record.trajectory_id} has no failure ${rootId}`);
      // `step_number` counts from 1.
      return [String(record.trajectory_id), { position: root.step_number - 1, agent: root.failed_agent }];
    }),
  );
}

function onlySession(folder: string, file: string): Session {
  const { sessions } = readSessions({ text: readFileSync(path.join(folder, file), 'utf8'), source: file });
  const [session] = sessions;
  if (session === undefined || sessions.length !== 1)
    throw new Error(`${file}: ${sessions.length} sessions read`);
  return session;
}

function need(labels: ReadonlyMap<string, Label>, name: string): Label {
  const label = labels.get(name);
  if (label === undefined) throw new Error(`no label for run ${name}`);
  return label;
}

function jsonFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}
