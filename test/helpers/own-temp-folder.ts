import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * All temporary files of a run lie in one folder, which goes with it: also what the CDK leaves, and what a test that
 * broke off could not remove. Workers take their environment from here.
 */
export default function ownTempFolder(): () => void {
  const before = process.env.TMPDIR;
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rootspan-tests-'));
  process.env.TMPDIR = folder;
  return () => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(folder, { recursive: true, force: true });
  };
}
