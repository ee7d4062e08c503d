import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { recordModel } from '../../adapters/models/replay.ts';
import { openJournal } from '../../bench/accuracy/journal.ts';
import { costPicture, tolerancePicture } from '../../bench/accuracy/pictures.ts';
import type { PredictedStep, Prediction, Predictor } from '../../bench/accuracy/predictor.ts';
import { type AccuracyResult, measure, resultKey } from '../../bench/accuracy/run.ts';
import { accuracyTable } from '../../bench/accuracy/table.ts';
import { benchAccuracy } from '../../bench/accuracy.ts';
import { loadAgentRx } from '../../bench/datasets/agentrx.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import { ModelPendingError } from '../../core/errors/errors.ts';
import { NO_USAGE } from '../../core/model/port.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { folderWith, leastModel, tauLabel, tauRun } from './fixtures.ts';

const data = folderWith({
  'tau_retail/tau_dataset_failed.json': [tauRun(7), tauRun(8)],
  'tau_retail/tau_dataset_passed.json': [tauRun(9)],
  'ground_truth/tau_ground_truth.json': [tauLabel(7), tauLabel(8)],
});
const runs = loadAgentRx(data);
const settings = { repeats: 1, concurrency: 4 };

const says = (critical: PredictedStep | null): Prediction => ({
  critical,
  alternatives: [],
  outcome: 'UNKNOWN',
  usage: { ...NO_USAGE, inputTokens: 10, costUsd: 0.5, calls: 1 },
  usageByStage: { judge: { ...NO_USAGE, inputTokens: 10, costUsd: 0.5, calls: 1 } },
});
const at = (position: number): PredictedStep => ({
  position,
  category: 'invention',
  agent: null,
  confidence: 0.9,
});
/** A predictor that says the scripted thing for each session and throws when it has no more to say. */
const scripted = (script: Readonly<Record<string, Prediction[]>>): (() => Predictor) => {
  const left = new Map(Object.entries(script).map(([id, list]) => [id, [...list]]));
  return () => ({
    predict: (session) => {
      const next = left.get(session.sessionId)?.shift();
      return next === undefined
        ? Promise.reject(new Error(`unscripted prediction for ${session.sessionId}`))
        : Promise.resolve(next);
    },
  });
};
const failed = (task: number) => `tau_dataset_failed#task-${task}-trial-1`;
const passed = 'tau_dataset_passed#task-9-trial-1';
const done = (result: AccuracyResult) => {
  if (result.state !== 'done') throw new Error('still waiting');
  return result.groups;
};

describe('measure', () => {
  it('scores failed runs, false alarms, tokens and money in one go', async () => {
    const [tau] = done(
      await measure(
        runs,
        scripted({ [failed(7)]: [says(at(4))], [failed(8)]: [says(null)], [passed]: [says(at(2))] }),
        settings,
      ),
    );
    expect(tau!.metrics?.within[0]?.rate.hits).toBe(1);
    expect(tau!.metrics?.runs).toBe(2);
    expect([tau!.falseAlarms?.hits, tau!.falseAlarms?.n]).toEqual([1, 1]);
    expect(tau!.usage).toMatchObject({ inputTokens: 30, costUsd: 1.5, calls: 3 });
    expect(tau!.usageByStage.judge?.calls).toBe(3);
  });
  it('a step without an agent is the assistant’s or the user’s, as the labels name them', async () => {
    const [tau] = done(
      await measure(
        runs,
        scripted({ [failed(7)]: [says(at(4))], [failed(8)]: [says(at(1))], [passed]: [says(null)] }),
        settings,
      ),
    );
    expect([tau!.metrics?.agent.hits, tau!.metrics?.agent.n]).toEqual([1, 2]);
  });
  it('a predictor is told which runs failed and never sees a label', async () => {
    const seen: string[] = [];
    await measure(
      runs,
      () => ({
        predict(session, told) {
          seen.push(`${session.sessionId} ${JSON.stringify(told)} ${Object.keys(session).sort().join()}`);
          return Promise.resolve(says(null));
        },
      }),
      settings,
    );
    expect(seen.sort().map((line) => line.split(' ')[1])).toEqual([
      '{"failed":true,"repeat":0}',
      '{"failed":true,"repeat":0}',
      '{"failed":false,"repeat":0}',
    ]);
  });
  it('one waiting run does not stop the others, and says for what it waits', async () => {
    const asked: string[] = [];
    const result = await measure(
      runs,
      () => ({
        predict(session) {
          asked.push(session.sessionId);
          return Promise.reject(new ModelPendingError('wait', [`hash of ${session.sessionId}`]));
        },
      }),
      { repeats: 1, concurrency: 1 },
    );
    expect(asked).toHaveLength(3);
    expect(result).toMatchObject({ state: 'waiting', waitingRuns: 3 });
    expect(result.state === 'waiting' && result.requestHashes).toHaveLength(3);
  });
  it('what an interrupted run finished is not asked for again', async () => {
    const finished = new Map(runs.map((run) => [resultKey(run.id, 0), says(at(4))]));
    const result = await measure(runs, scripted({}), { ...settings, done: finished });
    expect(done(result)[0]!.metrics?.answered).toBe(2);
  });
  it('a defect of ours ends the benchmark instead of counting as a wrong answer', async () => {
    await expect(measure(runs, scripted({}), settings)).rejects.toThrow('unscripted');
  });
  it('repeats are asked for each by each and give the agreement', async () => {
    const [tau] = done(
      await measure(
        runs,
        scripted({
          [failed(7)]: [says(at(4)), says(at(4))],
          [failed(8)]: [says(at(4)), says(at(2))],
          [passed]: [says(null), says(null)],
        }),
        { ...settings, repeats: 2 },
      ),
    );
    expect(tau!.agreement).toEqual({ repeats: 2, step: 0.5, category: 1 });
  });
});

describe('what is printed', () => {
  const groups = async () =>
    done(
      await measure(
        runs,
        scripted({ [failed(7)]: [says(at(4))], [failed(8)]: [says(at(2))], [passed]: [says(null)] }),
        settings,
      ),
    );
  it('the table has every metric, baseline and published figure', async () => {
    const table = accuracyTable(await groups());
    for (const piece of [
      '== tau: 2 failed, 1 healthy runs',
      'exact step',
      '50.0 % [9.5, 90.5] 1/2',
      'uniform random',
      'first agent step',
      'last agent step',
      'best constant (step 4)',
      'category: terminal',
      'AgentRx best variant (GPT-5): 54.0 % / 40.2 %',
      'precision',
      'false alarms on healthy runs (confidence ≥ 0.75): 0.0 % [0.0, 79.3] 0/1',
      'judge      3',
      '0.5000',
    ]) {
      expect(table).toContain(piece);
    }
  });
  it('the pictures are well-formed and escape what they show', async () => {
    const [tau] = await groups();
    expect(tolerancePicture(tau!)).toMatch(/^<svg .*<\/svg>\n$/s);
    const cost = costPicture('a & b', [{ label: '<model>', costUsd: 0.1, accuracy: 0.5 }]);
    expect(cost).toContain('a &amp; b');
    expect(cost).toContain('&lt;model&gt;');
    expect(costPicture('x', [{ label: 'x', costUsd: null, accuracy: 1 }])).toBeNull();
  });
});

describe('the journal', () => {
  it('goes on from whole lines of the same settings, and from nothing of others', () => {
    const file = path.join(folderWith({}), 'journal.jsonl');
    openJournal(file, 'a', false).append('run#0', says(at(4)));
    writeFileSync(file, `${readFileSync(file, 'utf8')}{"key":"run#1","predic`);
    expect([...openJournal(file, 'a', true).done.keys()]).toEqual(['run#0']);
    expect(openJournal(file, 'a', true).done.get('run#0')).toEqual(says(at(4)));
    expect(openJournal(file, 'b', true).done.size).toBe(0);
    expect(openJournal(file, 'a', true).done.size).toBe(0);
  });
});

/** Answers every request that has no answer yet, as a batch job would. */
function answerAll(folder: string, text: string): void {
  const file = path.join(folder, 'responses.jsonl');
  const lines = (name: string): { recordId: string }[] =>
    existsSync(name)
      ? readFileSync(name, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
  const answered = new Set(lines(file).map((line) => line.recordId));
  for (const { recordId } of lines(path.join(folder, 'requests.jsonl'))) {
    if (answered.has(recordId)) continue;
    const modelOutput = {
      output: { message: { role: 'assistant', content: [{ text }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 100, outputTokens: 5 },
    };
    appendFileSync(file, `${JSON.stringify({ recordId, modelOutput })}\n`);
  }
}

describe('rootspan bench accuracy', () => {
  const run = async (...args: string[]) => {
    const printed: string[] = [];
    const said: string[] = [];
    const code = await benchAccuracy(args, {
      env: {},
      out: (text) => void printed.push(text),
      err: (text) => void said.push(text),
      errIsTerminal: false,
    });
    return { code, out: printed.join(''), err: said.join('') };
  };
  const common = ['--dataset', 'agentrx', '--path', data];

  it('without a model it prints the table and writes JSON and picture; twice the same', async () => {
    const out = folderWith({});
    const first = await run(...common, '--out', out);
    const second = await run(...common, '--out', out);
    expect(first.code).toBe(0);
    expect(first.out).toContain('exact step');
    expect(second.out).toBe(first.out);
    const files = readdirSync(out);
    expect(files).toContain('accuracy-agentrx-none-standard.json');
    expect(files).toContain('accuracy-agentrx-none-standard-tau-tolerance.svg');
    expect(files).toContain('accuracy-agentrx-tau-cost.svg');
    const result = JSON.parse(readFileSync(path.join(out, 'accuracy-agentrx-none-standard.json'), 'utf8'));
    expect(result).toMatchObject({ configuration: 'none, standard', settings: { votes: 1 } });
    expect(result.settingsHash).toMatch(/^[0-9a-f]{64}$/);
    expect(result.groups[0].runs).toHaveLength(3);
  });
  it('with batch: it writes the requests of all runs in one round and says that it waits', async () => {
    const out = folderWith({});
    const batch = path.join(out, 'exchange');
    const { code, err } = await run(...common, '--out', out, '--model', `batch:${batch}`);
    expect(code).toBe(5);
    expect(err).toMatch(/waiting: 3 of 3 runs/);
    const requests = readFileSync(path.join(batch, 'requests.jsonl'), 'utf8').trim().split('\n');
    const ids = requests.map((line) => JSON.parse(line).recordId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(3);
  });
  it('two rounds of batch answers end with the table', async () => {
    const out = folderWith({});
    const batch = path.join(out, 'exchange');
    const args = [...common, '--out', out, '--model', `batch:${batch}`, '--resume'];
    expect((await run(...args)).code).toBe(5);
    answerAll(batch, '{"failures": []}');
    expect((await run(...args)).code).toBe(5);
    answerAll(
      batch,
      JSON.stringify({
        analysis: 'x',
        completion: 'COMPLETE_FAILURE',
        rootCauses: [],
        criticalSteps: [
          {
            span: 'm4',
            category: 'invention',
            confidence: 'high',
            reason: 'no call returned it',
            evidence: [],
          },
        ],
      }),
    );
    const { code, out: printed } = await run(...args);
    expect(code).toBe(0);
    expect(printed).toMatch(/exact step +100\.0 % \[34\.2, 100\.0\] 2\/2/);
    expect(printed).toMatch(/false alarms .* 0\/1/);
  });
  it('with replay: it prints the whole table from recordings, twice the same', async () => {
    const out = folderWith({});
    const tape = path.join(out, 'tape');
    for (const { session, gold } of runs) {
      await diagnose(
        session,
        { ...DEFAULT_OPTIONS, assumeFailed: gold !== null },
        {
          model: recordModel(leastModel().model, tape),
          counter: makeTokenCounter(),
          clock: { now: () => 0 },
        },
      );
    }
    const first = await run(...common, '--out', out, '--model', `replay:${tape}`);
    const second = await run(...common, '--out', out, '--model', `replay:${tape}`);
    expect(first.err).toBe('');
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/analyze-chunks +3 +100 /);
    expect(second).toEqual(first);
  });
  it('with a reference the first unexpected write is named, and the table says what game this is', async () => {
    const call = {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'w', type: 'function', function: { name: 'return_item', arguments: '{"item":"sofa"}' } },
      ],
    };
    const wrong = tauRun(7);
    const folder = folderWith({
      'tau_dataset_failed.json': [
        {
          ...wrong,
          traj: [...(wrong.traj as object[]), call, { role: 'tool', tool_call_id: 'w', content: 'ok' }],
        },
      ],
      'ground_truth/tau_ground_truth.json': [
        {
          ...tauLabel(7),
          failures: [{ failure_id: 2, step_number: 6, failure_category: 'Invention', failed_agent: null }],
        },
      ],
    });
    const args = ['--dataset', 'agentrx', '--path', folder, '--out', folderWith({})];
    const { out } = await run(...args, '--with-reference');
    expect(out).toMatch(/WITH REFERENCE/);
    expect(out).toMatch(/exact step +100\.0 %/);
    expect((await run(...args)).out).not.toMatch(/REFERENCE/);
  });
  it('constraints of a file are asked; one that cannot be used is refused, not left out', async () => {
    const folder = folderWith({
      'good.yaml':
        'version: 1\nconstraints:\n  - name: look-first\n    hint: Every call has a result.\n    targets: [plan-adherence]\n    kind: protocol\n    severity: low\n    each: call\n    guard: "true"\n    assertion: "call.hasResult"\n',
      'bad.yaml': 'version: 1\nconstraints:\n  - name: broken\n',
    });
    const bad = await run(...common, '--out', folderWith({}), '--constraints', path.join(folder, 'bad.yaml'));
    expect(bad.code).toBe(2);
    expect(bad.err).toMatch(/broken/);
    const good = await run(
      ...common,
      '--out',
      folderWith({}),
      '--constraints',
      path.join(folder, 'good.yaml'),
    );
    expect(good.err).toBe('');
    expect(good.code).toBe(0);
  });
  it('a folder of own sessions with a label file', async () => {
    const folder = folderWith({
      'one.json': {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'bye' },
        ],
      },
      'labels.json': [{ session: 'one.json', criticalSpanId: 'm1', category: 'plan-adherence' }],
    });
    const { code, out } = await run('--dataset', 'labels', '--path', folder, '--out', folderWith({}));
    expect(code).toBe(0);
    expect(out).toContain('== labels: 1 failed, 0 healthy runs');
  });
  it('--docs writes its own section of a page and leaves the rest alone', async () => {
    const out = folderWith({ 'page.md': '# Benchmarks\n\nHand-written.\n' });
    const page = path.join(out, 'page.md');
    const once = [...common, '--out', out, '--docs', page];
    await run(...once);
    writeFileSync(page, `${readFileSync(page, 'utf8')}\nAfter it.\n`);
    await run(...once);
    await run(...once, '--depth', 'checks');
    const text = readFileSync(page, 'utf8');
    expect(text).toMatch(/^# Benchmarks\n\nHand-written\.\n/);
    expect(text).toContain('After it.');
    expect(text.match(/### Accuracy on agentrx/g)).toHaveLength(2);
    expect(text.match(/^exact step/gm)).toHaveLength(2);
  });
  it.each([
    [['--dataset', 'nothing', '--path', '.'], /dataset/],
    [['--path', '.'], /dataset/],
    [['--dataset', 'agentrx', '--path', 'no/such/folder'], /is not a folder/],
    [['--surprise'], /surprise/],
  ])('%j is refused with exit code 2', async (args, message) => {
    const { code, err } = await run(...args);
    expect(code).toBe(2);
    expect(err).toMatch(message);
  });
});
