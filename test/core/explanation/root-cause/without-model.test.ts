import { expect, test } from 'vitest';
import { noneModel } from '../../../../adapters/models/none.ts';
import { CHECKS } from '../../../../core/checks/registry.ts';
import { DEFAULT_OPTIONS } from '../../../../core/diagnosis/options.ts';
import { UNKNOWN_RECOVERY } from '../../../../core/diagnosis/recovery.ts';
import type { Failure } from '../../../../core/diagnosis/schema.ts';
import { fixFor } from '../../../../core/explanation/root-cause/fix-for.ts';
import { CHECKS_WITH_FIX, usualFix } from '../../../../core/explanation/root-cause/fixes.ts';
import { makeTokenCounter } from '../../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../../core/session/session.ts';
import { diagnose } from '../../../../core/stages/pipeline.ts';
import { trajectoryOf } from '../../../../core/trajectory/trajectory-of.ts';
import { CATEGORY_IDS } from '../../../../core/vocabulary/taxonomy.ts';
import { inference, message, said, session, text, tool, use } from '../../../helpers/build-session.ts';

const counter = makeTokenCounter();

const causesOf = async (given: Session) => {
  const { failures, rootCauses } = await diagnose(given, DEFAULT_OPTIONS, {
    model: noneModel,
    counter,
    clock: { now: () => 0 },
  });
  return { failures, rootCauses };
};

const BOOKING = {
  name: 'get_booking',
  parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
};

test('the refusal of a call that was wrong as it was made: secondary, and its cause is the call', async () => {
  const { failures, rootCauses } = await causesOf(
    session([
      said(message('user', 'Cancel my booking B-17.')),
      inference([], [message('assistant', text('One moment.'), use('c1', 'undo_booking', { id: 'B-17' }))], {
        tools: [BOOKING],
      }),
      tool('c1', 'undo_booking', { id: 'B-17' }, 'Error: unknown tool undo_booking'),
      inference([], [message('assistant', 'I am sorry, that did not work.')]),
    ]),
  );
  expect(failures.map(({ span_id }) => span_id)).toEqual(['span-2', 'span-3']);
  expect(rootCauses).toMatchObject([
    { failure_span_id: 'span-2', location: 'span-2', causality: 'UNCLEAR' },
    { failure_span_id: 'span-3', location: 'span-2', causality: 'SECONDARY_FAILURE' },
  ]);
  // What helps against the cause, not what usually helps against its symptom.
  expect(rootCauses[1]?.fix_recommendation).toBe(rootCauses[0]?.fix_recommendation);
});

test('one fault met three times has one cause; the loop around it is a fault of its own', async () => {
  const round = (id: string) => [
    inference([], [message('assistant', use(id, 'run', { command: 'test' }))]),
    tool(id, 'run', { command: 'test' }, 'Error: vitest: command not found'),
  ];
  const { failures, rootCauses } = await causesOf(
    session([
      said(message('user', 'Fix the test.')),
      ...round('a'),
      ...round('b'),
      ...round('c'),
      inference([], [message('assistant', 'It does not run here.')]),
    ]),
  );
  const cause = new Map(
    failures.map(({ category }, i) => [rootCauses[i]?.failure_span_id, { category, ...rootCauses[i] }]),
  );
  expect(cause.get('span-3')).toMatchObject({ location: 'span-3' });
  expect(cause.get('span-5')).toMatchObject({ location: 'span-3', causality: 'SECONDARY_FAILURE' });
  expect(cause.get('span-7')).toMatchObject({ location: 'span-3', causality: 'SECONDARY_FAILURE' });
  const loop = [...cause.values()].filter(({ category }) => category.some((id) => /repetition/.test(id)));
  expect(loop).toHaveLength(1);
  expect(loop[0]?.causality).not.toBe('SECONDARY_FAILURE');
});

test('an outage is not the fault of the call that met it', async () => {
  const { rootCauses } = await causesOf(
    session([
      said(message('user', 'Show booking B-17.')),
      // Wrong as it was made, but the error does not speak of that.
      inference([], [message('assistant', use('c1', 'get_booking', { number: 'B-17' }))], {
        tools: [BOOKING],
      }),
      tool('c1', 'get_booking', { number: 'B-17' }, 'Error: 503 service unavailable'),
    ]),
  );
  expect(rootCauses.map(({ failure_span_id, location }) => [failure_span_id, location]).sort()).toEqual([
    ['span-2', 'span-2'],
    ['span-3', 'span-3'],
  ]);
});

test('what was found is not said again as its own cause', async () => {
  const { failures, rootCauses } = await causesOf(
    session([
      said(message('user', 'Read the report.')),
      inference([], [message('assistant', use('c1', 'read', { path: 'a' }))]),
      tool('c1', 'read', { path: 'a' }, 'Error: timeout\nafter 30 s'),
    ]),
  );
  expect(failures).toHaveLength(1);
  expect(rootCauses[0]?.root_cause_explanation).not.toContain('after 30 s');
  expect(rootCauses[0]?.root_cause_explanation).toContain('No model looked');
});

const failureOf = (category: string, source: Failure['source'][number]): Failure => ({
  span_id: 'span-1',
  category: [category],
  confidence: [0.9],
  evidence: ['…'],
  source: [source],
  ...UNKNOWN_RECOVERY,
});

test('every category and every check that has one gives a remedy; a name of an object is none', () => {
  const byModel = { kind: 'model', ref: 'x' } as const;
  const general = usualFix(failureOf('other', byModel)).text;
  for (const id of CATEGORY_IDS) {
    const { text: fix } = usualFix(failureOf(id, byModel));
    expect(fix.length).toBeGreaterThan(40);
    expect(fix === general).toBe(id === 'other');
  }
  expect(CHECKS.map(({ id }) => id)).toEqual(expect.arrayContaining([...CHECKS_WITH_FIX]));
  for (const ref of CHECKS_WITH_FIX) {
    expect(usualFix(failureOf('other', { kind: 'check', ref })).text).not.toBe(general);
    // The same word from a model is a request hash, not a check.
    expect(usualFix(failureOf('other', { kind: 'model', ref })).text).toBe(general);
  }
  for (const odd of ['constructor', '__proto__', 'toString']) {
    expect(usualFix(failureOf(odd, { kind: 'check', ref: odd })).text).toBe(general);
  }
});

test('a remedy names what is to change in this agent: the parameters of its tool that the error names', async () => {
  const pay = {
    name: 'pay_invoice',
    parameters: { type: 'object', properties: { amount: { type: 'number' }, invoice: { type: 'string' } } },
  };
  const { rootCauses } = await causesOf(
    session([
      said(message('user', 'Pay it.')),
      inference([], [message('assistant', use('c1', 'pay_invoice', { amount: 'ten', invoice: 'I-1' }))], {
        tools: [pay],
      }),
      tool(
        'c1',
        'pay_invoice',
        { amount: 'ten', invoice: 'I-1' },
        'Error: validation failed: amount must be a number',
      ),
    ]),
  );
  const fixes = rootCauses.map((cause) => cause.fix_recommendation).join('\n');
  expect(fixes).toContain('Here: amount of the tool pay_invoice.');
  expect(fixes).not.toContain('invoice of the tool');
});

test('or the line of its instructions that the tool stands in; their beginning where none does', () => {
  const spans = (systemPrompt: string) =>
    session([
      inference([], [message('assistant', use('c1', 'close_account', { id: 'A-1' }))], { systemPrompt }),
      tool('c1', 'close_account', { id: 'A-1' }, 'closed'),
    ]);
  const broken = failureOf('task-instruction-category-non-compliance', { kind: 'model', ref: 'x' });
  const fixOf = (systemPrompt: string): string => fixFor(broken, trajectoryOf(spans(systemPrompt))).text;
  const rule = 'Never call close_account before the customer has confirmed.';
  expect(fixOf(`You help customers.\n- be kind\n${rule}\n`)).toContain(`Here: "${rule}" in the instructions`);
  // A longer name that contains the tool's is another word.
  expect(fixOf('You help customers.\nUse close_account_v2 never.')).toContain(
    'which begin "You help customers."',
  );
  expect(fixOf(`${'x'.repeat(500)}`).length).toBeLessThan(600);
});
