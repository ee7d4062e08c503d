import { describe, expect, it } from 'vitest';
import { loadAgentRx } from '../../bench/datasets/agentrx.ts';
import { readCategory } from '../../bench/datasets/categories.ts';
import { loadLabels } from '../../bench/datasets/labels.ts';
import { loadWhoWhen } from '../../bench/datasets/who-when.ts';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { sessionSpans } from '../../core/session/session.ts';
import { sharedPath } from '../helpers/shared-data.ts';
import { folderWith, tauLabel, tauRun, whoWhenRecord } from './fixtures.ts';

describe('AgentRx loader', () => {
  const runs = loadAgentRx(
    folderWith({
      'tau_retail/tau_dataset_failed.json': [tauRun(7), tauRun(8)],
      'tau_retail/tau_dataset_passed.json': [tauRun(9)],
      'ground_truth/tau_ground_truth.json': [tauLabel(7)],
      'magentic_dataset/ab-1.json': [
        { role: 'human', content: 'Find the date.' },
        { role: 'Orchestrator (thought)', content: 'Ask the web.' },
        { role: 'WebSurfer', content: 'It is 1970.' },
      ],
      'ground_truth/magentic_one_ground_truth.json': [{ ...tauLabel(0), trajectory_id: 'ab-1' }],
    }),
  );
  const byId = new Map(runs.map((run) => [run.id, run]));

  it('step_number is the raw position plus 1, and a root id "2" is the failure 2', () => {
    expect(byId.get('tau/tau_dataset_failed#task-7-trial-1')?.gold).toEqual({
      critical: { position: 4, category: 'invention', agent: 'Assistant' },
      failures: [
        { position: 2, category: 'plan-adherence', agent: 'Assistant' },
        { position: 4, category: 'invention', agent: 'Assistant' },
      ],
    });
  });
  it('passed runs are healthy, a failed run without a label is neither', () => {
    expect(runs.map((run) => [run.group, run.gold === null])).toEqual([
      ['magentic', false],
      ['tau', false],
      ['tau', true],
    ]);
  });
  it('the gold position is the position of a step of the session', () => {
    const run = byId.get('magentic/ab-1');
    expect(sessionSpans(run!.session).map((span) => span.sourcePosition)).toEqual([0, 1, 2]);
  });
  it('a folder without the data says what was expected', () => {
    expect(() => loadAgentRx(folderWith({ 'x.json': {} }))).toThrow(/ground_truth/);
    expect(() => loadAgentRx('no/such/folder')).toThrow(ConfigurationInvalidError);
  });
});

describe('Who&When loader', () => {
  const runs = loadWhoWhen(
    folderWith({
      'Hand-Crafted/10.json': whoWhenRecord('57'),
      'Algorithm-Generated/10.json': whoWhenRecord('1'),
      'Algorithm-Generated/9.json': whoWhenRecord('0'),
    }),
  );
  it('steps are 0-based strings, and one beyond the history stays as it is', () => {
    expect(runs.map((run) => [run.session.sessionId, run.gold?.critical.position])).toEqual([
      ['algorithm-generated-9', 0],
      ['algorithm-generated-10', 1],
      ['hand-crafted-10', 57],
    ]);
  });
  it('has no category labels', () => {
    expect(runs.every((run) => run.gold?.critical.category === null)).toBe(true);
  });
});

describe('own labels', () => {
  const session = {
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'bye' },
    ],
  };
  const label = { session: 'one.json', criticalSpanId: 'm1', category: 'plan-adherence', agent: 'desk' };

  it('points at a span by id; null is a healthy session; jsonl and several sessions a file work', () => {
    const runs = loadLabels(
      folderWith({
        'one.json': session,
        'many.json': { good: session, bad: session },
        'labels.jsonl': [
          JSON.stringify(label),
          '',
          JSON.stringify({ session: 'many#good', criticalSpanId: null }),
        ].join('\n'),
      }),
    );
    expect(runs.map((run) => [run.id, run.gold])).toEqual([
      [
        'labels/one',
        {
          critical: { position: 1, category: 'plan-adherence', agent: 'desk' },
          failures: [{ position: 1, category: 'plan-adherence', agent: 'desk' }],
        },
      ],
      ['labels/many#good', null],
    ]);
  });
  it('an unknown session, span or category is named, not skipped', () => {
    const load = (change: object) =>
      loadLabels(folderWith({ 'one.json': session, 'labels.json': [{ ...label, ...change }] }));
    expect(() => load({ session: 'two.json' })).toThrow(/two\.json/);
    expect(() => load({ criticalSpanId: 'm9' })).toThrow(/no span "m9"/);
    expect(() => load({ category: 'sloth' })).toThrow(/sloth/);
    expect(() => loadLabels(folderWith({ 'one.json': session }))).toThrow(/labels\.json/);
  });
});

it('published category names in all their spellings have our ids', () => {
  const names = {
    'Instruction/Plan Adherence Failure': 'plan-adherence',
    'Instruction Adherence Failure': 'plan-adherence',
    'Invention of New Information': 'invention',
    'Invalid Invocation': 'invalid-invocation',
    'Misinterpretation of Tool Output / Handoff': 'misinterpretation',
    'Intent Plan Misalignment': 'intent-plan-misalignment',
    'Intent–Plan Misalignment': 'intent-plan-misalignment',
    'Underspecified User Intent': 'underspecified-intent',
    'Intent not supported': 'unsupported-intent',
    'Guardrails Triggered': 'guardrail',
    'System Failure': 'system-failure',
    Inconclusive: 'inconclusive',
  };
  for (const [name, id] of Object.entries(names)) expect(readCategory(name, 'test')).toBe(id);
});

const dev = sharedPath('bench', 'dev');

describe.skipIf(dev === null)('the development half', () => {
  it('has the runs its README lists', () => {
    const count = (runs: readonly { group: string; gold: unknown }[]) => {
      const counts: Record<string, number> = {};
      for (const { group, gold } of runs) {
        const key = `${group} ${gold === null ? 'healthy' : 'failed'}`;
        counts[key] = (counts[key] ?? 0) + 1;
      }
      return counts;
    };
    expect(count(loadAgentRx(dev ?? ''))).toEqual({
      'tau failed': 14,
      'tau healthy': 36,
      'magentic failed': 24,
    });
    expect(count(loadWhoWhen(dev ?? ''))).toEqual({
      'hand-crafted failed': 29,
      'algorithm-generated failed': 63,
    });
  });
  it('step numbers read as position plus 1 put the blame on the labelled side, save one slip of the annotators', () => {
    let slips = 0;
    for (const { session, gold, group } of loadAgentRx(dev ?? '')) {
      if (gold === null) continue;
      const spans = sessionSpans(session);
      const span = spans.find((entry) => entry.sourcePosition === gold.critical.position);
      expect(span, session.sessionId).toBeDefined();
      if (group !== 'tau') continue;
      const isUser = span?.kind === 'message' && span.message.role === 'user';
      if (isUser !== (gold.critical.agent === 'User')) slips += 1;
    }
    expect(slips).toBeLessThanOrEqual(1);
  });
});
