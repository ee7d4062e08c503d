import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchFolder } from '../helpers/cli.ts';

/** What only a process of its own shows: the version of Node, and the folder where the user stands. */

const root = path.resolve(import.meta.dirname, '../..');
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}, nodeArgs: string[] = []) =>
  spawnSync(process.execPath, [...nodeArgs, path.join(root, 'cli/main.ts'), ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });

describe('the process', () => {
  it.each(['18.20.4', '20.19.0', '22.12.0'])('on Node %s says in one line which it needs', (version) => {
    const older = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`;
    const { status, stderr, stdout } = run(['list'], {}, ['--import', older]);
    expect(stderr).toBe(`rootspan: needs Node.js 22.13 or newer, this is ${version}\n`);
    expect(stdout).toBe('');
    expect(status).toBe(3);
  });

  it('under `npm run rootspan` takes relative paths from where the user stands', () => {
    const here = scratchFolder();
    cpSync(path.join(root, 'examples/order-status-healthy.json'), path.join(here, 'mine.json'));
    const args = ['diagnose', 'mine.json', '--store', 'none', '--exit-zero', '--format', 'ndjson'];
    const through = run(args, { npm_lifecycle_event: 'rootspan', INIT_CWD: here });
    expect(through.stderr).toBe('');
    expect((JSON.parse(through.stdout) as { sessionId: string }).sessionId).toBe('order-status-healthy');
    // Without npm in between the process stands where the user does.
    expect(run(args, { npm_lifecycle_event: '', INIT_CWD: here }).stderr).toContain('mine.json');
  });
});
