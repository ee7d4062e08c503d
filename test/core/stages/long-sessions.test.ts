import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import type { ChunkResult } from '../../../core/diagnosis/stages.ts';
import { ContextOverflowError } from '../../../core/errors/errors.ts';
import type { ModelRequest } from '../../../core/model/port.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../core/session/session.ts';
import { analyzeChunk, diagnose, mergeChunks, preflight } from '../../../core/stages/pipeline.ts';
import { inference, message, said, session } from '../../helpers/build-session.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { NOTHING } from './a-session.ts';

const counter = makeTokenCounter();
const clock = { now: () => 0 };
/** Our detection instructions take some 2,000 tokens; half of this window leaves about 4,000 for a chunk. */
const SMALL = { contextTokens: 12_000, maxOutputTokens: 4000, tokenFactor: 1 };
const words = (n: number, word: string): string =>
  Array.from({ length: n }, (_, i) => `${word}${i}`).join(' ');
const sizeOf = (request: ModelRequest): number =>
  request.user.reduce((sum, { text }) => sum + counter.count(text), 0);
const overflow = () => new ContextOverflowError('input is too long');

function chat(turns: number, wordsEach: number): Session {
  return session([
    said(message('user', 'Please work through the list.')),
    ...Array.from({ length: turns }, (_, i) =>
      inference([], [message('assistant', words(wordsEach, `turn${i}w`))]),
    ),
  ]);
}

/** Says nothing is wrong, and overflows above a size, as a real window does. */
const windowed = (limit: number) =>
  scriptedModel([{ reply: (request) => (sizeOf(request) > limit ? overflow() : NOTHING), times: 1000 }], {
    limits: SMALL,
  });

describe('a session longer than the window', () => {
  test('is analysed in chunks, each span seen', async () => {
    const model = windowed(1e9);
    const diagnosis = await diagnose(chat(12, 400), DEFAULT_OPTIONS, { model, counter, clock });
    expect(diagnosis.provenance.chunkPlan.mode).toBe('chunked');
    expect(model.requests.length).toBeGreaterThan(2);
    expect(diagnosis).toMatchObject({
      outcome: 'CLEAN',
      coverage: { spansTotal: 13, spansAnalysed: 13, gaps: [] },
    });
    expect(diagnosis.coverage.tokensAnalysed).toBe(diagnosis.coverage.tokensTotal);
    // Prefix caching: the constant part of all chunks is one text.
    expect(new Set(model.requests.map(({ user }) => user[0]?.text)).size).toBe(1);
    expect(model.requests.every(({ user }) => user[0]?.cache === true)).toBe(true);
  });

  test('of one huge span is analysed in parts', async () => {
    const given = session([said(message('user', words(9000, 'w')))]);
    const model = windowed(1e9);
    const diagnosis = await diagnose(given, DEFAULT_OPTIONS, { model, counter, clock });
    expect(model.requests.length).toBeGreaterThan(2);
    expect(diagnosis).toMatchObject({
      outcome: 'CLEAN',
      coverage: { spansTotal: 1, spansAnalysed: 1 },
    });
  });

  test('of two spans over the limit is analysed', async () => {
    const given = session([
      said(message('user', words(4000, 'a'))),
      inference([], [message('assistant', words(4000, 'b'))]),
    ]);
    const diagnosis = await diagnose(given, DEFAULT_OPTIONS, { model: windowed(1e9), counter, clock });
    expect(diagnosis).toMatchObject({ outcome: 'CLEAN', coverage: { spansAnalysed: 2 } });
  });
});

describe('a chunk that overflows after a passed pre-flight', () => {
  test('is split and looked at in pieces', async () => {
    const model = windowed(4500);
    const diagnosis = await diagnose(chat(12, 400), DEFAULT_OPTIONS, { model, counter, clock });
    expect(diagnosis).toMatchObject({
      outcome: 'CLEAN',
      coverage: { spansTotal: 13, spansAnalysed: 13, gaps: [] },
    });
  });

  test('of a single span goes down to parts of it', async () => {
    const given = session([said(message('assistant', words(1500, 'w')))]);
    const model = windowed(4500);
    const diagnosis = await diagnose(given, DEFAULT_OPTIONS, { model, counter, clock });
    expect(model.requests.length).toBeGreaterThan(2);
    expect(diagnosis.outcome).toBe('CLEAN');
  });

  test('whatever its size: not analysed, never clean', async () => {
    const diagnosis = await diagnose(chat(12, 400), DEFAULT_OPTIONS, { model: windowed(0), counter, clock });
    expect(diagnosis).toMatchObject({
      outcome: 'UNKNOWN',
      outcomeReason: expect.stringMatching(/^context-overflow: /),
      coverage: { spansAnalysed: 0 },
    });
  });
});

test('one hopeless chunk among good ones: partial, with its spans as the gap', async () => {
  const model = scriptedModel(
    [
      { contains: 'turn5w3 ', reply: 'I would rather not.', times: 100 },
      { reply: NOTHING, times: 100 },
    ],
    { limits: SMALL },
  );
  const diagnosis = await diagnose(chat(12, 400), DEFAULT_OPTIONS, { model, counter, clock });
  expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'PARTIAL']);
  expect(diagnosis.outcomeReason).toMatch(/^model-output-invalid: /);
  const { spansAnalysed, spansTotal, gaps } = diagnosis.coverage;
  expect(spansAnalysed).toBeLessThan(spansTotal);
  expect(spansAnalysed).toBeGreaterThan(0);
  expect(gaps[0]?.spanIds).toContain('span-7');
  expect(diagnosis.coverage.tokensAnalysed).toBeLessThan(diagnosis.coverage.tokensTotal);
});

describe('merge of chunk results', () => {
  const deps = { counter, limits: SMALL, modelSpec: 'scripted' };

  test('a span in parts counts only when all its parts were seen', async () => {
    const prepared = preflight(session([said(message('user', words(9000, 'w')))]), DEFAULT_OPTIONS, deps);
    const results = await Promise.all(
      prepared.plan.chunks.map(({ index }) => analyzeChunk(prepared, index, windowed(1e9), counter)),
    );
    expect(results.length).toBeGreaterThan(2);
    expect(mergeChunks(prepared, results).coverage).toMatchObject({ spansAnalysed: 1, gaps: [] });
    const short = mergeChunks(prepared, results.slice(1));
    expect(short.coverage.spansAnalysed).toBe(0);
    expect(short.coverage.gaps).toMatchObject([{ reason: expect.stringMatching(/^result-missing/) }]);
  });

  test('neither order nor repetition of the results matters', async () => {
    const prepared = preflight(chat(12, 400), DEFAULT_OPTIONS, deps);
    const results: ChunkResult[] = [];
    for (const { index } of prepared.plan.chunks) {
      results.push(await analyzeChunk(prepared, index, windowed(1e9), counter));
    }
    const merged = mergeChunks(prepared, results);
    expect(mergeChunks(prepared, results.toReversed())).toEqual(merged);
    expect(mergeChunks(prepared, [...results, ...results])).toEqual(merged);
  });

  test('a missing result is a gap that names its spans', async () => {
    const prepared = preflight(chat(12, 400), DEFAULT_OPTIONS, deps);
    const { coverage } = mergeChunks(prepared, []);
    expect(coverage.spansAnalysed).toBe(0);
    expect(new Set(coverage.gaps.flatMap(({ spanIds }) => spanIds)).size).toBe(13);
  });
});
