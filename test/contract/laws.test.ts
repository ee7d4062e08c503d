import { statSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { ErrorName } from '../../core/errors/error-names.ts';
import * as errors from '../../core/errors/errors.ts';
import {
  asImport,
  type Import,
  importsOf,
  readSource as read,
  root,
  sources,
  tracked,
} from '../helpers/import-graph.ts';

/** The layout of design.md as a test: who may import whom, who may touch what, what things are called. */

/** Libraries without effects: parsers, validators, evaluators. */
const PURE = new Set(['zod', 'ajv', 'js-tiktoken', 're2js', 'yaml', '@marcbachmann/cel-js']);
const CDK = new Set(['aws-cdk-lib', 'constructs', 'cdk-nag']);

const folder = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '');

/** Answers null when the import is allowed, else the rule it breaks. */
function broken(i: Import): string | null {
  const from = folder(i.file);
  const step = /^lambdas\/([^/]+)\/([^/]+)\.ts$/.exec(i.file);
  const sameStep = (target: string): boolean =>
    step !== null && path.posix.dirname(target) === path.posix.dirname(i.file);
  const target = i.target;
  const isNode = i.module.startsWith('node:');
  switch (from) {
    case 'core':
      if (target !== null) return folder(target) === 'core' ? null : 'core imports only core';
      // Of Node only its hash function: eight times as fast as one in JavaScript, and as pure.
      return PURE.has(i.module) || (i.specifier === 'node:crypto' && i.file === 'core/base/hash.ts')
        ? null
        : 'core imports only pure libraries';
    case 'report':
      // What runs in the reader's browser is bundled into the pages: nobody else imports it.
      if (target?.startsWith('report/client/') && !i.file.startsWith('report/client/'))
        return 'report/client is bundled, not imported';
      if (target !== null) return /^(core|report)\//.test(target) ? null : 'report imports only core';
      return isNode || CDK.has(i.module) || i.module.startsWith('@aws-sdk') ? 'report is pure' : null;
    case 'adapters':
      if (target !== null) return /^(core|adapters)\//.test(target) ? null : 'adapters import only core';
      return CDK.has(i.module) ? 'adapters know no CDK' : null;
    case 'lambdas': {
      if (step === null) return 'a Lambda step is lambdas/<step>/<file>.ts';
      if (step[2] === 'env') {
        if (target !== null) return target.startsWith('core/ports/') ? null : 'env imports core/ports';
        return i.module === 'zod' ? null : 'env imports only zod';
      }
      if (target !== null && (sameStep(target) || folder(target) === 'core')) return null;
      if (target !== null && folder(target) === 'adapters')
        return step[2] === 'index' ? null : 'only index.ts builds adapters';
      if (target !== null) return 'a step imports core, and index.ts adapters';
      if (step[2] === 'index') return CDK.has(i.module) ? 'lambdas know no CDK' : null;
      return PURE.has(i.module) || i.module === 'aws-lambda' ? null : 'a handler imports only core and zod';
    }
    case 'lib':
      if (target !== null)
        return /^(lib\/|core\/(ports|errors)\/)/.test(target) || /^lambdas\/[^/]+\/env\.ts$/.test(target)
          ? null
          : 'lib imports lambdas/*/env.ts, core/ports and core/errors';
      return CDK.has(i.module) || isNode || i.module === 'zod' ? null : 'lib imports only CDK';
    case 'bin':
      if (target !== null) return /^(lib|bin)\//.test(target) ? null : 'bin imports only lib';
      return CDK.has(i.module) || isNode ? null : 'bin imports only CDK';
    case 'cli':
      if (target !== null)
        // `rootspan ingest` feeds the very handlers that run in the account (issue "Telemetry in", desk version).
        // `rootspan bench accuracy` is the accuracy benchmark itself (issue "Measure it").
        return /^(cli|adapters|core|report)\//.test(target) ||
          /^lambdas\/[^/]+\/handler\.ts$/.test(target) ||
          (i.file === 'cli/commands/bench.ts' && target === 'bench/accuracy.ts')
          ? null
          : 'cli imports adapters, core, report and handlers';
      return CDK.has(i.module) ? 'cli knows no CDK' : null;
    case 'bench':
      if (target !== null)
        // What is measured is what is shipped: the very bundles of the build, and the synthesised state machine under
        // the interpreter that the parity test trusts. Second copies of either would measure something else.
        // A benchmark is a command: its exit codes are those of the command line.
        return /^(bench|adapters|core)\//.test(target) ||
          target === 'cli/shell/exit-codes.ts' ||
          (i.file === 'bench/reading/read-once.ts' && target.startsWith('cli/shell/')) ||
          /^lambdas\/[^/]+\/handler\.ts$/.test(target) ||
          (/^bench\/speed\/[^/]+\.ts$/.test(i.file) && target === 'scripts/lambda-bundles.ts') ||
          (i.file === 'bench/report-page.ts' && target === 'test/helpers/browser.ts') ||
          (i.file === 'bench/speed/state-machine.ts' &&
            /^test\/helpers\/(embedded-dynamo|local-workflow|synthesised)\.ts$/.test(target))
          ? null
          : 'bench imports core, adapters and handlers';
      return CDK.has(i.module) ? 'bench knows no CDK' : null;
    case '':
      if (target !== null)
        return /^(core|adapters)\//.test(target) ? null : 'the library is core and adapters';
      return null;
    case 'scripts':
    case 'test':
    case 'examples':
      return null;
    default:
      return `no such folder: ${from}`;
  }
}

/** Global names that the code of a file uses, found by the parser and not by spelling. */
function globalsUsed(file: string): string {
  const names = ['process', 'console', 'Date', 'Math', 'fetch', 'setTimeout', 'setInterval', 'performance'];
  const define = Object.fromEntries(names.map((name) => [name, `GLOBAL_${name}`]));
  return transformSync(read(file), { loader: file.endsWith('.tsx') ? 'tsx' : 'ts', define, target: 'node24' })
    .code;
}

describe('the import law', () => {
  it('has files to judge', () => {
    expect(sources.length).toBeGreaterThan(10);
    expect(importsOf('core/diagnosis/schema.ts').map((i) => i.specifier)).toEqual([
      'zod',
      '../vocabulary/critical-categories.ts',
      './feedback.ts',
    ]);
  });

  it('every import is one the layout allows', () => {
    const offences = sources
      .flatMap((file) => importsOf(file))
      .map((i) => ({ i, rule: broken(i) }))
      .filter(({ rule }) => rule !== null)
      .map(({ i, rule }) => `${i.file} imports ${i.specifier}: ${rule}`);
    expect(offences).toEqual([]);
  });

  it('knows an offence when it sees one', () => {
    const of = (file: string, specifier: string): string | null => broken(asImport(file, specifier));
    expect(of('core/checks/x.ts', 'node:fs')).not.toBeNull();
    expect(of('core/checks/x.ts', '../../adapters/local/x.ts')).not.toBeNull();
    expect(of('lambdas/merge/handler.ts', '../../adapters/aws/x.ts')).not.toBeNull();
    expect(of('lambdas/merge/index.ts', '../../adapters/aws/x.ts')).toBeNull();
    expect(of('lambdas/merge/index.ts', '../preflight/handler.ts')).not.toBeNull();
    expect(of('lib/workflow/x.ts', '../../lambdas/merge/handler.ts')).not.toBeNull();
    expect(of('lib/workflow/x.ts', '../../lambdas/merge/env.ts')).toBeNull();
    expect(of('report/html.ts', 'node:fs')).not.toBeNull();
    expect(of('bench/accuracy/x.ts', '../../scripts/lambda-bundles.ts')).not.toBeNull();
    expect(of('bench/speed/x.ts', '../../test/helpers/synthesised.ts')).not.toBeNull();
  });

  it('zod is imported whole, because the named import is five times as large in a bundle', () => {
    const offences = sources.filter(
      // A value below `z.core` brings all of it too; its types cost nothing.
      (file) =>
        /^import \{[^}]*\} from 'zod'/m.test(read(file)) || /\bz\.core\.[a-z]/.test(globalsUsed(file)),
    );
    expect(offences).toEqual([]);
  });
});

describe('effects', () => {
  it('core uses no process, console, clock, chance, timer or network', () => {
    const forbidden =
      /GLOBAL_(process|console|fetch|setTimeout|setInterval|performance)\b|GLOBAL_Date\.now|GLOBAL_Date\(\)|new GLOBAL_Date\b(?!\()|GLOBAL_Math\.random/;
    const offences = sources
      // The pages of report/client run in a browser, where timers are the only way to wait.
      .filter(
        (file) =>
          folder(file) === 'core' || (folder(file) === 'report' && !file.startsWith('report/client/')),
      )
      .map((file) => ({ file, found: forbidden.exec(globalsUsed(file))?.[0] }))
      .filter(({ found }) => found !== undefined);
    expect(offences).toEqual([]);
  });

  it('only index.ts of a Lambda and the command line read the environment', () => {
    const mayRead = (file: string): boolean =>
      /^lambdas\/[^/]+\/index\.ts$/.test(file) || /^(cli|bin|scripts|bench|test)\//.test(file);
    const offences = sources.filter(
      (file) => !mayRead(file) && globalsUsed(file).includes('GLOBAL_process.env'),
    );
    expect(offences).toEqual([]);
  });
});

describe('errors', () => {
  const classes = Object.entries(errors).filter(
    ([name, value]) => typeof value === 'function' && name !== 'RootspanError',
  );

  it('each error class carries the literal name of its class, and each listed name has one class', () => {
    const names = classes.map(([name, value]) => {
      const instance: unknown = Reflect.construct(value as new (...args: unknown[]) => unknown, ['x', []]);
      expect(instance).toBeInstanceOf(Error);
      expect((instance as Error).name).toBe(name);
      return name;
    });
    expect(names.sort()).toEqual(Object.values(ErrorName).sort());
  });

  it('no other file of the product makes an error without a listed name', () => {
    const offences = sources.filter(
      (file) =>
        /^(core|adapters|lambdas|lib|report)\//.test(file) &&
        file !== 'core/errors/errors.ts' &&
        // A subclass of a listed error keeps its parent's name, which is what the state machine matches.
        /\bclass\s+\w+\s+extends\s+(?:Rootspan|Type|Range|Syntax|Aggregate)?Error\b/.test(read(file)),
    );
    expect(offences).toEqual([]);
  });

  it('an error name is spelt in one place; the others refer to it', () => {
    const names = Object.values(ErrorName).join('|');
    const literal = new RegExp(`['"\`](?:${names})['"\`]`);
    const offences = sources.filter(
      (file) =>
        /^(core|adapters|lambdas|lib|cli)\//.test(file) &&
        file !== 'core/errors/error-names.ts' &&
        literal.test(globalsUsed(file)),
    );
    expect(offences).toEqual([]);
  });
});

describe('the runbook', () => {
  it('has a heading for each error name and each dead-letter queue', () => {
    const headings = [...read('docs/runbook.md').matchAll(/^## (.+)$/gm)].map((match) => match[1] ?? '');
    const queues = sources
      .filter((file) => file.startsWith('lib/'))
      .flatMap((file) => [...read(file).matchAll(/'(Dead[A-Z]\w+)'/g)].map((match) => match[1] ?? ''))
      .map((id) => id.replace(/(?<=[a-z])(?=[A-Z])/g, ' '))
      .map((words) => words.charAt(0) + words.slice(1).toLowerCase());
    expect(queues.length).toBeGreaterThan(0);
    expect([...Object.values(ErrorName), ...queues].filter((name) => !headings.includes(name))).toEqual([]);
  });
});

describe('the tree', () => {
  it('source files and folders are kebab-case, and none is called utils', () => {
    const name = /^[a-z0-9]+(-[a-z0-9]+)*(\.browser)?(\.test|\.d|\.config)?\.tsx?$/;
    const folder = /^[a-z0-9]+(-[a-z0-9]+)*$/;
    const offences = sources.filter((file) => {
      const segments = file.split('/');
      const base = segments.pop() ?? '';
      return (
        !name.test(base) ||
        !segments.every((segment) => folder.test(segment)) ||
        [...segments, base.replace(/\..*$/, '')].some((part) => /^(utils?|common|misc)$/.test(part))
      );
    });
    expect(offences).toEqual([]);
  });

  it('no tracked file is over 1 MB', () => {
    expect(tracked.filter((file) => statSync(path.join(root, file)).size > 1_000_000)).toEqual([]);
  });

  it('the lock file names versions and checksums, not download addresses', () => {
    expect(read('package-lock.json')).not.toMatch(/"resolved":\s*"https?:/);
  });

  it('dependencies are pinned exactly', () => {
    const manifest: { dependencies: object; devDependencies: object } = JSON.parse(read('package.json'));
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^(npm:[\w-]+@)?\d+\.\d+\.\d+$/.test(String(version)))).toEqual(
      [],
    );
  });

  it('no text names a folder of the machine it was written on', () => {
    const machine = new RegExp(['/work', '(shared|main|wt-[a-z]+|\\.library)\\b'].join('/'));
    const offences = tracked.filter(
      (file) => /\.(ts|md|json|yml|yaml|sh)$/.test(file) && machine.test(read(file)),
    );
    expect(offences).toEqual([]);
  });
});
