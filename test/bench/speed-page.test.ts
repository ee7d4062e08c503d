import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { benchPage, PAGE_PARTS, type RunBench } from '../../bench/page.ts';
import { machine, writeDocsSection } from '../../bench/print/docs-section.ts';
import type { SpeedReport } from '../../bench/speed/report.ts';

const PAGE = path.resolve(import.meta.dirname, '../../docs/benchmarks.md');
const real = readFileSync(PAGE, 'utf8');

let folder: string;
let page: string;
let said: string[];
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rootspan-page-test-'));
  page = path.join(folder, 'benchmarks.md');
  said = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => void said.push(line));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const after = (args: readonly string[], flag: string): string => args[args.indexOf(flag) + 1] ?? '';

/** Plays every benchmark: writes the files that it would write, and prints its name. */
const played: RunBench = (args) => {
  const [name = ''] = args;
  if (name === 'accuracy') {
    const dataset = after(args, '--dataset');
    mkdirSync(after(args, '--out'), { recursive: true });
    writeFileSync(path.join(after(args, '--out'), `${dataset}-tolerance.svg`), '<svg/>');
    writeDocsSection(after(args, '--docs'), `Accuracy on ${dataset}: none, standard`, `table of ${dataset}`);
  }
  if (name === 'speed') {
    const id = after(args, '--section');
    const figures = [{ name: 'rate', value: 7, unit: 'x', better: 'higher' as const }];
    const report: SpeedReport = {
      date: '2026-01-01T00:00:00.000Z',
      machine: machine(),
      sections: [{ id, title: `Title of ${id}`, load: 0.5, figures, pictures: [`${id}.svg`] }],
    };
    writeFileSync(after(args, '--json'), JSON.stringify(report));
  }
  return `output of ${name}\n`;
};

describe('docs/benchmarks.md', () => {
  test('has a place for every part, once, and something in it', () => {
    for (const mark of PAGE_PARTS.flatMap(({ marks }) => marks)) {
      const pieces = real.split(`<!-- begin ${mark} -->`);
      expect(pieces.length, mark).toBe(2);
      expect(pieces[1]?.split(`<!-- end ${mark} -->`)[0]?.trim(), mark).not.toBe('');
    }
  });

  test('says what was held out and what is not claimed', () => {
    expect(real).toContain('Accuracy is of the development half');
    expect(real).toContain('No language model was available');
  });

  test('shows pictures that are there', () => {
    const files = [...real.matchAll(/\]\((benchmarks\/[^)]+)\)/g)].map((match) => match[1] ?? '');
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect(existsSync(path.join(path.dirname(PAGE), file)), file).toBe(true);
  });
});

describe('npm run bench -- page', () => {
  test('writes every part between its marks and leaves the rest alone', () => {
    writeFileSync(page, real);
    expect(benchPage(['--path', folder], page, played)).toBe(0);
    const written = readFileSync(page, 'utf8');
    for (const words of [
      'table of agentrx',
      'output of checks',
      'Title of planning',
      'benchmarks/planning.svg',
    ])
      expect(written).toContain(words);
    // Without what stands between marks, before and after are one text.
    const frame = (text: string): string =>
      text.replaceAll(/(<!-- begin ([^>]+) -->)[\s\S]*?(<!-- end \2 -->)/g, '$1$3');
    expect(frame(written)).toBe(frame(real));
    expect(existsSync(path.join(folder, 'benchmarks', 'agentrx-tolerance.svg'))).toBe(true);
  });

  test('leaves as it was, and names, what has no data', () => {
    writeFileSync(page, real);
    const asked: string[] = [];
    const run: RunBench = (args) => {
      asked.push(`${args[0]} ${after(args, '--section')}`);
      return played(args);
    };
    const absent = path.join(folder, 'absent');
    expect(benchPage(['--path', absent], page, run)).toBe(0);
    const needy = PAGE_PARTS.filter(({ needsCorpus }) => needsCorpus);
    expect(said.filter((line) => line.includes('left as it was, there are no benchmark runs'))).toHaveLength(
      needy.length,
    );
    expect(asked.filter((name) => !/^(speed|reference|batch|report-page) /u.test(name))).toEqual([]);
    const between = (text: string, mark: string): string | undefined =>
      text.split(`<!-- begin ${mark} -->`)[1]?.split(`<!-- end ${mark} -->`)[0];
    for (const mark of needy.flatMap(({ marks }) => marks))
      expect(between(readFileSync(page, 'utf8'), mark), mark).toBe(between(real, mark));
  });

  test('a benchmark that fails leaves its part as it was, and the exit code says so', () => {
    writeFileSync(page, real);
    const run: RunBench = () => {
      throw new Error('the benchmark broke');
    };
    expect(benchPage(['--path', folder, '--part', 'checks'], page, run)).toBe(3);
    expect(said.join('\n')).toContain('checks: left as it was, the benchmark broke');
    expect(readFileSync(page, 'utf8')).toBe(real);
  });

  test('a part that is not there is a usage error', () => {
    expect(benchPage(['--part', 'nonsense'], page, played)).toBe(2);
    expect(benchPage(['--nonsense'], page, played)).toBe(2);
    expect(said.join('\n')).toContain('usage: npm run bench -- page');
  });
});
