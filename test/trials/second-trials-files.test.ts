import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { type Session, sessionSpans, type ToolSpan } from '../../core/session/session.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { NOTHING } from '../core/stages/a-session.ts';
import { rootspan, scratchFolder } from '../helpers/cli.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { sharedPath } from '../helpers/shared-data.ts';
import { inferences, tools } from '../helpers/telemetry.ts';
import { diagnoseWithoutModel, reportOf } from '../helpers/without-model.ts';

/** Each file of the second trials, right as its row says, by the kind of fault. */

const folder = sharedPath('trials-2');

interface Row {
  readonly sessions: readonly Session[];
  readonly session: Session;
  readonly unread: readonly { readonly reason: string }[];
  readonly diagnosis: Diagnosis;
}

const tried = new Set<string>();

/** A file of the trials; each must be named by a test. */
function fileOf(name: string): string {
  const file = readdirSync(folder ?? '.').find((found) => found.startsWith(name));
  if (file === undefined) throw new Error(`no file ${name} among the trials`);
  tried.add(file);
  return path.join(folder ?? '.', file);
}

async function row(name: string): Promise<Row> {
  const file = fileOf(name);
  const { sessions, unread } = readSessions({
    text: readFileSync(file, 'utf8'),
    source: path.basename(file),
  });
  const [session] = sessions;
  if (session === undefined) throw new Error(`${name}: no session`);
  return { sessions, session, unread, diagnosis: await diagnoseWithoutModel(session) };
}

const findings = (diagnosis: Diagnosis, checkId: string) => reportOf(diagnosis, checkId)?.findings ?? [];
const modes = ({ failures }: Diagnosis) => failures.flatMap((failure) => failure.category);
const names = (session: Session) => tools(session).map((tool: ToolSpan) => tool.toolCall.name);
const calls = (session: Session) => toTrajectory(session).exchanges.map(({ name }) => name);

function clean({ diagnosis }: Row): void {
  expect(diagnosis.failures).toEqual([]);
  expect(diagnosis.criticalStep).toBeNull();
}

/** A whole model run that finds nothing. */
async function withQuietModel(session: Session): Promise<Diagnosis> {
  const model = scriptedModel([{ purpose: 'analyze-chunks', reply: NOTHING, times: 9 }]);
  return diagnose(session, DEFAULT_OPTIONS, {
    model,
    counter: makeTokenCounter(),
    clock: { now: () => 0 },
  });
}

describe.skipIf(folder === null)('second trials, file by file', () => {
  describe('what is no failure', () => {
    it('an agent that greets first', async () => {
      const found = await row('pub-01');
      clean(found);
      expect(reportOf(found.diagnosis, 'goal-lost-at-start')?.state).toBe('blind');
      expect(found.diagnosis.goal).toMatch(/^I lost my debit card/);
    });
    it('nodes of a graph, which are no tools', async () => {
      const found = await row('pub-07');
      clean(found);
      expect(names(found.session)).not.toContain('should_continue');
      expect(calls(found.session)).toEqual(['web_search']);
    });
    it('definitions of tools, which are no calls', async () => {
      const found = await row('pub-08');
      clean(found);
      expect(calls(found.session)).toEqual(['web_search']);
      expect(reportOf(found.diagnosis, 'unknown-tool')?.state).toBe('ran');
    });
    it('a pause for a person', async () => clean(await row('pub-12')));
    it('a log that was asked for', async () => clean(await row('pub-16')));
    it('a permission that a person refused', async () => clean(await row('b-64-permission')));
    it('a permission that a person refused, in recorded events', async () => {
      const found = await row('b-64-recorded');
      clean(found);
      expect(calls(found.session)).toEqual(['web_search']);
    });
    it('a request of the framework below a root that went well: evidence at most', async () => {
      const found = await row('pub-14');
      clean(found);
      expect(findings(found.diagnosis, 'explicit-error')).toMatchObject([{ weight: 'evidence' }]);
    });
    it('a submitted run, whose role `exit` is its end and no agent', async () => {
      const found = await row('pub-04');
      clean(found);
      expect(found.session.format).toBe('mini-swe-agent');
      expect(sessionSpans(found.session).map((span) => span.agent)).not.toContain('exit');
    });
  });

  describe('the goal is what was asked', () => {
    it('not the demonstration; the end by a limit is read', async () => {
      const { session, diagnosis } = await row('pub-02');
      expect(session.format).toBe('swe-agent');
      expect(diagnosis.goal).toMatch(/^ISSUE/);
      expect(calls(session).length).toBeGreaterThan(0);
      expect(modes(diagnosis)).toContain('execution-error-category-resource-exhaustion');
    });
    it('not JSON, and the agent is not the trace', async () => {
      const found = await row('pub-11');
      clean(found);
      expect(found.diagnosis.goal).toBe('Search the web for Nordwind and summarise.');
      expect(found.session.agent).not.toBe('claude.conversation');
    });
  });

  describe('results, errors and ends of known logs', () => {
    it('results find their call by tool_call_ids', async () => {
      const { session, diagnosis } = await row('pub-03');
      const failed = findings(diagnosis, 'explicit-error');
      expect(failed).toMatchObject([{ summary: 'Tool find_file answered with an error' }]);
      expect(toTrajectory(session).exchanges.map(({ name, result }) => [name, result])).toEqual([
        ['open', '1:import utl'],
        ['find_file', 'Error: no file named util.py'],
      ]);
    });
    it('LimitsExceeded is an end by a limit', async () =>
      expect(modes((await row('pub-05')).diagnosis)).toContain(
        'execution-error-category-resource-exhaustion',
      ));
    it('<returncode> is the exit code', async () => {
      const { diagnosis } = await row('pub-06');
      expect(diagnosis.failures.map(({ evidence }) => evidence.join())).toEqual([
        expect.stringContaining('ZeroDivisionError'),
      ]);
    });
    it('objects of the Responses API wherever content stands', async () => {
      const { session, diagnosis } = await row('pub-09');
      expect(calls(session)).toEqual(['web_search']);
      expect(findings(diagnosis, 'output-cut')).toHaveLength(1);
    });
    it('events of AutoGen 0.4', async () => {
      const { session, diagnosis } = await row('pub-13');
      expect(session.format).toBe('autogen-events');
      expect(findings(diagnosis, 'explicit-error')).toMatchObject([{ weight: 'failure' }]);
    });
    it('newer Codex', async () => {
      const { session } = await row('pub-15');
      expect(session.format).toBe('codex-rollout');
      expect(calls(session)).toEqual(['shell']);
    });
    it.each(['pub-17', 'pub-18'])('an error one level down, in other spellings: %s', async (name) =>
      expect(findings((await row(name)).diagnosis, 'explicit-error')).toMatchObject([
        { weight: 'failure', summary: expect.stringContaining('answered with an error') },
      ]),
    );
    it('built-in and MCP items of the Responses API', async () => {
      const { session, diagnosis } = await row('pub-19');
      expect(calls(session)).toEqual(['create_release']);
      expect(findings(diagnosis, 'explicit-error')).toMatchObject([
        { evidence: [{ quote: 'owner is required' }] },
      ]);
    });
    it('lists of observations', async () => {
      const { session, diagnosis } = await row('pub-21');
      expect(session.format).toBe('langfuse');
      expect(modes(diagnosis)).toContain('execution-error-category-service-errors');
    });
    it('Amp', async () => {
      const { session, diagnosis } = await row('pub-22');
      expect(session.format).toBe('amp');
      expect(diagnosis.goal).toBe('Cancel order A17.');
      expect(sessionSpans(session).length).toBeGreaterThan(0);
    });
    it('MLflow', async () => {
      const { session, diagnosis } = await row('pub-23');
      expect(session.format).toBe('mlflow');
      expect(diagnosis.goal).toBe('Cancel A17');
    });
    it('the answer after a failed call is seen', async () => {
      const { session, diagnosis } = await row('pub-24');
      expect(JSON.stringify(sessionSpans(session))).toContain('Order A17 is cancelled.');
      expect(findings(diagnosis, 'abrupt-end')).toEqual([]);
      expect(findings(diagnosis, 'explicit-error')).toHaveLength(1);
    });
  });

  describe('one broken part costs itself', () => {
    it('two envelopes, one after another', async () =>
      expect(sessionSpans((await row('b-02-two')).session)).toHaveLength(3));
    it('a broken record of a batch', async () => {
      const run = await rootspan([
        'ingest',
        fileOf('b-02-kinesis'),
        '--store',
        path.join(scratchFolder(), 's'),
        '--json',
      ]);
      expect(run.err).toContain('3 records stored');
      expect(run.err).toContain('1 not readable');
      expect(run.exitCode).toBe(4);
    });
    it.each(['b-06-event-cut', 'b-06-lines'])(
      'a cut record is named and the session is partial: %s',
      async (name) => {
        const { session, unread } = await row(name);
        expect(unread.map(({ reason }) => reason)).toEqual([expect.stringMatching(/^cut-json/)]);
        const diagnosis = await withQuietModel(session);
        expect(diagnosis.coverage.state).toBe('PARTIAL');
        expect(diagnosis.outcome).toBe('UNKNOWN');
      },
    );
    it('a result that breaks off', async () => {
      const { session } = await row('b-06-result');
      expect(tools(session)[0]?.flags).toContain('content-truncated');
    });
    it('a message beyond the cap', async () => {
      const { diagnosis } = await row('b-52');
      expect(diagnosis.coverage.gaps.map(({ reason }) => reason)).toContainEqual(
        expect.stringMatching(/^index-capped/),
      );
    });
  });

  it('a second run says that nothing was new and repeats the verdict', async () => {
    const argv = ['ingest', fileOf('b-08'), '--store', path.join(scratchFolder(), 's'), '--json'];
    const first = await rootspan(argv);
    const second = await rootspan(argv);
    expect(first.exitCode).toBe(1);
    expect(second.exitCode).toBe(1);
    expect(second.err).toContain('nothing new');
    expect(JSON.parse(second.out)).toEqual(JSON.parse(first.out));
  });

  describe('content and errors of telemetry', () => {
    it('the cause of a subsegment is the text of its error', async () =>
      expect(findings((await row('b-12')).diagnosis, 'explicit-error')).toMatchObject([
        { evidence: [{ quote: expect.stringContaining('AccessDenied: not allowed to list') }] },
      ]));
    it('content in an event without a body', async () =>
      expect(JSON.stringify(inferences((await row('b-22')).session)[0]?.output)).toContain('Monday'));
    it('keys are not in what is read', async () => {
      const { session, diagnosis } = await row('b-24');
      expect(JSON.stringify([session, diagnosis])).not.toMatch(/A[KS]IAIOSFODNN7EXAMPLE/);
    });
    it('a call in a form that is not read: checks of calls say that they saw none', async () => {
      const { diagnosis } = await row('b-26');
      expect(reportOf(diagnosis, 'missing-result')?.state).toBe('blind');
      expect(diagnosis.coverage.gaps.map(({ reason }) => reason)).toContainEqual(
        expect.stringMatching(/^content-lost/),
      );
    });
    it('three errors of three calls', async () =>
      expect((await row('b-30-chain')).diagnosis.failures).toHaveLength(3));
    it('parallel calls: the same verdict whichever failed', async () => {
      const [second, last] = [await row('b-30-parallel-second'), await row('b-30-parallel-last')];
      expect(modes(second.diagnosis)).toEqual(modes(last.diagnosis));
      expect(second.diagnosis.outcome).toBe(last.diagnosis.outcome);
      expect(second.diagnosis.failures).toHaveLength(1);
    });
    it('numbers in halves, and those that are none', async () =>
      expect(inferences((await row('b-34')).session).map(({ usage }) => usage)).toEqual([
        undefined,
        { inputTokens: 7, outputTokens: 7 },
      ]));
    it.each(['b-38', 'b-40'])('a parent that we made up merges nothing: %s', async (name) => {
      const { session } = await row(name);
      expect(inferences(session)).toHaveLength(2);
      const model = scriptedModel([{ purpose: 'analyze-chunks', reply: NOTHING, times: 9 }]);
      await diagnose(session, DEFAULT_OPTIONS, {
        model,
        counter: makeTokenCounter(),
        clock: { now: () => 0 },
      });
      const last = inferences(session).at(-1)?.output.at(-1)?.content.at(-1);
      expect(JSON.stringify(model.requests)).toContain(last?.type === 'text' ? last.text : 'no answer');
    });
    it('an empty answer', async () => {
      const { diagnosis } = await row('b-66');
      expect(findings(diagnosis, 'abrupt-end')).toMatchObject([{ summary: 'The last answer is empty' }]);
    });
    it.each([
      ['b-72', 'execution-error-category-resource-exhaustion'],
      ['b-74', 'execution-error-category-rate-limiting'],
    ])('limits of size and rate are told apart: %s', async (name, category) =>
      expect(modes((await row(name)).diagnosis)).toEqual([category]),
    );
  });

  it('no request holds half a character', async () => {
    fileOf('b-36');
    const document = {
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
      ],
    };
    const [session] = readSessions({ document, source: 's' }).sessions;
    const prose = `a${'🎉'.repeat(4_000)}`;
    const model = scriptedModel([{ reply: prose, times: 9 }]);
    await diagnose(session!, DEFAULT_OPTIONS, {
      model,
      counter: makeTokenCounter(),
      clock: { now: () => 0 },
    });
    expect(model.requests.length).toBeGreaterThan(1);
    for (const { user } of model.requests)
      for (const { text } of user) expect(text.isWellFormed()).toBe(true);
  });

  it('every file is named by a test', () =>
    expect(readdirSync(folder ?? '.').filter((file) => !tried.has(file))).toEqual(['README.md']));
});
