import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DynamoDiagnosisStore } from '../../adapters/aws/dynamo-diagnosis-store.ts';
import { DynamoFailureLog } from '../../adapters/aws/dynamo-failure-log.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { FileObjectStore } from '../../adapters/local/file-object-store.ts';
import { diagnosisContent } from '../../core/diagnosis/content.ts';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { ErrorName } from '../../core/errors/error-names.ts';
import { ModelAccessError, ModelThrottledError, ModelUnavailableError } from '../../core/errors/errors.ts';
import type { Model, ModelLimits, ModelRequest } from '../../core/model/port.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../core/session/session.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { EXPLAINED, FOUND, NOTHING, refundSession } from '../core/stages/a-session.ts';
import { RUBRIC } from '../helpers/a-rubric.ts';
import { inference, message, said, session, tool, use } from '../helpers/build-session.ts';
import { startEmbeddedDynamo } from '../helpers/embedded-dynamo.ts';
import { freeze, type LocalWorkflow, runLocally } from '../helpers/local-workflow.ts';
import { type ScriptedModel, scriptedModel } from '../helpers/scripted-model.ts';
import { definitionOf, synthesise } from '../helpers/synthesised.ts';

/** The synthesised state machine and the in-process pipeline are one thing: same input, same diagnosis. */

let local: LocalWorkflow;
let folder: string;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-parity-'));
  local = {
    objects: new FileObjectStore(folder),
    dynamo: await startEmbeddedDynamo(),
    counter: makeTokenCounter(),
    clock: { now: () => Date.UTC(2026, 2, 1) },
    definition: definitionOf(synthesise()),
  };
  // Loading the CDK takes seconds on a busy machine.
}, 120_000);
afterAll(async () => {
  await local.dynamo.close();
  await rm(folder, { recursive: true, force: true });
});

/** Instructions take some 2,000 tokens; half of this window leaves about 4,000 for a chunk. */
const SMALL: ModelLimits = { contextTokens: 12_000, maxOutputTokens: 4000, tokenFactor: 1 };
const words = (n: number, word: string): string =>
  Array.from({ length: n }, (_, i) => `${word}${i}`).join(' ');

function longSession(): Session {
  return session([
    said(message('user', 'Refund booking B-17 to my card please.')),
    ...Array.from({ length: 12 }, (_, i) => inference([], [message('assistant', words(400, `turn${i}w`))])),
    tool('c1', 'get_booking', { id: 'B-17' }, '{"price": 120}'),
    inference([], [message('assistant', 'I have refunded 210 dollars to your card.')]),
  ]);
}

async function both(given: Session, makeModel: () => Model, options: Partial<DiagnosisOptions> = {}) {
  const one: Session = { ...given, sessionId: `${given.sessionId}-parity-${++count}` };
  const inProcess = await diagnose(
    one,
    { ...DEFAULT_OPTIONS, ...options },
    {
      model: makeModel(),
      counter: local.counter,
      clock: local.clock,
    },
  );
  const input = { ...(await freeze(local.objects, one)), options };
  // A cache of its own for each run: parity must not come from remembered answers.
  const objects = new FileObjectStore(path.join(folder, String(count)));
  await freeze(objects, one);
  const run = await runLocally({ ...local, objects }, makeModel(), input, `execution-${count}`);
  const store = new DynamoDiagnosisStore(
    new DynamoTable(local.dynamo.client, local.dynamo.tableName, local.clock),
    objects,
    local.clock,
    {
      retentionDays: 90,
    },
  );
  const stored: Diagnosis | null = await store.latest(one.sessionId);
  return { inProcess, run, stored, sessionId: one.sessionId, objects, input };
}

function expectSame(stored: Diagnosis | null, inProcess: Diagnosis): void {
  expect(stored).not.toBeNull();
  if (stored !== null) expect(diagnosisContent(stored)).toEqual(diagnosisContent(inProcess));
}

const detects = (request: ModelRequest): boolean => request.purpose === 'analyze-chunks';
const answering = (found: (text: string) => boolean, span: string) => (request: ModelRequest) => {
  if (!detects(request)) {
    const [critical] = EXPLAINED.criticalSteps;
    const [cause] = EXPLAINED.rootCauses;
    return {
      ...EXPLAINED,
      criticalSteps: [{ ...critical, span, evidence: [] }],
      rootCauses: [
        { ...cause, failure: span, location: span, explanation: 'Another amount than the tool gave.' },
      ],
    };
  }
  const text = request.user.map((part) => part.text).join('\n');
  return found(text)
    ? { failures: FOUND.failures.map((item) => ({ ...item, span, why: 'wrong' })) }
    : NOTHING;
};
const always = (reply: ReturnType<typeof answering>, limits = SMALL): ScriptedModel =>
  scriptedModel([{ reply, times: 1000 }], { limits });
const onTheLast = (text: string): boolean => text.includes('I have refunded 210 dollars');

/** Rejects the first times that a request of this kind is asked, then answers. */
function failingFirst(
  model: Model,
  times: number,
  error: () => Error,
  hit: (r: ModelRequest) => boolean,
): Model {
  let left = times;
  return {
    ...model,
    ask: async (request) => {
      if (hit(request) && left > 0) {
        left--;
        throw error();
      }
      return await model.ask(request);
    },
  };
}
/** What the model adapter's own retries do locally. */
function patient(model: Model): Model {
  return {
    ...model,
    ask: async (request) => {
      for (let attempt = 0; ; attempt++) {
        try {
          return await model.ask(request);
        } catch (error) {
          if (!(error instanceof ModelThrottledError) || attempt === 8) throw error;
        }
      }
    },
  };
}
const throttled = (): Error => new ModelThrottledError('too many requests');

describe('the state machine and the pipeline give the same diagnosis', () => {
  it('of a session that fits one call', async () => {
    const { inProcess, run, stored } = await both(refundSession(), () => scriptedModel([FOUND, EXPLAINED]));
    expect(run.failedWith).toBeNull();
    expect(run.output).toMatchObject({ version: 1, outcome: 'FAILED', created: true });
    expect(inProcess.provenance.chunkPlan.mode).toBe('direct');
    expectSame(stored, inProcess);
  });

  it('of a session in chunks', async () => {
    const { inProcess, run, stored } = await both(longSession(), () => always(answering(onTheLast, 's14')));
    expect(inProcess.provenance.chunkPlan.chunks).toBeGreaterThan(2);
    expect(run.entered.filter((name) => name === 'AnalyzeChunk')).toHaveLength(
      inProcess.provenance.chunkPlan.chunks,
    );
    expect(inProcess.failures).toMatchObject([{ span_id: 'span-15' }]);
    expectSame(stored, inProcess);
  });

  it('of a session without failure', async () => {
    const { inProcess, run, stored } = await both(refundSession(), () => scriptedModel([NOTHING]));
    expect(run.output).toMatchObject({ outcome: 'CLEAN' });
    expectSame(stored, inProcess);
  });

  it('of a session whose model was throttled a while', async () => {
    const model = () => failingFirst(always(answering(onTheLast, 's14')), 3, throttled, detects);
    const { inProcess, run, stored } = await both(longSession(), () => patient(model()));
    expectSame(stored, inProcess);
    // And when nobody but the state machine waits:
    const again = await both(longSession(), model);
    expect(again.run.retried.filter((name) => name === 'AnalyzeChunk')).toHaveLength(3);
    expect(again.run.failedWith).toBeNull();
    expect(again.stored?.outcome).toBe('FAILED');
    expect(again.stored?.coverage).toEqual(inProcess.coverage);
    expect(run.retried).toEqual([]);
  });

  it('of a session with a hopeless chunk: partial, and the chunk is named', async () => {
    const hopeless = (): Model => {
      const model = always(answering(onTheLast, 's14'));
      const first = (request: ModelRequest): boolean =>
        request.user.some(({ text }) => text.includes('turn2w7')) && detects(request);
      return failingFirst(model, 1000, throttled, first);
    };
    const { inProcess, run, stored } = await both(longSession(), hopeless);
    expect(run.failedWith).toBeNull();
    expect(run.entered).toContain('RecordChunkNotAnalyzed');
    expect(stored?.coverage.gaps.map((gap) => gap.reason)).toContain('model-throttled: too many requests');
    expect(stored?.coverage.spansAnalysed).toBeLessThan(stored?.coverage.spansTotal ?? 0);
    expectSame(stored, inProcess);
  });

  it('of a session that cannot be analysed: no model is asked, a diagnosis says why', async () => {
    const silent = session([said(message('user')), tool(null, 'search', {}, null)]);
    const { inProcess, run, stored } = await both(silent, () => scriptedModel([]));
    expect(run.output).toMatchObject({ outcome: 'UNKNOWN' });
    expect(run.entered).not.toContain('AnalyzeChunk');
    expectSame(stored, inProcess);
  });

  it('of a session whose failures nobody could be asked to explain', async () => {
    const model = (): Model =>
      failingFirst(
        scriptedModel([FOUND]),
        1000,
        () => new ModelUnavailableError('connection reset'),
        (request) => !detects(request),
      );
    const { inProcess, run, stored } = await both(refundSession(), model);
    expect(run.entered).toContain('ExplainByRule');
    expect(run.failedWith).toBeNull();
    expect(stored?.failures).toHaveLength(1);
    expectSame(stored, inProcess);
  });
});

describe('at depth deep', () => {
  const OPENING = {
    systemPrompt: 'Look at an order before you refund it. Never refund more than its total.',
    tools: [{ name: 'refund', parameters: { type: 'object', properties: { amount: { type: 'number' } } } }],
  };
  const refund = (): Session =>
    session([
      inference(
        [message('user', 'Refund order W77, please.')],
        [message('assistant', use('c1', 'refund', { amount: 50 }))],
        OPENING,
      ),
      tool('c1', 'refund', { amount: 50 }, 'ok'),
      said(message('assistant', 'I refunded 30 to your card.')),
    ]);
  const CALLS = {
    'constraints-global': { constraints: [] },
    'constraints-dynamic': { constraints: [RUBRIC] },
    'constraints-rubrics': {
      rows: [
        { item: 'i1', question: 0, verdict: 'no', span: 's2', quote: 'I refunded 30', note: 'it was 50' },
      ],
    },
    'analyze-chunks': NOTHING,
    'root-cause': { ...EXPLAINED, criticalSteps: [], rootCauses: [] },
  };
  /** Purposes asked, in order, are the test's proof that the path meant was taken. */
  const asking = (purposes: string[]): Model =>
    scriptedModel(
      Object.entries(CALLS).map(([purpose, reply]) => ({
        purpose,
        times: 9,
        reply: () => {
          purposes.push(purpose);
          return reply;
        },
      })),
    );

  it('constraints are written, rubrics judged, and the log is the same', async () => {
    const purposes: string[] = [];
    const { inProcess, run, stored } = await both(refund(), () => asking(purposes), { depth: 'deep' });
    expect(run.failedWith).toBeNull();
    expect(new Set(purposes)).toContain('constraints-rubrics');
    expect(stored?.validationLog.map((entry) => entry.constraint)).toContain('answer-is-true');
    expectSame(stored, inProcess);
  });

  it('by rule only when something was found', async () => {
    const purposes: string[] = [];
    const options = { depth: 'deep', deepRule: 'on-findings' } as const;
    const { inProcess, stored } = await both(refund(), () => asking(purposes), options);
    expect(purposes).not.toContain('constraints-dynamic');
    expect(stored?.validationLog.map((entry) => entry.constraint)).toContain('written-constraints');
    expectSame(stored, inProcess);
  });

  it('with a model out of reach for constraints, the rest is done and the gap is named', async () => {
    const model = (): Model =>
      failingFirst(
        asking([]),
        1000,
        () => new ModelUnavailableError('connection reset'),
        ({ purpose }) => purpose.startsWith('constraints'),
      );
    const { inProcess, run, stored } = await both(refund(), model, { depth: 'deep' });
    expect(run.failedWith).toBeNull();
    expect(run.entered).toContain('ConstraintsWithoutModel');
    expect(stored?.coverage.gaps.map((gap) => gap.what)).toContain('constraints that a model writes');
    expectSame(stored, inProcess);
  });
});

describe('what only the state machine has', () => {
  it('a duplicate execution changes nothing, and asks the model nothing', async () => {
    const { objects, input, stored } = await both(refundSession(), () => scriptedModel([FOUND, EXPLAINED]));
    const again = await runLocally({ ...local, objects }, scriptedModel([]), input, 'execution-again');
    expect(again.output).toMatchObject({ version: 1, created: false, diagnosisId: stored?.diagnosisId });
  });

  it('a configuration fault fails at once, with a row and a dead letter', async () => {
    const one = { ...longSession(), sessionId: 'misconfigured' };
    const input = await freeze(local.objects, one);
    let asked = 0;
    const model: Model = {
      spec: 'scripted',
      limits: SMALL,
      ask: async () => {
        asked++;
        throw new ModelAccessError('no access to the model');
      },
    };
    const run = await runLocally(local, model, input, 'execution-misconfigured');
    expect(run.failedWith).toBe(ErrorName.ModelAccess);
    expect(run.retried).toEqual([]);
    // Each chunk asks once at most; none is retried.
    expect(asked).toBeLessThanOrEqual(run.entered.filter((name) => name === 'AnalyzeChunk').length);
    expect(run.deadLetters).toMatchObject([
      {
        MessageBody: {
          executionName: 'execution-misconfigured',
          input,
          error: { Error: ErrorName.ModelAccess },
        },
      },
    ]);
    const log = new DynamoFailureLog(
      new DynamoTable(local.dynamo.client, local.dynamo.tableName, local.clock),
      local.clock,
      90,
    );
    expect(await log.ofSession('misconfigured')).toEqual([
      {
        sessionId: 'misconfigured',
        sessionKey: input.sessionKey,
        executionName: 'execution-misconfigured',
        errorName: ErrorName.ModelAccess,
        message: 'no access to the model',
        at: '2026-03-01T00:00:00.000Z',
      },
    ]);
  });

  it.each([
    ['a session that is not there', { sessionId: 'x', sessionKey: 'sessions/x/none.json.gz' }],
    ['an input without a key', { sessionId: 'x' } as never],
    ['unknown options', { sessionId: 'x', sessionKey: 'y', options: { depht: 'deep' } } as never],
  ])('%s fails by name without retries', async (_what, input) => {
    const run = await runLocally(local, scriptedModel([]), input, `execution-${++count}`);
    expect(run.failedWith).toBe(ErrorName.SessionInvalid);
    expect(run.retried).toEqual([]);
    expect(run.deadLetters).toHaveLength(1);
  });

  it('a session of 10,000 spans keeps the state under 200 KB', async () => {
    const huge = session(
      Array.from({ length: 10_000 }, (_, i) =>
        i === 0
          ? said(message('user', 'Work through the list.'))
          : inference([], [message('assistant', words(15, `step${i}w`))]),
      ),
      { sessionId: 'huge' },
    );
    const input = await freeze(local.objects, huge);
    const model = always(
      answering(() => false, 's1'),
      {
        contextTokens: 60_000,
        maxOutputTokens: 8000,
        tokenFactor: 1,
      },
    );
    const run = await runLocally(local, model, input, 'execution-huge');
    expect(run.failedWith).toBeNull();
    const chunks = run.entered.filter((name) => name === 'AnalyzeChunk').length;
    expect(chunks).toBeGreaterThan(10);
    process.stderr.write(`largest state of ${chunks} chunks: ${run.largestState} bytes\n`);
    expect(run.largestState).toBeLessThan(200_000);
  }, 120_000);
});

describe('feedback in the account', () => {
  it('a rejected failure is left out of later executions, of other sessions too, and they say so', async () => {
    const scripted = (): Model => scriptedModel([FOUND, EXPLAINED]);
    const first = await both(refundSession(), scripted);
    if (first.stored === null) throw new Error('nothing was stored');
    const store = new DynamoDiagnosisStore(
      new DynamoTable(local.dynamo.client, local.dynamo.tableName, local.clock),
      first.objects,
      local.clock,
      { retentionDays: 90 },
    );
    const spanId = first.stored.failures[0]?.span_id ?? '';
    const said = (verdict: 'confirmed' | 'rejected') =>
      store.giveFeedback(first.stored as Diagnosis, {
        spanId,
        verdict,
        at: '2026-03-01T00:00:00.000Z',
        note: null,
      });
    const issues = await said('rejected');
    expect(issues).toHaveLength(1);
    const second = await both(refundSession(), scripted);
    // Of the same run the pipeline, which knows no feedback, says FAILED.
    expect(second.inProcess.outcome).toBe('FAILED');
    expect(second.run.output).toMatchObject({ outcome: 'UNKNOWN' });
    expect(second.stored).toMatchObject({
      failures: [],
      criticalStep: null,
      suppressed: [{ spanId, issue: issues[0], rejectedIn: first.sessionId }],
    });
    await said('confirmed');
    const third = await both(refundSession(), scripted);
    expectSame(third.stored, third.inProcess);
  });
});
