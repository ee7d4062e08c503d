import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { rootspan, scratchFolder } from '../helpers/cli.ts';

const example = (name: string): string => path.resolve(import.meta.dirname, '../../examples', name);

async function storeOf(...files: string[]): Promise<string> {
  const store = path.join(scratchFolder(), 'store');
  await rootspan(['diagnose', ...files.map(example), '--store', store, '--exit-zero']);
  return store;
}

const plainText = async (argv: readonly string[]) =>
  (await rootspan(argv, { terminal: true, env: { NO_COLOR: '1' } })).out;

describe('commands that read a store', () => {
  it.each([['list'], ['show', 'x'], ['top'], ['report', 'x'], ['compare', 'a', 'b'], ['quarantine', 'list']])(
    '%s makes none that is not there',
    async (...command) => {
      const store = path.join(scratchFolder(), 'none');
      const { exitCode, err } = await rootspan([...command.flat(), '--store', store]);
      expect(exitCode).toBe(2);
      expect(err).toContain('no store at');
      expect(existsSync(store)).toBe(false);
    },
  );
});

describe('list', () => {
  it('combines filters, takes parents, and refuses unknown words', async () => {
    const store = await storeOf(
      'airline-refund.json',
      'warehouse-load-otlp.json',
      'order-status-healthy.json',
    );
    const ids = async (...filters: string[]) =>
      (await rootspan(['list', '--store', store, ...filters])).out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => (JSON.parse(line) as { sessionId: string }).sessionId);
    expect(await ids('--category', 'hallucination')).toEqual(['airline-refund']);
    expect(await ids('--category', 'execution-error', '--agent', 'loader')).toEqual(['warehouse-load-otlp']);
    expect(await ids('--category', 'hallucination', '--agent', 'loader')).toEqual([]);
    expect(await ids('--outcome', 'FAILED', '--model', 'none')).toEqual(['warehouse-load-otlp']);
    expect(await ids('--model', 'bedrock:other')).toEqual([]);
    for (const wrong of [
      ['--category', 'halucination'],
      ['--outcome', 'BROKEN'],
      ['--issue', 'nonsense'],
      ['--since', 'recently'],
    ]) {
      expect((await rootspan(['list', '--store', store, ...wrong])).exitCode, wrong.join(' ')).toBe(2);
    }
  });

  it('finds the sessions of an issue, and marks a version that a later one supersedes', async () => {
    const store = await storeOf('airline-refund.json');
    await rootspan([
      'diagnose',
      example('airline-refund.json'),
      '--depth',
      'checks',
      '--store',
      store,
      '--exit-zero',
    ]);
    const { out } = await rootspan(['list', '--store', store]);
    const items = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { superseded: boolean; issues: { issue: string }[] });
    expect(items.map(({ superseded }) => superseded)).toEqual([false, true]);
    const issue = items[0]?.issues[0]?.issue ?? '';
    expect(
      (await rootspan(['list', '--store', store, '--issue', issue])).out.trim().split('\n'),
    ).toHaveLength(2);
    expect(await plainText(['list', '--store', store])).toContain('superseded');
  });
});

describe('top', () => {
  it('says what fails most, with a session to look at, counting a session once', async () => {
    const store = await storeOf('airline-refund.json', 'loan-desk-schema.json');
    await rootspan([
      'diagnose',
      example('airline-refund.json'),
      '--depth',
      'checks',
      '--store',
      store,
      '--exit-zero',
    ]);
    const text = await plainText(['top', '--store', store]);
    expect(text).toMatch(/2 {2}execution error: tool schema\n.*e\.g\. (airline-refund|loan-desk-schema)/u);
    expect(text).toContain('1  hallucination: capability that does not exist');
  });
});

describe('compare', () => {
  it('tells fixed, new and same', async () => {
    const store = await storeOf('airline-refund.json', 'order-status-healthy.json', 'loan-desk-schema.json');
    const compare = async (a: string, b: string) => {
      const { out } = await rootspan(['compare', a, b, '--store', store]);
      const result = JSON.parse(out) as Record<'fixed' | 'new' | 'same', unknown[]>;
      return [result.fixed.length, result.new.length, result.same.length];
    };
    expect(await compare('airline-refund', 'order-status-healthy')).toEqual([2, 0, 0]);
    expect(await compare('order-status-healthy', 'airline-refund')).toEqual([0, 2, 0]);
    expect(await compare('airline-refund@1', 'airline-refund')).toEqual([0, 0, 2]);
  });
});

describe('show', () => {
  it('gives steps before and after the critical one, and no raw category id', async () => {
    const store = await storeOf('strands-access-denied.json');
    const text = await plainText(['show', 'strands-access', '--context', '1', '--store', store]);
    expect(text).toMatch(/ {2}step 1 · [\s\S]*▶ step 2 · [\s\S]* {2}step 3 · /u);
    expect(text).not.toContain('-category-');
    expect(text).toMatch(/steps\s+count\s+from\s+0/u);
  });

  it('writes text into a pipe when text is asked for, and any format into a file', async () => {
    const store = await storeOf('strands-access-denied.json');
    const { out } = await rootspan(['show', 'strands-access-denied', '--format', 'text', '--store', store]);
    expect(out).toContain('Point of no return');
    const file = path.join(scratchFolder(), 'page.html');
    await rootspan(['show', 'strands-access-denied', '-o', file, '--store', store]);
    expect(readFileSync(file, 'utf8')).toContain('Content-Security-Policy');
  });
});

describe('diagnose', () => {
  it('keeps two files of one name apart, and the same file together', async () => {
    const folder = scratchFolder();
    const store = path.join(folder, 'store');
    const file = (name: string, said: string): string => {
      const at = path.join(folder, name, 'run.json');
      mkdirSync(path.dirname(at), { recursive: true });
      writeFileSync(at, JSON.stringify({ messages: [{ role: 'user', content: said }] }));
      return at;
    };
    const [a, b] = [file('a', 'one'), file('b', 'two')];
    const idsOf = async (...files: string[]) => {
      const { out, err } = await rootspan([
        'diagnose',
        ...files,
        '--store',
        store,
        '--format',
        'ndjson',
        '--exit-zero',
      ]);
      return {
        err,
        ids: out
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as { sessionId: string }).sessionId),
      };
    };
    const both = await idsOf(a, b);
    expect(both.ids[0]).toBe('run');
    expect(both.ids[1]).toMatch(/^run~[0-9a-f]{6}$/u);
    expect(both.err).toContain('"run" is the name of');
    expect((await idsOf(b)).ids).toEqual([both.ids[1]]);
    expect((await idsOf(a)).ids).toEqual(['run']);
  });

  it('under GitHub Actions gives annotations and a step summary beside the result', async () => {
    const summary = path.join(scratchFolder(), 'summary.md');
    const { out, err } = await rootspan(
      ['diagnose', example('strands-access-denied.json'), '--store', 'none'],
      {
        env: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary },
      },
    );
    expect(JSON.parse(out)).toHaveProperty('sessionId', 'strands-access-denied');
    expect(err).toMatch(/^::error title=/mu);
    expect(readFileSync(summary, 'utf8')).toContain('## ❌ strands-access-denied');
  });
});

describe('watch', () => {
  it('prints what is there since the time given and what comes then, each once, until it is interrupted', async () => {
    const store = await storeOf('airline-refund.json');
    let interrupt = (): void => undefined;
    let next: Promise<unknown> | null = null;
    const { out, exitCode } = await rootspan(
      ['watch', '--store', store, '--since', '1d', '--interval', '1'],
      {
        onInterrupt: (handler) => {
          interrupt = handler;
          return () => undefined;
        },
        onOut: (text) => {
          // The second is made only when the first was printed, so it can only have come while watching.
          next ??= rootspan([
            ...['diagnose', example('loan-desk-schema.json'), '--store', store, '--exit-zero'],
          ]);
          if (text.includes('loan-desk-schema')) interrupt();
        },
      },
    );
    await next;
    const ids = out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { sessionId: string }).sessionId);
    expect(ids).toEqual(['airline-refund', 'loan-desk-schema']);
    expect(exitCode).toBe(0);
  });
});
