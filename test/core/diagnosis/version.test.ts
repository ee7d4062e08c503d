import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ROOTSPAN_VERSION } from '../../../core/diagnosis/version.ts';

const root = path.resolve(import.meta.dirname, '../../..');

test('the version in provenance is that of the package', () => {
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  expect(ROOTSPAN_VERSION).toBe(version);
});
