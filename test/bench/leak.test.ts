import { describe, expect, it } from 'vitest';
import { guardedModel, leaksIn, tellingAnswers } from '../../bench/accuracy/leak-guard.ts';
import { loadAgentRx } from '../../bench/datasets/agentrx.ts';
import type { LabelledRun } from '../../bench/datasets/labelled-run.ts';
import { type AnswerPaths, TAU_ANSWERS, WHO_WHEN_ANSWERS } from '../../bench/datasets/strip-answers.ts';
import { loadWhoWhen } from '../../bench/datasets/who-when.ts';
import { runChecks } from '../../core/checks/registry.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { Model, ModelRequest } from '../../core/model/port.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { CHECKLIST } from '../../core/prompting/critical-checklist.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { folderWith, leastModel, tauLabel, tauRun, whoWhenRecord } from './fixtures.ts';

/*
 * Every label and answer field of the fixtures holds a canary. Nothing that analyses a session may see one.
 * Checks and constraints get the trajectory and prompts are rendered from it, so the session and the trajectory are
 * the only way in. The labelled step must be a number, so its canary is one that no session says.
 */
const CANARY = /canary-zq81-[a-z-]+-must-never-be-seen|8811770/g;

const seen = (runs: readonly LabelledRun[]): string[] => {
  const found = new Set<string>();
  for (const { session } of runs) {
    const trajectory = toTrajectory(session);
    const visible = JSON.stringify([session, trajectory.steps, trajectory.goal, runChecks(trajectory)]);
    for (const [canary] of visible.matchAll(CANARY)) found.add(canary);
  }
  return [...found];
};

const agentrx = folderWith({
  'tau_retail/tau_dataset_failed.json': [tauRun(7)],
  'tau_retail/tau_dataset_passed.json': [tauRun(9)],
  'ground_truth/tau_ground_truth.json': [tauLabel(7)],
});
const whowhen = folderWith({ 'Hand-Crafted/1.json': whoWhenRecord('8811770') });

/** A reader that takes the whole record along: the worst that a careless format could do. */
const greedy: typeof readSessions = (input) => {
  const result = readSessions(input);
  const goal = JSON.stringify('document' in input ? input.document : input.text);
  return { ...result, sessions: result.sessions.map((session) => ({ ...session, goal })) };
};
const without = (paths: AnswerPaths, index: number): AnswerPaths =>
  paths.filter((_, other) => other !== index);

describe.each([
  ['AgentRx', loadAgentRx, agentrx, TAU_ANSWERS],
  ['Who&When', loadWhoWhen, whowhen, WHO_WHEN_ANSWERS],
] as const)('%s', (_name, load, folder, paths) => {
  it('no label or answer reaches a session, a trajectory or a check', () => {
    expect(seen(load(folder))).toEqual([]);
  });
  it('the formats alone keep the answers out, also when nothing was stripped', () => {
    expect(seen(load(folder, { answerPaths: [] }))).toEqual([]);
  });
  it('the strip alone keeps them out, also of a reader that takes everything', () => {
    expect(seen(load(folder, { read: greedy }))).toEqual([]);
  });
  it.each(paths.map((path, index) => [path.join('.'), index] as const))(
    'mutation: without the strip of %s a reader that takes everything leaks it',
    (_path, index) => {
      expect(seen(load(folder, { read: greedy, answerPaths: without(paths, index) }))).toHaveLength(1);
    },
  );
  it('what was stripped is handed to the guard', () => {
    const [run] = load(folder).filter((entry) => entry.gold !== null);
    expect(run!.answers.length).toBeGreaterThanOrEqual(paths.length);
    expect(run!.answers.every((text) => typeof text === 'string')).toBe(true);
  });
});

describe('prompts of every stage', () => {
  const prompts = async (runs: readonly LabelledRun[], depth: 'standard' | 'deep') => {
    const { model, requests } = leastModel();
    for (const { session, gold } of runs) {
      const options = { ...DEFAULT_OPTIONS, depth, assumeFailed: gold !== null };
      await diagnose(session, options, { model, counter: makeTokenCounter(), clock: { now: () => 0 } });
    }
    const found = [...JSON.stringify(requests).matchAll(CANARY)].map(([canary]) => canary);
    return { found: [...new Set(found)], purposes: new Set(requests.map((request) => request.purpose)) };
  };

  it.each(['standard', 'deep'] as const)('no canary in any prompt at depth %s', async (depth) => {
    const { found, purposes } = await prompts([...loadAgentRx(agentrx), ...loadWhoWhen(whowhen)], depth);
    expect(found).toEqual([]);
    expect(purposes.size).toBeGreaterThanOrEqual(2);
  });
  it.each(['standard', 'deep'] as const)(
    'mutation at depth %s: a leaking loader is seen in the prompts',
    async (depth) => {
      const leaking = loadWhoWhen(whowhen, { read: greedy, answerPaths: [] });
      expect((await prompts(leaking, depth)).found.length).toBeGreaterThan(0);
    },
  );
});

describe('the guard at run time', () => {
  const request = (text: string): ModelRequest => ({
    purpose: 'analyze-chunks',
    promptVersion: 'test',
    user: [{ text }],
    answer: { name: 'x', description: 'x', schema: {} },
    maxOutputTokens: 1,
  });
  const asked: ModelRequest[] = [];
  const inner: Model = {
    spec: 'test',
    limits: { contextTokens: 1, maxOutputTokens: 1, tokenFactor: 1 },
    ask(one) {
      asked.push(one);
      return Promise.reject(new Error('unscripted'));
    },
  };
  const answer = 'The expert forgot to check the second river.';

  it('stops a prompt that holds an answer before the model sees it', () => {
    expect(() => guardedModel(inner, [answer]).ask(request(`… ${answer} …`))).toThrow(
      /leak guard.*analyze-chunks/s,
    );
    expect(asked).toEqual([]);
  });
  it('lets an honest prompt through', async () => {
    await expect(guardedModel(inner, [answer]).ask(request('three rivers'))).rejects.toThrow('unscripted');
    expect(asked).toHaveLength(1);
  });
  it('finds it in a system text too', () => {
    expect(leaksIn({ ...request('x'), system: answer }, [answer])).toEqual([answer]);
  });
  it('takes no category name for a leak: every judge prompt lists them all', () => {
    const names = CHECKLIST.map(({ name }) => name);
    expect(names.some((name) => name.length > 24)).toBe(true);
    expect(tellingAnswers([...names, answer], {})).toEqual([answer]);
  });
  it('ignores short answers and what the session says itself', () => {
    const session = { text: 'a "quoted" answer that the agent found' };
    expect(tellingAnswers(['4', 'a "quoted" answer that the agent found', answer], session)).toEqual([
      answer,
    ]);
  });
});
