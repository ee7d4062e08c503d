import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConstruct, buildLambdas, lambdaSteps } from '../../scripts/lambda-bundles.ts';
import {
  buildPackage,
  buildReportPages,
  buildTypes,
  INSTALL_BUDGET_MB,
  installSizes,
} from '../../scripts/package-bundles.ts';
import { appWithPackage } from '../helpers/packed-package.ts';

/** The library and the command line as somebody else's project gets them: from the packed package. */

const root = path.resolve(import.meta.dirname, '../..');
const DEPENDENCIES = Object.keys(
  (JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { dependencies: object })
    .dependencies,
);
let folder: string;
let app: string;
let metafile: Metafile;

beforeAll(async () => {
  ({ folder, app } = await appWithPackage(
    async (dist) => {
      [metafile] = await Promise.all([
        buildPackage(dist),
        buildLambdas(path.join(dist, 'lambdas'), lambdaSteps()),
        buildConstruct(dist),
        buildReportPages(dist),
      ]);
      buildTypes(dist);
    },
    [...DEPENDENCIES, 'aws-cdk-lib', 'constructs'],
  ));
  await cp(path.join(root, 'examples/airline-refund.json'), path.join(app, 'session.json'));
}, 180_000);
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Runs Node in the project. Standard output. */
const node = (args: readonly string[]): string =>
  execFileSync(process.execPath, args, { cwd: app, encoding: 'utf8' });

const installed = (...parts: string[]): string => path.join(app, 'node_modules/rootspan', ...parts);

describe('a model of the caller, in plain JavaScript', () => {
  it('as the README shows it', async () => {
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    const example = /```js\n([\s\S]*?)```/u.exec(readme)?.[1] ?? '';
    expect(example).toContain('ask');
    await writeFile(path.join(app, 'example.mjs'), example);
    // The service that the example calls: an answer in its shape, and a record of what it was sent.
    await writeFile(
      path.join(app, 'service.mjs'),
      `const prompts = [];
globalThis.fetch = async (_url, { body }) => {
  prompts.push(JSON.parse(body).prompt);
  return Response.json({ text: '{"failures":[],"rootCauses":[],"criticalSteps":[]}', tokensIn: 700, tokensOut: 20 });
};
process.on('exit', () => console.log(JSON.stringify(prompts)));`,
    );
    const out = node(['--import', './service.mjs', 'example.mjs']).trim().split('\n');
    const prompts = JSON.parse(out.at(-1) ?? '') as string[];
    expect(prompts.length).toBeGreaterThan(0);
    expect(prompts[0]).toContain('List the failures of this run as JSON.');
    expect(prompts[0]).toContain('JSON Schema');
    expect(out.join('\n')).toContain("model: 'our-gateway'");
    expect(out.join('\n')).toMatch(/inputTokens: \d*700|inputTokens: 1400/u);
  });
});

describe('what is loaded', () => {
  /** Source files and modules of Node that a run loaded. */
  async function loadedBy(args: readonly string[]): Promise<string[]> {
    await writeFile(
      path.join(app, 'trace.mjs'),
      `import { registerHooks } from 'node:module';
import { appendFileSync } from 'node:fs';
registerHooks({ load(url, context, next) { appendFileSync('loaded.txt', url + '\\n'); return next(url, context); } });`,
    );
    await writeFile(path.join(app, 'loaded.txt'), '');
    node(['--import', './trace.mjs', ...args]);
    const urls = readFileSync(path.join(app, 'loaded.txt'), 'utf8').split('\n');
    return urls.flatMap((url) => {
      const at = url.indexOf('/rootspan/dist/');
      if (at === -1) return [url];
      const name = url.slice(at + '/rootspan/dist/'.length);
      const output = Object.entries(metafile.outputs).find(([file]) => file.endsWith(`/dist/${name}`))?.[1];
      if (output === undefined) throw new Error(`the build does not know ${name}`);
      return Object.keys(output.inputs);
    });
  }
  const AWS = /@aws-sdk|@smithy/u;
  const LOCAL_STORE = /node:sqlite|adapters\/local\//u;

  it.each<[string, () => string[]]>([
    ['the library', () => ['--input-type=module', '--eval', "await import('rootspan')"]],
    ['the models', () => ['--input-type=module', '--eval', "await import('rootspan/models')"]],
    ['rootspan --help', () => [installed('dist/cli/rootspan.mjs'), '--help']],
    [
      'a diagnosis without a store',
      () => [
        installed('dist/cli/rootspan.mjs'),
        ...['diagnose', 'session.json', '--store', 'none', '--exit-zero'],
      ],
    ],
  ])('%s: neither AWS clients nor the local store', async (_name, args) => {
    const loaded = await loadedBy(args());
    expect(
      loaded.some(
        (file) => file.startsWith('core/') || file.startsWith('cli/') || file.startsWith('adapters/models/'),
      ),
    ).toBe(true);
    expect(loaded.filter((file) => AWS.test(file) || LOCAL_STORE.test(file))).toEqual([]);
  });

  it('the local store where it is used, and no AWS client beside it; a Bedrock model loads its client', async () => {
    const local = await loadedBy([
      installed('dist/cli/rootspan.mjs'),
      ...['diagnose', 'session.json', '--exit-zero'],
    ]);
    expect(local.some((file) => LOCAL_STORE.test(file))).toBe(true);
    expect(local.filter((file) => AWS.test(file))).toEqual([]);
    const bedrock = await loadedBy([
      '--input-type=module',
      ...['--eval', "await (await import('rootspan/models')).createModel('bedrock:x')"],
    ]);
    expect(bedrock.some((file) => file.includes('@aws-sdk/client-bedrock-runtime'))).toBe(true);
  });
});

describe('types', () => {
  const CONSUMER = `
import { diagnoseSession, readSessions, type Diagnosis, type Model } from 'rootspan';
import { createModel } from 'rootspan/models';
import { SessionDiagnosis } from 'rootspan/cdk';
const own: Model = { spec: 'own', ask: async ({ prompt }) => ({ text: prompt, usage: { inputTokens: 1 } }) };
export async function run(text: string): Promise<Diagnosis['outcome'][]> {
  const { sessions } = readSessions({ text, source: 'x.json' });
  const models: Model[] = [own, await createModel('none')];
  const all = await Promise.all(sessions.map((session) => diagnoseSession(session, { model: models[0] ?? own, now: new Date() })));
  return all.map(({ outcome }) => outcome);
}
export const construct: typeof SessionDiagnosis = SessionDiagnosis;
// @ts-expect-error a model has a spec
export const wrong: Model = { ask: async () => ({ text: '' }) };
`;
  it.each([
    ['node10', 'commonjs', 'typescript-5'],
    ['node16', 'node16', 'typescript'],
    ['nodenext', 'nodenext', 'typescript'],
    ['bundler', 'esnext', 'typescript'],
  ])('are found by the resolution %s', async (resolution, module, compiler) => {
    await writeFile(path.join(app, 'consumer.mts'), CONSUMER);
    await writeFile(path.join(app, 'consumer.ts'), CONSUMER);
    const tsc = path.join(
      path.dirname(createRequire(import.meta.url).resolve(`${compiler}/package.json`)),
      'bin/tsc',
    );
    const file = resolution === 'node16' || resolution === 'nodenext' ? 'consumer.mts' : 'consumer.ts';
    const options = [
      ...['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022'],
      ...['--module', module, '--moduleResolution', resolution],
    ];
    // The compiler writes what it finds to standard output.
    expect(spawnSync(process.execPath, [tsc, ...options, file], { cwd: app, encoding: 'utf8' }).stdout).toBe(
      '',
    );
  });
});

it('an install takes at most 40 MB', () => {
  expect(INSTALL_BUDGET_MB).toBe(40);
  const sizes = installSizes(installed('dist'));
  expect([...sizes.keys()]).toEqual(['rootspan', ...DEPENDENCIES]);
  expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(INSTALL_BUDGET_MB);
});
