import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildConstruct, buildLambdas, lambdaSteps } from '../../scripts/lambda-bundles.ts';

/** The construct as a CDK app of somebody else gets it: from the packed package, without a clone, a build or esbuild. */

const root = path.resolve(import.meta.dirname, '../..');
let folder: string;
let app: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-package-'));
  const source = path.join(folder, 'package');
  app = path.join(folder, 'app');
  await mkdir(path.join(source, 'dist'), { recursive: true });
  await cp(path.join(root, 'package.json'), path.join(source, 'package.json'));
  await Promise.all([
    buildLambdas(path.join(source, 'dist/lambdas'), lambdaSteps()),
    buildConstruct(path.join(source, 'dist')),
  ]);
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], {
    cwd: source,
  });
  const [tarball] = (await readdir(folder)).filter((file) => file.endsWith('.tgz'));
  await mkdir(path.join(app, 'node_modules/rootspan'), { recursive: true });
  execFileSync('tar', ['-xzf', path.join(folder, tarball ?? ''), '--strip-components=1'], {
    cwd: path.join(app, 'node_modules/rootspan'),
  });
  // What npm would install beside it; the package's other dependencies are not there, so none may be asked for.
  for (const name of ['aws-cdk-lib', 'constructs', 'zod'])
    await symlink(path.join(root, 'node_modules', name), path.join(app, 'node_modules', name));
  await writeFile(path.join(app, 'package.json'), '{"name":"somebody-elses-app"}');
}, 120_000);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const BODY = `
const app = new App();
for (const name of ['First', 'Second']) {
  const stack = new Stack(app, name);
  new SessionDiagnosis(stack, 'Diagnosis', { logGroups: ['aws/spans'] });
}
const { stacks } = app.synth();
const functions = stacks.map(({ template }) =>
  Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function').length);
console.log(JSON.stringify({ stacks: stacks.length, functions }));
`;

it.each([
  [
    'CommonJS',
    'app.cjs',
    "const { App, Stack } = require('aws-cdk-lib'); const { SessionDiagnosis } = require('rootspan/cdk');",
  ],
  [
    'ES modules',
    'app.mjs',
    "import { App, Stack } from 'aws-cdk-lib'; import { SessionDiagnosis } from 'rootspan/cdk';",
  ],
])('synthesises in an empty app of %s', async (_name, file, head) => {
  await writeFile(path.join(app, file), head + BODY);
  const out = execFileSync(process.execPath, [file], { cwd: app, encoding: 'utf8' });
  const { stacks, functions }: { stacks: number; functions: number[] } = JSON.parse(out);
  expect(stacks).toBe(2);
  expect(functions[0]).toBeGreaterThanOrEqual(lambdaSteps().length);
  expect(functions[1]).toBe(functions[0]);
});
