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
  new SessionDiagnosis(stack, 'Diagnosis', { models: ['bedrock:eu.anthropic.claude-sonnet-4-6'], logGroups: ['aws/spans'] });
}
const both = new Stack(app, 'Both');
new SessionDiagnosis(both, 'Support', { models: ['bedrock:eu.anthropic.claude-sonnet-4-6'], logGroups: ['agents/support'] });
new SessionDiagnosis(both, 'Sales', { models: ['bedrock:eu.anthropic.claude-sonnet-4-6'], logGroups: ['agents/sales'] });
const { stacks } = app.synth();
const functions = Object.fromEntries(stacks.map(({ stackName, template }) =>
  [stackName, Object.values(template.Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function').length]));
console.log(JSON.stringify(functions));
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
  const functions: Record<string, number> = JSON.parse(out);
  const one = functions.First ?? 0;
  expect(one).toBeGreaterThanOrEqual(lambdaSteps().length);
  // `Both` holds two instances.
  expect(functions).toEqual({ First: one, Second: one, Both: 2 * one });
});
