import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { batchModel } from '../../../adapters/models/batch.ts';
import { loadAgentRx } from '../../../bench/datasets/agentrx.ts';
import { stubAnswer } from '../../../bench/deep/stub-answers.ts';
import type { JsonObject } from '../../../core/base/json.ts';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../../core/diagnosis/schema.ts';
import { ModelPendingError } from '../../../core/errors/errors.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../core/session/session.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { scratchFolder } from '../../helpers/cli.ts';
import { sharedPath } from '../../helpers/shared-data.ts';
import { refundSession } from './a-session.ts';

/** A deep diagnosis of a whole set over Bedrock's batch files: few rounds, each with all that can go out in it. */
const folder = sharedPath('bench', 'dev', 'agentrx-tau');
const counter = makeTokenCounter();
const record = z.object({
  recordId: z.string(),
  modelInput: z.object({
    outputConfig: z.object({
      textFormat: z.object({ structure: z.object({ jsonSchema: z.object({ name: z.string() }) }) }),
    }),
  }),
});

/** Answers a batch until all sessions are diagnosed: requests of each round by the name of their answer's schema. */
async function runInRounds(sessions: readonly Session[], answer: (schemaName: string) => JsonObject) {
  const dir = scratchFolder();
  const rounds: Record<string, number>[] = [];
  const answered = new Map<string, string>();
  while (rounds.length < 10) {
    const model = batchModel(`batch:${dir}`, dir);
    const options = { ...DEFAULT_OPTIONS, depth: 'deep', assumeFailed: true } as const;
    const settled = await Promise.allSettled(
      sessions.map((session) => diagnose(session, options, { model, counter, clock: { now: () => 0 } })),
    );
    for (const result of settled) {
      if (result.status === 'rejected' && !(result.reason instanceof ModelPendingError)) throw result.reason;
    }
    const diagnoses = settled.flatMap((result): Diagnosis[] =>
      result.status === 'fulfilled' ? [result.value] : [],
    );
    if (diagnoses.length === sessions.length) return { rounds, diagnoses };
    const open = readFileSync(path.join(dir, 'requests.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => record.parse(JSON.parse(line)))
      .filter(({ recordId }) => !answered.has(recordId));
    const names = open.map(({ modelInput }) => modelInput.outputConfig.textFormat.structure.jsonSchema.name);
    rounds.push(
      Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length])),
    );
    for (const [index, { recordId }] of open.entries())
      answered.set(recordId, answerOf(recordId, answer(names[index] ?? '')));
    writeFileSync(path.join(dir, 'responses.jsonl'), [...answered.values()].join('\n'));
  }
  throw new Error(`not done after ${rounds.length} rounds: ${JSON.stringify(rounds)}`);
}

test.skipIf(folder === null)('the tau half, deep, end to end in four rounds', async () => {
  const runs = loadAgentRx(folder ?? '');
  const { rounds, diagnoses } = await runInRounds(
    runs.map(({ session }) => session),
    stubAnswer,
  );
  const count = runs.length;
  // Detection goes out beside the constraints of the agent, which all sessions of the agent share.
  expect(rounds).toEqual([
    { report_failures: count, agent_constraints: 1 },
    { run_constraints: count },
    { rubric_rows: count },
    { explain_failures: count },
  ]);
  for (const { validationLog, provenance } of diagnoses) {
    expect(validationLog.some(({ origin }) => origin === 'global')).toBe(true);
    expect(validationLog.some(({ origin }) => origin === 'dynamic')).toBe(true);
    expect(validationLog.some(({ origin }) => origin === 'semantic')).toBe(true);
    expect(new Set(provenance.calls.map(({ purpose }) => purpose))).toEqual(
      new Set([
        'analyze-chunks',
        'constraints-global',
        'constraints-dynamic',
        'constraints-rubrics',
        'root-cause',
      ]),
    );
  }
});

test('repairs take no round of their own, of the constraints of the agent nor of the run', async () => {
  const whatIsAsked = (name: string, origin: string): JsonObject => {
    const { constraints } = z
      .object({ constraints: z.array(z.record(z.string(), z.json())) })
      .parse(stubAnswer(origin));
    const [first] = constraints;
    return { constraints: [...constraints, { ...first, name, assertion: 'nonsense(' }] };
  };
  const session: Session = {
    ...refundSession(),
    traces: refundSession().traces.map((trace) => ({
      ...trace,
      spans: trace.spans.map((span) =>
        span.kind === 'inference' ? { ...span, systemPrompt: 'Refund what was paid, never more.' } : span,
      ),
    })),
  };
  const { rounds, diagnoses } = await runInRounds([session], (name) => {
    if (name === 'agent_constraints') return whatIsAsked('agent-broken', name);
    return name === 'run_constraints' ? whatIsAsked('run-broken', name) : stubAnswer(name);
  });
  expect(rounds.length).toBeLessThanOrEqual(4);
  const purposes = diagnoses[0]?.provenance.calls.map(({ purpose }) => purpose) ?? [];
  expect(purposes.filter((purpose) => purpose === 'constraints-repair')).toHaveLength(2);
});

function answerOf(recordId: string, answer: JsonObject): string {
  return JSON.stringify({
    recordId,
    modelOutput: {
      output: { message: { role: 'assistant', content: [{ text: JSON.stringify(answer) }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    },
  });
}
