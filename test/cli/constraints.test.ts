import path from 'node:path';
import { expect, test } from 'vitest';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { rootspan, scratchFile } from '../helpers/cli.ts';

const examples = path.resolve(import.meta.dirname, '../../examples');
const FAILED = path.join(examples, 'airline-refund.json');
const HEALTHY = path.join(examples, 'order-status-healthy.json');
const RULES = path.join(examples, 'airline-refund.constraints.yaml');

test('the example rules are usable, and fire on the failed session', async () => {
  const run = await rootspan(['constraints', 'check', RULES, '--failed', FAILED, '--healthy', HEALTHY]);
  expect(run.exitCode).toBe(0);
  const rows = JSON.parse(run.out).map(
    (one: { name: string; state: string; firing: { failed: { fired: number } } }) => [
      one.name,
      one.state,
      one.firing.failed.fired,
    ],
  );
  expect(rows).toEqual([
    ['refund-to-own-method', 'usable', 1],
    ['refund-within-payment', 'usable', 1],
    ['refund-after-yes', 'usable', 0],
    ['says-what-was-done', 'usable', 0],
  ]);
});

test('on a terminal it reads', async () => {
  const run = await rootspan(['constraints', 'check', RULES, '--failed', FAILED], { terminal: true });
  expect(run.out).toContain('2 of 2 examples right');
  expect(run.out).toContain('applied in 1 of 1 sessions, fired in 1');
  expect(run.out).toContain('left to a model');
});

const file = (constraint: object) =>
  scratchFile('rules.json', {
    version: 1,
    constraints: [{ name: 'x', targets: ['invention'], kind: 'protocol', hint: 'h', ...constraint }],
  });

test.each([
  ['an alarm on a healthy session is doubtful', { assertion: 'false' }, 1, /it fires on 1 of 1 healthy/],
  ['a rule that does not compile is refused', { assertion: 'call.nme == 1' }, 2, /No such key: nme/],
])('%s', async (_symptom, rule, exitCode, said) => {
  const run = await rootspan(['constraints', 'check', file(rule), '--healthy', HEALTHY]);
  expect(run.exitCode).toBe(exitCode);
  expect(run.out).toMatch(said);
});

test('a broken rule of the team is a failure of the diagnosis', async () => {
  const run = await rootspan(['diagnose', FAILED, '--store', 'none', '--constraints', RULES]);
  expect(run.exitCode).toBe(1);
  const diagnosis = JSON.parse(run.out);
  const sources = diagnosis.failures.flatMap((failure: { source: { ref: string }[] }) =>
    failure.source.map(({ ref }) => ref),
  );
  expect(sources).toContain('refund-to-own-method');
});

test('a diagnosis does not go on with fewer rules than its user believes', async () => {
  const run = await rootspan([
    'diagnose',
    FAILED,
    '--store',
    'none',
    '--constraints',
    file({ assertion: 'nope(' }),
  ]);
  expect(run.exitCode).toBe(2);
  expect(run.err).toMatch(/1 constraints cannot be used \(x: assertion/);
  expect(run.out).toBe('');
});

test('--expected judges by the actions that should have been taken', async () => {
  const expected = scratchFile('expected.json', [
    { name: 'issue_refund', arguments: { payment_id: 'card_8810' } },
  ]);
  const run = await rootspan(['diagnose', FAILED, '--store', 'none', '--expected', expected]);
  expect(JSON.parse(run.out).criticalStep).toMatchObject({ judgedBy: 'reference', position: 10 });
  const bad = await rootspan([
    'diagnose',
    FAILED,
    '--store',
    'none',
    '--expected',
    scratchFile('bad.json', { a: 1 }),
  ]);
  expect(bad.exitCode).toBe(2);
  expect(bad.err).toMatch(/Expected a JSON list/);
});

test("a violation keeps its own target as the category and the team's hint as the fix", async () => {
  const hint = 'Ask the account desk for the payment id before any refund.';
  const file = scratchFile(
    'own.yaml',
    [
      'version: 1',
      'agent: refund-desk',
      'constraints:',
      '  - name: no-refund-by-card',
      '    kind: protocol',
      '    targets: [incorrect-actions-category-clarification]',
      '    severity: high',
      `    hint: ${hint}`,
      '    guard: call.name == "issue_refund"',
      '    assertion: "false"',
    ].join('\n'),
  );
  const { out } = await rootspan([
    'diagnose',
    FAILED,
    '--constraints',
    file,
    '--store',
    'none',
    '--exit-zero',
  ]);
  const { failures, rootCauses, recommendations, criticalStep } = JSON.parse(out) as Diagnosis;
  // The critical category that says about the same as the target.
  expect(criticalStep?.category).toBe('underspecified-intent');
  const at = failures.findIndex(({ source }) => source.some(({ kind }) => kind === 'constraint'));
  expect(failures[at]?.category).toContain('incorrect-actions-category-clarification');
  expect(rootCauses[at]?.fix_recommendation).toBe(hint);
  expect(recommendations.map(({ text }) => text)).toContain(hint);
});
