import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildConstruct, buildLambdas, lambdaSteps } from '../../scripts/lambda-bundles.ts';
import { appWithPackage } from '../helpers/packed-package.ts';

/** The construct as a CDK app of somebody else gets it: from the packed package, without a clone, a build or esbuild. */

let folder: string;
let app: string;

beforeAll(async () => {
  ({ folder, app } = await appWithPackage(
    async (dist) => {
      await Promise.all([buildLambdas(path.join(dist, 'lambdas'), lambdaSteps()), buildConstruct(dist)]);
    },
    ['aws-cdk-lib', 'constructs', 'zod'],
  ));
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
const both = new Stack(app, 'Both');
new SessionDiagnosis(both, 'Support', { logGroups: ['agents/support'] });
new SessionDiagnosis(both, 'Sales', { logGroups: ['agents/sales'] });
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
  expect(stacks).toBe(3);
  expect(functions[0]).toBeGreaterThanOrEqual(lambdaSteps().length);
  expect(functions[1]).toBe(functions[0]);
  // Two instances in one stack.
  expect(functions[2]).toBe(2 * (functions[0] ?? 0));
});
