import { expect, it } from 'vitest';
import { sourceStem, toUnixNano } from '../../../../core/reading/transcripts/fields.ts';

it.each([
  ['2026-03-14T10:00:00Z', '1773482400000000000'],
  ['2026-03-14T10:00:00.000001Z', '1773482400000001000'],
  ['2026-03-14T12:00:00.123456789+02:00', '1773482400123456789'],
  ['2026-03-14 10:00:00', '1773482400000000000'],
  [1773482400, '1773482400000000000'],
  [1773482400.5, '1773482400500000000'],
  [1773482400123, '1773482400123000000'],
  ['yesterday', null],
  ['', null],
  [0, null],
  [null, null],
  [undefined, null],
])('%j is %j nanoseconds', (value, expected) => {
  expect(toUnixNano(value)).toBe(expected);
});

it.each([
  ['dir/run.json', 'run'],
  ['C:\\logs\\run.jsonl', 'run'],
  ['run.json#2', 'run.json#2'],
  ['run', 'run'],
  ['.json', '.json'],
])('the stem of %s is %s', (source, stem) => {
  expect(sourceStem(source)).toBe(stem);
});
