import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { chunkedDiagnosisSection } from '../../bench/speed/chunked-diagnosis.ts';
import { coldImportsSection } from '../../bench/speed/cold-imports.ts';
import { fitLine, growthExponent } from '../../bench/speed/growth.ts';
import { ingestSection } from '../../bench/speed/ingest.ts';
import { planningSection } from '../../bench/speed/planning.ts';
import { promptTokensSection } from '../../bench/speed/prompt-tokens.ts';
import { speedReportSchema } from '../../bench/speed/report.ts';
import type { SpeedSection } from '../../bench/speed/section.ts';
import { SPEED_SECTIONS } from '../../bench/speed/sections.ts';
import { stateMachineSection } from '../../bench/speed/state-machine.ts';
import { tokenRateSection } from '../../bench/speed/token-rate.ts';
import { benchSpeed } from '../../bench/speed.ts';

/** Every section on inputs as small as they can be. What is slow and what is fast is no business of a test. */
const TINY: readonly SpeedSection[] = [
  tokenRateSection,
  planningSection([4, 8], 1),
  promptTokensSection,
  coldImportsSection(['merge'], 1),
  ingestSection([1, 101]),
  chunkedDiagnosisSection({ spans: [4, 100], latencyMs: 0 }),
  stateMachineSection({ spans: 100, contextTokens: [200_000, 12_000], runs: 1 }),
];

let folder: string;
let corpus: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rootspan-speed-'));
  corpus = mkdtempSync(path.join(folder, 'corpus-'));
  const example = path.resolve(import.meta.dirname, '../../examples/airline-refund.json');
  copyFileSync(example, path.join(corpus, 'run.json'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());

/** Runs the command and gives what it printed. */
async function speed(
  args: readonly string[],
  sections = TINY,
): Promise<{ code: number; out: string; err: string }> {
  const out = vi.spyOn(console, 'log').mockImplementation(() => {});
  const err = vi.spyOn(console, 'error').mockImplementation(() => {});
  const code = await benchSpeed(args, sections);
  const printed = (spy: typeof out): string => spy.mock.calls.flat().join('\n');
  return { code, out: printed(out), err: printed(err) };
}

const figuresOf = (file: string): Record<string, number> =>
  Object.fromEntries(
    speedReportSchema
      .parse(JSON.parse(readFileSync(file, 'utf8')))
      .sections.flatMap(({ id, figures }) => figures.map(({ name, value }) => [`${id}/${name}`, value])),
  );

describe('npm run bench -- speed', () => {
  test('the tiny sections are all there are', () => {
    expect(TINY.map(({ id }) => id)).toEqual(SPEED_SECTIONS.map(({ id }) => id));
  });

  test('writes every section as JSON and as pictures, and compares with it', {
    timeout: 180_000,
  }, async () => {
    const json = path.join(folder, 'speed.json');
    const out = path.join(folder, 'pictures');
    const { code } = await speed(['--path', corpus, '--json', json, '--out', out]);
    expect(code).toBe(0);
    const report = speedReportSchema.parse(JSON.parse(readFileSync(json, 'utf8')));
    expect(report.sections.map(({ id }) => id)).toEqual(TINY.map(({ id }) => id));
    for (const { id, figures } of report.sections) {
      expect(figures.length, id).toBeGreaterThan(0);
      expect(new Set(figures.map(({ name }) => name)).size, id).toBe(figures.length);
    }
    const pictures = report.sections.flatMap((section) => section.pictures);
    expect(readdirSync(out).sort()).toEqual(pictures.sort());
    for (const file of pictures) expect(readFileSync(path.join(out, file), 'utf8')).not.toContain('NaN');

    const figures = figuresOf(json);
    expect(figures['token-rate/difference from js-tiktoken']).toBe(0);
    expect(figures['planning/8 spans: chunks']).toBe(1);
    expect(figures['cold-imports/merge: bundle']).toBeGreaterThan(1);
    expect(figures['ingest/200 records: stored once']).toBe(200);
    expect(figures['ingest/200 records: lost']).toBe(0);
    // Preflight, constraints, merge, root cause and the map around its items are entered besides the items.
    const chunks = Object.keys(figures).flatMap((name) => {
      const found = /^state-machine\/(\d+ chunks?): states entered$/.exec(name);
      return found === null ? [] : [found[1] ?? ''];
    });
    expect(chunks[0]).toBe('1 chunk');
    const count = Number(chunks[1]?.split(' ')[0]);
    expect(count).toBeGreaterThan(1);
    const [few = 0, many = 0] = chunks.map((n) => figures[`state-machine/${n}: states entered`]);
    expect(many - few).toBe(count - 1);

    const earlier = { ...report, sections: report.sections.filter(({ id }) => id === 'planning') };
    for (const section of earlier.sections)
      for (const figure of section.figures) if (figure.name === '8 spans: tokens') figure.value /= 2;
    const before = path.join(folder, 'before.json');
    writeFileSync(before, JSON.stringify(earlier));
    const compared = await speed(['--section', 'planning', '--compare', before, '--out', out]);
    expect(compared.out).toMatch(/8 spans: tokens +[\d,]+ tokens +was [\d,]+, × 2\.00$/m);
  });

  test('without benchmark runs leaves out what needs them, and says so', async () => {
    const run = vi.fn(() => ({ figures: [] }));
    const stub = (id: string, needsCorpus: boolean): SpeedSection => ({ id, title: id, needsCorpus, run });
    const both = [stub('with', true), stub('without', false)];
    const absent = path.join(folder, 'absent');
    const asked = await speed(['--path', absent], both);
    expect(asked.code).toBe(2);
    expect(asked.err).toContain(`no folder of benchmark runs at ${absent}`);
    expect(run).not.toHaveBeenCalled();
    const others = await speed(['--path', absent, '--section', 'without'], both);
    expect(others.code).toBe(0);
    expect(run).toHaveBeenCalledOnce();
  });

  test.for([
    [['--section', 'nonsense'], 'unknown section nonsense'],
    [['--compare', 'no/such/file.json'], 'cannot read the earlier figures'],
    [['--nonsense'], 'nonsense'],
  ] as const)('%j is a usage error', async ([args, says]) => {
    const { code, err } = await speed([...args, '--path', corpus], []);
    expect(code).toBe(2);
    expect(err).toContain(says);
    expect(err).toContain('usage: npm run bench -- speed');
  });
});

describe('growth', () => {
  test('the exponent of a power is that power', () => {
    for (const power of [0.5, 1, 2])
      expect(growthExponent([1, 10, 1000].map((x) => [x, 7 * x ** power]))).toBeCloseTo(power, 10);
  });

  test('a line is found through points beside it, by hand', () => {
    // Means 1 and 4; slope = ((-1)(-2) + 0 + (1)(1)) / 2 = 1.5.
    expect(fitLine([0, 1, 2].map((x, i) => [x, [2, 5, 5][i] ?? 0]))).toEqual({ slope: 1.5, intercept: 2.5 });
    expect(() => fitLine([[1, 1]])).toThrow(RangeError);
  });
});
