import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { toStrandsJson } from '../../core/report-build/strands.ts';
import { toPromptfooTests, toStrandsCases } from '../../report/formats/regression-cases.ts';
import { aDiagnosis } from '../helpers/a-diagnosis.ts';
import { scratchFolder } from '../helpers/cli.ts';

/** Exports, read by the very programs that they are for. Neither is a dependency: where one is absent, it is said. */

const hostile = aDiagnosis({
  sessionId: 'ends with {{ braces }} and "quotes"',
  goal: 'a: b\n- {{ env.HOME }}',
});
const diagnoses = [aDiagnosis(), hostile];

const python = process.env.ROOTSPAN_BENCH_PYTHON ?? 'python3';
const hasStrands = spawnSync(python, ['-c', 'import strands_evals.detectors']).status === 0;
if (!hasStrands)
  process.stderr.write(
    'skipped: no Strands Evals here, so its models do not load our export (pip install strands-agents-evals==1.7.0; ROOTSPAN_BENCH_PYTHON names the Python)\n',
  );

describe.skipIf(!hasStrands)('Strands Evals', () => {
  const load = (exported: object, cases: object) => {
    const folder = scratchFolder();
    const files = Object.entries({ export: exported, cases }).map(([name, value]) => {
      const file = path.join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify(value));
      return file;
    });
    return spawnSync(python, [path.join(import.meta.dirname, 'strands-models.py'), ...files], {
      encoding: 'utf8',
    });
  };

  it.each(diagnoses)(
    'loads the export and the cases of $sessionId',
    (diagnosis) => {
      const { stdout, stderr } = load(toStrandsJson(diagnosis), toStrandsCases([diagnosis]));
      const [last = stderr] = stdout.trim().split('\n').slice(-1);
      const loaded = JSON.parse(last) as { failures: object[]; rootCauses: number; cases: string[][] };
      expect(loaded.failures).toEqual(
        diagnosis.failures.map(({ span_id, category, confidence, evidence }) => ({
          span_id,
          category,
          confidence,
          evidence,
        })),
      );
      expect(loaded.rootCauses).toBe(diagnosis.rootCauses.length);
      expect(loaded.cases[0]?.slice(0, 2)).toEqual([`rootspan-${diagnosis.sessionId}`, diagnosis.goal]);
    },
    60_000,
  );

  it('refuses what is not of its shape', () => {
    const broken = { ...toStrandsJson(aDiagnosis()), failures: [{ span_id: 1 }] };
    expect(load(broken, toStrandsCases(diagnoses)).status).not.toBe(0);
  }, 60_000);
});

const promptfoo = process.env.ROOTSPAN_PROMPTFOO;
const hasPromptfoo = promptfoo !== undefined && existsSync(promptfoo);
if (!hasPromptfoo)
  process.stderr.write(
    'skipped: no promptfoo here, so it does not validate our cases (npm install promptfoo elsewhere; ROOTSPAN_PROMPTFOO names its dist/src/main.js)\n',
  );

describe.skipIf(!hasPromptfoo)('promptfoo', () => {
  const validate = (tests: unknown) => {
    const folder = scratchFolder();
    const config = { prompts: ['{{input}}'], providers: ['echo'], tests };
    writeFileSync(path.join(folder, 'promptfooconfig.json'), JSON.stringify(config));
    return spawnSync(
      process.execPath,
      [promptfoo ?? '', 'validate', 'config', '-c', path.join(folder, 'promptfooconfig.json')],
      {
        cwd: folder,
        encoding: 'utf8',
        env: {
          ...process.env,
          PROMPTFOO_CONFIG_DIR: folder,
          PROMPTFOO_DISABLE_TELEMETRY: '1',
          PROMPTFOO_DISABLE_UPDATE: '1',
        },
      },
    );
  };

  it('takes the cases as the tests of a configuration', () => {
    const { status, stdout, stderr } = validate(toPromptfooTests(diagnoses));
    expect(`${stdout}${stderr}`).toMatch(/valid/iu);
    expect(status).toBe(0);
  }, 120_000);

  it('and refuses what is no test of its own', () => {
    const { status, stdout, stderr } = validate([{ description: 7, assert: 'none' }]);
    expect(`${stdout}${stderr}`).toMatch(/invalid|expected/iu);
    expect(status).not.toBe(0);
  }, 120_000);
});
