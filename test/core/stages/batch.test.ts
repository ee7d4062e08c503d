import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { batchModel } from '../../../adapters/models/batch.ts';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../../core/diagnosis/schema.ts';
import { ModelPendingError } from '../../../core/errors/errors.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../core/session/session.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { inference, message, said, session } from '../../helpers/build-session.ts';
import { scratchFolder } from '../../helpers/cli.ts';
import { EXPLAINED, FOUND, NOTHING, refundSession } from './a-session.ts';

/** A diagnosis over Bedrock's batch files: it stops as waiting, and goes on when the answers lie there. */
const counter = makeTokenCounter();
let dir = '';
beforeEach(() => {
  dir = scratchFolder();
});

const run = (given: Session, contextTokens?: number): Promise<Diagnosis> => {
  const model = batchModel(`batch:${dir}`, dir);
  const limits = contextTokens === undefined ? model.limits : { ...model.limits, contextTokens };
  return diagnose(given, DEFAULT_OPTIONS, {
    model: { ...model, limits, ask: (request) => model.ask(request) },
    counter,
    clock: { now: () => 0 },
  });
};
const waits = async (given: Session, contextTokens?: number): Promise<readonly string[]> => {
  const error = await run(given, contextTokens).catch((reason: unknown) => reason);
  if (!(error instanceof ModelPendingError)) throw error;
  return error.requestHashes;
};
const requests = (): { recordId: string; modelInput: object }[] =>
  readFileSync(path.join(dir, 'requests.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
const answered = (recordId: string, answer: object): string =>
  JSON.stringify({
    recordId,
    modelOutput: {
      output: { message: { role: 'assistant', content: [{ text: JSON.stringify(answer) }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    },
  });
const respond = (...lines: string[]): void =>
  writeFileSync(path.join(dir, 'responses.jsonl'), `${lines.join('\n')}\n`);

describe('batch', () => {
  test('waits, then waits for the second round, then ends with the diagnosis', async () => {
    const [detect, ...others] = await waits(refundSession());
    expect(others).toEqual([]);
    expect(requests().map(({ recordId }) => recordId)).toEqual([detect]);
    // Running again without an answer asks for nothing new.
    expect(await waits(refundSession())).toEqual([detect]);
    expect(requests()).toHaveLength(1);

    respond(answered(detect ?? '', FOUND));
    const [explain] = await waits(refundSession());
    expect(requests()).toHaveLength(2);

    respond(answered(explain ?? '', EXPLAINED), answered(detect ?? '', FOUND));
    const diagnosis = await run(refundSession());
    expect(diagnosis).toMatchObject({ outcome: 'FAILED', criticalStep: { spanId: 'span-4' } });
    expect(diagnosis.usage.inputTokens).toBe(20);
  });

  const long = session([
    said(message('user', 'Please work through the list.')),
    ...Array.from({ length: 12 }, (_, i) =>
      inference([], [message('assistant', Array.from({ length: 400 }, (_, j) => `turn${i}w${j}`).join(' '))]),
    ),
  ]);

  test('all chunks go out in one round, whatever the concurrency; shuffled and missing answers', async () => {
    const open = await waits(long, 14_000);
    expect(open.length).toBeGreaterThan(4);
    expect(
      requests()
        .map(({ recordId }) => recordId)
        .sort(),
    ).toEqual([...open]);

    const lines = open.map((recordId) => answered(recordId, NOTHING)).reverse();
    respond(...lines.slice(1));
    expect(await waits(long, 14_000)).toEqual([open.at(-1)]);
    respond(...lines);
    expect(await run(long, 14_000)).toMatchObject({
      outcome: 'CLEAN',
      coverage: { spansAnalysed: 13, gaps: [] },
    });
  });

  test('an unusable answer asks for its repair in the next round', async () => {
    const [detect = ''] = await waits(refundSession());
    respond(answered(detect, { score: 1 }));
    const [repair = ''] = await waits(refundSession());
    expect(repair).not.toBe(detect);
    respond(answered(detect, { score: 1 }), answered(repair, NOTHING));
    expect(await run(refundSession())).toMatchObject({ outcome: 'CLEAN', usage: { calls: 2 } });
  });
});
