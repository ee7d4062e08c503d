import { expect, test } from 'vitest';
import { ExitCode, exitCodeOf, worstExitCode } from '../../cli/shell/exit-codes.ts';

test('exit codes are those of the contract', () => {
  expect(ExitCode).toEqual({ Passed: 0, Failed: 1, Usage: 2, Runtime: 3, Unknown: 4, Waiting: 5 });
});

test('each decision has its code', () => {
  const codeOf = (decision: 'pass' | 'fail' | 'unknown') => exitCodeOf({ text: '', decision });
  expect([codeOf('pass'), codeOf('fail'), codeOf('unknown')]).toEqual([0, 1, 4]);
});

test('of several sessions the worst decides, and a failed one is worse than an unknown one', () => {
  expect(worstExitCode([0, 4, 1])).toBe(1);
  expect(worstExitCode([0, 4])).toBe(4);
  expect(worstExitCode([1, 5, 2])).toBe(2);
  expect(worstExitCode([])).toBe(0);
});
