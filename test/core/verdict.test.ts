import { expect, test } from 'vitest';
import { ExitCode } from '../../core/report-build/verdict.ts';

test('exit codes are those of the contract and distinct', () => {
  expect(ExitCode).toEqual({ Clean: 0, FailuresFound: 1, Usage: 2, Runtime: 3, Partial: 4, Waiting: 5 });
});
