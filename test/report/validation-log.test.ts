import { expect, test } from 'vitest';
import type { ValidationEntry } from '../../core/diagnosis/schema.ts';
import { PLAIN } from '../../report/terminal.ts';
import { renderValidationLog } from '../../report/validation-log.ts';
import { aDiagnosis } from '../helpers/a-diagnosis.ts';

const entry = (constraint: string, parts: Partial<ValidationEntry>): ValidationEntry => ({
  constraint,
  origin: 'user',
  spanId: 'span-1',
  position: 0,
  verdict: 'satisfied',
  reason: 'holds',
  severity: 'medium',
  evidence: [],
  healthyFiringRate: null,
  ...parts,
});

const render = (validationLog: ValidationEntry[]): string =>
  renderValidationLog(aDiagnosis({ validationLog }), { palette: PLAIN, width: 60 });

test('the log reads on its own: steps in order, violations first with their evidence, then what was not asked and why', () => {
  const text = render([
    entry('timeouts', { origin: 'built-in', reason: 'nothing found in this session' }),
    entry('schemas', { origin: 'built-in', verdict: 'not-evaluated', reason: 'no schemas are recorded' }),
    entry('typo', { verdict: 'error', reason: 'refused: No such key: nme' }),
    entry('customs', { verdict: 'not-applicable', reason: 'its guard was true nowhere in this session' }),
    entry('late', { spanId: 'span-9', position: 8, verdict: 'unclear', reason: "missing: there is no 'kg'" }),
    entry('weighed', { spanId: 'span-3', position: 2 }),
    entry('label', {
      spanId: 'span-3',
      position: 2,
      verdict: 'violated',
      reason: 'The label says what was weighed.',
      evidence: [{ spanId: 'span-3', quote: 'ship(2.4)', note: 'looked up: call.args.kg = 2.4' }],
      healthyFiringRate: 0.25,
    }),
  ]);
  const at = (piece: string): number => {
    expect(text).toContain(piece);
    return text.indexOf(piece);
  };
  const order = [
    '1 violated, 1 error, 1 unclear, 1 not-evaluated, 2 satisfied, 1 not-applicable',
    'step 2 · span span-3',
    'label [user, medium] (fires on 25 % of healthy runs)',
    'The label says what was weighed.',
    '“ship(2.4)” looked up: call.args.kg = 2.4',
    'weighed [user, medium]',
    'step 8 · span span-9',
    "there is no 'kg'",
    'the whole session',
    'No such key: nme',
    'no schemas are recorded',
    'timeouts',
    'its guard was true nowhere',
  ].map(at);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(text).not.toContain('step 0');
});

test('an empty log says so', () => {
  expect(render([])).toMatch(/^No constraint was evaluated/);
});
