import { expect, it } from 'vitest';
import { sourceStem } from '../../../../core/reading/transcripts/fields.ts';

it.each([
  ['dir/run.json', 'run'],
  ['C:\\logs\\run.jsonl', 'run'],
  ['run.json#2', 'run.json#2'],
  ['run', 'run'],
  ['.json', '.json'],
])('the stem of %s is %s', (source, stem) => {
  expect(sourceStem(source)).toBe(stem);
});
