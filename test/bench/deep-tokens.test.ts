import { expect, test } from 'vitest';
import { benchDeepTokens } from '../../bench/deep-tokens.ts';
import { sharedPath } from '../helpers/shared-data.ts';

const root = sharedPath('bench', 'dev');

test.skipIf(root === null)(
  'one-shot deep stays under 2.5 judges, step by step under a tenth of the reference',
  async () => {
    expect(await benchDeepTokens([root ?? ''])).toBe(0);
  },
  120_000,
);
