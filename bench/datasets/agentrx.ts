import path from 'node:path';
import * as z from 'zod';
import type { JsonValue } from '../../core/base/json.ts';
import { type ExpectedAction, expectedActionsSchema } from '../../core/diagnosis/expected-action.ts';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { readCategory } from './categories.ts';
import type { Gold, GoldFailure, LabelledRun } from './labelled-run.ts';
import { listFiles, readJson } from './read-json.ts';
import { type AnswerPaths, collectTexts, stripAnswers, TAU_ANSWERS } from './strip-answers.ts';

/** Ids are numbers in tau and strings in Magentic, and one root id is a string among numbers: all become strings. */
const id = z.union([z.string(), z.number()]).transform(String);
const labelSchema = z.object({
  trajectory_id: id,
  failures: z
    .array(
      z.object({
        failure_id: id,
        /** Raw message position plus 1, system prompt and tool messages counted. */
        step_number: z.coerce.number().int().positive(),
        failure_category: z.string(),
        failed_agent: z.string().nullish(),
      }),
    )
    .min(1),
  root_cause: z.object({ failure_id: id }),
});

/** Names of categories and agents stand in honest prompts (the judge is given the ten categories). */
const NAMES: ReadonlySet<string> = new Set(['failure_category', 'failed_agent', 'trajectory_id']);

export interface LoadSettings {
  /** Replaced in the leak test only. */
  readonly answerPaths?: AnswerPaths;
  readonly read?: typeof readSessions;
}

/**
 * The AgentRx data as published: folders with `ground_truth/*_ground_truth.json` beside `tau_retail/` or
 * `magentic_dataset/`, at or below `folder`. `tau_dataset_passed.json` gives the healthy runs.
 */
export function loadAgentRx(folder: string, settings: LoadSettings = {}): LabelledRun[] {
  const files = listFiles(folder);
  const labels = new Map<string, JsonValue>();
  for (const file of files.filter((name) => /ground_truth\.json$/.test(name))) {
    const list = readJson(path.join(folder, file));
    const kind = /tau/.test(path.basename(file)) ? 'tau' : 'magentic';
    for (const entry of Array.isArray(list) ? list : []) {
      const parsed = labelSchema.safeParse(entry);
      if (!parsed.success) throw badLabel(file, parsed.error);
      labels.set(`${kind}:${parsed.data.trajectory_id}`, entry);
    }
  }
  const runs = files.flatMap((file): LabelledRun[] => {
    if (/tau_dataset_(failed|passed)\.json$/.test(file)) return loadTau(folder, file, labels, settings);
    if (/magentic_dataset[/\\][^/\\]+\.json$/.test(file)) return loadMagentic(folder, file, labels, settings);
    return [];
  });
  if (runs.length === 0) {
    throw new ConfigurationInvalidError(
      `${folder}: no AgentRx data here. Expected tau_dataset_failed.json or magentic_dataset/*.json with ` +
        'ground_truth/*_ground_truth.json beside them.',
    );
  }
  return runs;
}

function loadTau(
  folder: string,
  file: string,
  labels: ReadonlyMap<string, JsonValue>,
  settings: LoadSettings,
): LabelledRun[] {
  const healthy = /passed\.json$/.test(file);
  const list = readJson(path.join(folder, file));
  return (Array.isArray(list) ? list : []).flatMap((raw): LabelledRun[] => {
    const task = z.object({ task_id: id }).parse(raw);
    const { record, answers } = stripAnswers(raw, settings.answerPaths ?? TAU_ANSWERS);
    const label = labels.get(`tau:${task.task_id}`);
    // A failed run that nobody labelled says nothing about a predictor, and must not count as healthy.
    if (!healthy && label === undefined) return [];
    const parsed = run(healthy ? null : (label ?? null), record, file, 'tau', answers, settings);
    return [{ ...parsed, expectedActions: readExpectedActions(raw) }];
  });
}

/** The publisher's reference solution; `null` when the run has none that can be read. */
function readExpectedActions(raw: JsonValue): ExpectedAction[] | null {
  const action = z.object({ name: z.string(), kwargs: z.record(z.string(), z.json()) });
  const parsed = z
    .object({ info: z.object({ task: z.object({ actions: z.array(action) }) }) })
    .safeParse(raw);
  if (!parsed.success) return null;
  const actions = parsed.data.info.task.actions.map(({ name, kwargs }) => ({ name, arguments: kwargs }));
  return expectedActionsSchema.parse(actions);
}

function loadMagentic(
  folder: string,
  file: string,
  labels: ReadonlyMap<string, JsonValue>,
  settings: LoadSettings,
): LabelledRun[] {
  const label = labels.get(`magentic:${path.basename(file, '.json')}`);
  if (label === undefined) return [];
  return [run(label, readJson(path.join(folder, file)), file, 'magentic', [], settings)];
}

function run(
  label: JsonValue | null,
  document: JsonValue,
  source: string,
  group: 'tau' | 'magentic',
  answers: readonly string[],
  settings: LoadSettings,
): LabelledRun {
  const [session] = (settings.read ?? readSessions)({ document, source }).sessions;
  if (session === undefined) throw new ConfigurationInvalidError(`${source}: a run without a session`);
  const texts = [...answers];
  if (label !== null) collectTexts(label, texts, NAMES);
  return {
    id: `${group}/${session.sessionId}`,
    group,
    session,
    gold: label === null ? null : readGold(label, source),
    expectedActions: null,
    answers: texts,
  };
}

function readGold(entry: JsonValue, source: string): Gold {
  const label = labelSchema.parse(entry);
  const failures = label.failures.map((failure): GoldFailure & { id: string } => ({
    id: failure.failure_id,
    position: failure.step_number - 1,
    category: readCategory(failure.failure_category, source),
    agent: failure.failed_agent ?? null,
  }));
  const root = failures.find((failure) => failure.id === label.root_cause.failure_id);
  if (root === undefined) {
    throw new ConfigurationInvalidError(
      `${source}: root_cause.failure_id ${label.root_cause.failure_id} is none of its failures.`,
    );
  }
  const plain = ({ position, category, agent }: GoldFailure): GoldFailure => ({ position, category, agent });
  return {
    critical: plain(root),
    failures: failures.map(plain).sort((a, b) => a.position - b.position),
  };
}

function badLabel(file: string, error: z.ZodError): ConfigurationInvalidError {
  return new ConfigurationInvalidError(`${file}: a label of another shape: ${z.prettifyError(error)}`, {
    cause: error,
  });
}
