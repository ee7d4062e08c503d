import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../../core/diagnosis/schema.ts';
import type { ModelRequest } from '../../../core/model/port.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { readSessions } from '../../../core/reading/registry.ts';
import { verdict } from '../../../core/report-build/verdict.ts';
import { type Session, type Span, sessionSpans } from '../../../core/session/session.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { inference, message, said, tool, use } from '../../helpers/build-session.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';
import { sharedPath } from '../../helpers/shared-data.ts';
import { EXPLAINED } from './a-session.ts';

const counter = makeTokenCounter();
const clock = { now: () => 0 };
const textOf = (request: ModelRequest): string => request.user.map(({ text }) => text).join('');

const TURNS = 20;
const FAILED = 12;

/** Conversations of a queue worker joined in one session, a trace each; every third has a timeout that a retry puts right. */
function joined(conversations: readonly (readonly Span[])[]): Session {
  return {
    sessionId: 'worker',
    format: 'test',
    traces: conversations.map((spans, i) => ({
      traceId: `trace-${i}`,
      sessionId: 'worker',
      spans: spans.map((span, at) => ({
        ...span,
        traceId: `trace-${i}`,
        spanId: `c${i}-${at}`,
        parentSpanId: null,
      })),
    })),
    goal: null,
    agent: null,
    service: null,
    unread: [],
  };
}

function conversation(i: number): readonly Span[] {
  const id = `order-${i}`;
  const price = 100 + i;
  const stated = i === FAILED ? price * 2 : price;
  const filler = Array.from({ length: 120 }, (_, n) => `line ${n} of order ${i}`).join(', ');
  const call = (callId: string) => inference([], [message('assistant', use(callId, 'get_order', { id }))]);
  const drafts = [
    said(message('user', `Customer ${i}: refund ${id} please.`)),
    ...(i % 3 === 0 ? [call(`a${i}`), tool(`a${i}`, 'get_order', { id }, 'Error: 504 Gateway Timeout')] : []),
    call(`b${i}`),
    tool(`b${i}`, 'get_order', { id }, JSON.stringify({ id, price, filler })),
    inference([], [message('assistant', `Refunded ${stated} dollars for ${id}.`)]),
  ];
  return drafts.map((draft, at) => draft(String(at)));
}

/** Aliases of the steps that a request shows with such a text in them. */
const aliasesWith = (text: string, wanted: RegExp): string[] =>
  text.split(/(?=^@s\d+ )/m).flatMap((step) => {
    const alias = /^@(s\d+) /.exec(step)?.[1];
    return alias !== undefined && wanted.test(step) ? [alias] : [];
  });

/** A reader who finds each timeout, and the wrong refund where it is shown; the judge names that one. */
const reader = (
  wrong: RegExp,
  limits: { contextTokens: number; maxOutputTokens: number; tokenFactor: number },
) =>
  scriptedModel(
    [
      {
        purpose: 'analyze-chunks',
        times: 100,
        reply: (request) => ({
          failures: [
            ...aliasesWith(textOf(request), wrong).map((span) => ({
              span,
              category: 'hallucination-category-hall-misunderstand',
              confidence: 'high',
              why: 'Twice the price.',
            })),
            ...aliasesWith(textOf(request), /Error: 504/).map((span) => ({
              span,
              category: 'execution-error-category-timeout',
              confidence: 'high',
              why: 'A timeout.',
            })),
          ],
        }),
      },
      {
        times: 100,
        reply: (request) => {
          const [span] = aliasesWith(textOf(request), wrong);
          const [step] = EXPLAINED.criticalSteps;
          const [cause] = EXPLAINED.rootCauses;
          return {
            ...EXPLAINED,
            criticalSteps: span === undefined ? [] : [{ ...step, span, evidence: [] }],
            rootCauses: span === undefined ? [] : [{ ...cause, failure: span, location: span }],
            completion: 'PARTIAL_SUCCESS',
          };
        },
      },
    ],
    { limits },
  );

const WHOLE = { contextTokens: 1_000_000, maxOutputTokens: 8000, tokenFactor: 1 };
const SMALL = { contextTokens: 12_000, maxOutputTokens: 4000, tokenFactor: 1 };

function expectOneFailedTurn(diagnosis: Diagnosis, failed: number): void {
  expect(diagnosis.outcome).toBe('FAILED');
  expect(verdict(diagnosis)).toMatchObject({
    decision: 'fail',
    text: expect.stringMatching(/^failed in 1 of 20 turns/),
  });
  expect(diagnosis.turns).toHaveLength(TURNS);
  expect(diagnosis.turns.filter(({ outcome }) => outcome === 'FAILED').map(({ index }) => index)).toEqual([
    failed,
  ]);
  expect(diagnosis.turns[failed]?.criticalStep).toEqual(diagnosis.criticalStep);
  expect(diagnosis.turns[failed]?.spanIds).toContain(diagnosis.criticalStep?.spanId);
  expect(diagnosis.turns.filter(({ criticalStep }) => criticalStep !== null)).toHaveLength(1);
  // The failure that cost the goal leads, whatever came before it.
  expect(diagnosis.failures[0]).toMatchObject({
    span_id: diagnosis.criticalStep?.spanId,
    effect: 'goal-lost',
    recovered: 'no',
  });
}

describe('twenty conversations in one session, one of which failed', () => {
  const own = joined(Array.from({ length: TURNS }, (_, i) => conversation(i)));

  it.each([
    ['in one call', WHOLE, 'direct'],
    ['in chunks', SMALL, 'chunked'],
  ] as const)('%s: the failed turn is named, the others are not FAILED', async (_how, limits, mode) => {
    const model = reader(/Refunded 224 dollars/, limits);
    const diagnosis = await diagnose(own, DEFAULT_OPTIONS, { model, counter, clock });
    expect(diagnosis.provenance.chunkPlan.mode).toBe(mode);
    expectOneFailedTurn(diagnosis, FAILED);
    expect(diagnosis.turns.map(({ goal }) => goal)).toEqual(
      Array.from({ length: TURNS }, (_, i) => `Customer ${i}: refund order-${i} please.`),
    );
    expect(diagnosis.failures.length).toBeGreaterThan(1);
  });

  it('nobody judged the other turns: one with a failure that may stand is UNKNOWN, one without is CLEAN', async () => {
    const model = reader(/Refunded (?:224|105) dollars/, WHOLE);
    const diagnosis = await diagnose(own, DEFAULT_OPTIONS, { model, counter, clock });
    // The judge names one of the two; what the other did to its goal it was not asked.
    const named = diagnosis.turns.findIndex(({ outcome }) => outcome === 'FAILED');
    expect(named).toBe(5);
    expect(diagnosis.turns[FAILED]?.outcome).toBe('UNKNOWN');
    expect(diagnosis.turns[1]?.outcome).toBe('CLEAN');
  });

  const folder = sharedPath('bench', 'dev', 'agentrx-tau', 'tau_retail');
  it.skipIf(folder === null)('of benchmark runs: in one call and in chunks', async () => {
    const read = (name: string): readonly Session[] => {
      const source = `${folder}/${name}`;
      return readSessions({ text: readFileSync(source, 'utf8'), source }).sessions;
    };
    const passed = read('tau_dataset_passed.json').slice(0, TURNS - 1);
    const [bad] = read('tau_dataset_failed.json');
    const runs = [...passed.slice(0, 7), bad!, ...passed.slice(7)].map((run) => sessionSpans(run));
    const last = runs[7]!.findLast((span) => span.kind === 'inference' || span.kind === 'message')!;
    const marked = runs.map((spans, i) =>
      i !== 7
        ? spans
        : spans.map((span) =>
            span === last ? inference([], [message('assistant', 'MARKED as lost here.')])(span.spanId) : span,
          ),
    );
    for (const limits of [WHOLE, { ...SMALL, contextTokens: 40_000 }]) {
      const model = reader(/MARKED as lost here/, limits);
      const diagnosis = await diagnose(joined(marked), DEFAULT_OPTIONS, { model, counter, clock });
      expectOneFailedTurn(diagnosis, 7);
    }
  });
});
