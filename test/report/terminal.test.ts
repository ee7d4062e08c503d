import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeLine, safeText } from '../../report/escape.ts';
import { PLAIN, renderTerminal } from '../../report/terminal.ts';
import { aDiagnosis } from '../helpers/a-diagnosis.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/u;

test('no text of a session can send a control sequence to the terminal', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(safeText(text.toWellFormed())).not.toMatch(CONTROL);
      expect(safeLine(text.toWellFormed(), 20)).not.toMatch(/[\n\r]/);
    }),
  );
  expect(safeText('\u001b]52;c;aGk=\u0007')).toBe('\\u{1b}]52;c;aGk=\\u{7}');
  expect(safeText('a\u{e0049}\u00ad\u061c\u200b')).toBe('a\\u{e0049}\\u{ad}\\u{61c}\\u{200b}');
});

test('a cut says how much was cut, and never splits a code point', () => {
  expect(safeLine('😀'.repeat(10), 4)).toBe(`${'😀'.repeat(4)}… (+6)`);
  expect(safeLine('short', 10)).toBe('short');
});

test('an escape sequence in a session id or an evidence is shown, not obeyed', () => {
  const evil = '\u001b[2J\u001b[31mclean';
  const base = aDiagnosis();
  const text = renderTerminal(
    {
      ...base,
      sessionId: evil,
      goal: evil,
      agent: evil,
      outcomeReason: evil,
      outcome: 'UNKNOWN',
      criticalStep: null,
    },
    { palette: PLAIN, width: 80 },
  );
  expect(text).not.toContain('\u001b');
  expect(text).toContain('\\u{1b}');
});

test('a remedy is said once, further lines stand under the first, a speaker is not named twice', () => {
  const base = aDiagnosis();
  const [failure] = base.failures;
  const [cause] = base.rootCauses;
  const fix =
    'Retry the call with a growing pause, and tell the agent what to say to the user when the service stays down.';
  const text = renderTerminal(
    {
      ...base,
      failures: [failure!, { ...failure!, span_id: 'span-3' }],
      rootCauses: [
        { ...cause!, fix_recommendation: fix },
        { ...cause!, failure_span_id: 'span-3', fix_recommendation: fix },
      ],
      spans: [
        { spanId: 'span-2', position: 1, kind: 'message', name: 'Surfer', agent: 'Surfer', excerpt: '' },
        { spanId: 'span-3', position: 2, kind: 'execute_tool', name: 'get', agent: 'Surfer', excerpt: '' },
      ],
    },
    { palette: PLAIN, width: 80 },
  );
  expect(text).toContain(
    '     fix  Retry the call with a growing pause, and tell the agent what to say to\n' +
      '          the user when the service stays down.\n',
  );
  expect(text).toContain('     fix  as for 1\n');
  expect(text).toContain('1. step 1 · Surfer · span span-2\n');
  expect(text).toContain('2. step 2 · Surfer, get · span span-3\n');
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
});

test('begins with the verdict: a tick where failures were all recovered, whatever their number', () => {
  const base = aDiagnosis();
  const view = { palette: PLAIN, width: 80 };
  const [failure] = base.failures;
  const recovered = Array.from({ length: 4 }, () => ({
    ...failure!,
    recovered: 'yes' as const,
    effect: 'none' as const,
  }));
  const coverage = { ...base.coverage, state: 'COMPLETE' as const, gaps: [] };
  const flawed = { ...base, outcome: 'FLAWED' as const, criticalStep: null, failures: recovered, coverage };
  expect(renderTerminal(flawed, view)).toMatch(/^✓ /);
  expect(renderTerminal(base, view)).toMatch(/^✗ /);
  expect(renderTerminal({ ...flawed, outcome: 'UNKNOWN', outcomeReason: 'x' }, view)).toMatch(/^\? /);
});
