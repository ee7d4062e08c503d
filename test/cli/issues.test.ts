import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { rootspan, scratchFolder } from '../helpers/cli.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/strands-access-denied.json');

interface Told {
  readonly outcome: string;
  readonly failures: { span_id: string }[];
  readonly suppressed: { spanId: string; issue: string; rejectedIn: string }[];
  readonly feedback: { spanId: string; verdict: string }[];
}
interface Listed {
  readonly issue: string;
  readonly state: string;
  readonly sessions: number;
}

async function aStore() {
  const store = path.join(scratchFolder(), 'store');
  const run = async (...argv: string[]) => await rootspan([...argv, '--store', store]);
  const diagnose = async (): Promise<Told> =>
    JSON.parse((await run('diagnose', EXAMPLE, '--exit-zero', '--json')).out) as Told;
  const issues = async (...flags: string[]): Promise<Listed[]> =>
    (await run('issues', 'list', ...flags)).out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Listed);
  return { run, diagnose, issues, first: await diagnose() };
}

describe('issues', () => {
  it('are made by diagnoses, once a session, and move by their commands', async () => {
    const { run, diagnose, issues } = await aStore();
    await diagnose();
    const listed = await issues();
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.every(({ sessions, state }) => sessions === 1 && state === 'open')).toBe(true);
    const { issue } = listed[0] as Listed;
    expect((await run('issues', 'resolve', issue)).exitCode).toBe(0);
    expect((await issues('--state', 'resolved')).map((each) => each.issue)).toEqual([issue]);
    // Its session ended before: no return.
    await diagnose();
    expect((await issues()).map((each) => each.issue)).not.toContain(issue);
    await run('issues', 'mute', issue);
    expect(JSON.parse((await run('issues', 'show', issue)).out)).toMatchObject({ issue, state: 'muted' });
    await run('issues', 'reopen', issue);
    expect((await issues()).map((each) => each.issue)).toContain(issue);
    const text = await rootspan(['issues', '--store', path.join(scratchFolder(), 'none')]);
    expect(text.exitCode).toBe(2);
    expect((await run('issues', 'show', '0123456789abcdef')).exitCode).toBe(2);
    expect((await run('issues', 'show', 'nonsense')).exitCode).toBe(2);
  });
});

describe('feedback', () => {
  it('is kept and shown, and what is rejected is left out of later diagnoses, which say so; confirm takes it back', async () => {
    const { run, diagnose, first } = await aStore();
    const rejected = first.failures[0]?.span_id ?? '';
    const session = 'strands-access-denied';
    const { err } = await run('feedback', session, '1', 'reject', '--note', 'a test of ours');
    expect(err).toMatch(/rejected; of issue [0-9a-f]{16}/u);
    const shown = (await run('show', session, '--format', 'text')).out;
    expect(shown).toMatch(/Feedback\n.*rejected on .*a test of ours/u);

    const later = await diagnose();
    expect(later.failures.map(({ span_id }) => span_id)).not.toContain(rejected);
    expect(later.suppressed).toMatchObject([{ spanId: rejected, rejectedIn: session }]);
    expect(later.outcome).not.toBe('FAILED');
    for (const format of ['text', 'md', 'html'])
      expect((await run('show', session, '--format', format)).out, format).toMatch(/left out\s+at\s+span/u);
    // The same again changes nothing.
    expect(await diagnose()).toEqual({ ...later, createdAt: expect.any(String), usage: expect.anything() });

    await run('feedback', session, rejected, 'confirm');
    const back = await diagnose();
    expect(back.failures.map(({ span_id }) => span_id)).toContain(rejected);
    expect(back.suppressed).toEqual([]);
    const stored = JSON.parse((await run('show', session, '--json')).out) as Told;
    expect(stored.feedback).toMatchObject([{ spanId: rejected, verdict: 'confirmed' }]);
  });

  it('refuses a failure that is not there, and another word', async () => {
    const { run } = await aStore();
    expect((await run('feedback', 'strands-access-denied', '99', 'reject')).exitCode).toBe(2);
    expect((await run('feedback', 'strands-access-denied', '1', 'perhaps')).exitCode).toBe(2);
  });
});
