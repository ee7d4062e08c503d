import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');

export interface AppWithPackage {
  /** Holds everything that was made; remove it afterwards. */
  readonly folder: string;
  /** A project that has the package installed, and nothing of this repository but what it depends on. */
  readonly app: string;
}

/**
 * The package as npm packs it, in a project of somebody else. `build` fills its `dist`; `beside` names what npm would
 * install with it: what is not named is not there, so that nothing can ask for it.
 */
export async function appWithPackage(
  build: (dist: string) => Promise<void>,
  beside: readonly string[],
): Promise<AppWithPackage> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-package-'));
  const source = path.join(folder, 'package');
  const app = path.join(folder, 'app');
  await mkdir(path.join(source, 'dist'), { recursive: true });
  await cp(path.join(root, 'package.json'), path.join(source, 'package.json'));
  await build(path.join(source, 'dist'));
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: source,
  });
  const [tarball] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  await mkdir(path.join(app, 'node_modules/rootspan'), { recursive: true });
  execFileSync('tar', ['-xzf', path.join(folder, tarball ?? ''), '--strip-components=1'], {
    cwd: path.join(app, 'node_modules/rootspan'),
  });
  for (const name of beside) {
    await mkdir(path.dirname(path.join(app, 'node_modules', name)), { recursive: true });
    await symlink(path.join(root, 'node_modules', name), path.join(app, 'node_modules', name));
  }
  await writeFile(path.join(app, 'package.json'), '{"name":"somebody-elses-app"}');
  return { folder, app };
}
