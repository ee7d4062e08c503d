import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { batchModel } from '../../../adapters/models/batch.ts';
import { loadAgentRx } from '../../../bench/datasets/agentrx.ts';
import { stubAnswer } from '../../../bench/deep/stub-answers.ts';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../../core/diagnosis/schema.ts';
import { ModelPendingError } from '../../../core/errors/errors.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { scratchFolder } from '../../helpers/cli.ts';
import { sharedPath } from '../../helpers/shared-data.ts';

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

test.skipIf(folder === null)('the tau half, deep, end to end in four rounds', async () => {
  const runs = loadAgentRx(folder ?? '');
  const dir = scratchFolder();
  const rounds: Record<string, number>[] = [];
  const answered = new Map<string, string>();
  let diagnoses: Diagnosis[] = [];
  while (rounds.length < 10) {
    const model = batchModel(`batch:${dir}`, dir);
    const options = { ...DEFAULT_OPTIONS, depth: 'deep', assumeFailed: true } as const;
    const settled = await Promise.allSettled(
      runs.map(({ session }) => diagnose(session, options, { model, counter, clock: { now: () => 0 } })),
    );
    for (const one of settled) {
      if (one.status === 'rejected' && !(one.reason instanceof ModelPendingError)) throw one.reason;
    }
    diagnoses = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    if (diagnoses.length === runs.length) break;
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
      answered.set(recordId, answerOf(recordId, names[index] ?? ''));
    writeFileSync(path.join(dir, 'responses.jsonl'), [...answered.values()].join('\n'));
  }

  expect(diagnoses).toHaveLength(runs.length);
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

function answerOf(recordId: string, schemaName: string): string {
  return JSON.stringify({
    recordId,
    modelOutput: {
      output: { message: { role: 'assistant', content: [{ text: JSON.stringify(stubAnswer(schemaName)) }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    },
  });
}
