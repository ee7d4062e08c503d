import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { diagnosisSchema } from '../../core/diagnosis/schema.ts';
import { rootspan, scratchFile, scratchFolder } from '../helpers/cli.ts';
import { chatAnswer, chatError, startChatStub } from '../helpers/stub-chat.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '../../examples/strands-access-denied.json');
const HEALTHY = {
  messages: [
    { role: 'user', content: 'What is two plus two?' },
    { role: 'assistant', content: 'Four.' },
  ],
};
const NOTHING = JSON.stringify({ failures: [] });

test('a failing session: exit code 1, one JSON value on standard output, nothing else', async () => {
  const run = await rootspan(['diagnose', EXAMPLE, '--store', 'none']);
  expect(run.exitCode).toBe(1);
  const diagnosis = diagnosisSchema.parse(JSON.parse(run.out));
  expect(diagnosis.sessionId).toBe('strands-access-denied');
  expect(diagnosis.rootCauses).toHaveLength(diagnosis.failures.length);
  expect(diagnosis.version).toBe(0);
});

test('without a model nothing reads as clean: exit code 4 and the gap is named', async () => {
  const run = await rootspan(['diagnose', scratchFile('s.json', HEALTHY), '--store', 'none']);
  expect(run.exitCode).toBe(4);
  const diagnosis = JSON.parse(run.out);
  expect([diagnosis.outcome, diagnosis.coverage.state]).toEqual(['UNKNOWN', 'PARTIAL']);
  expect(diagnosis.outcomeReason).toMatch(/^no-model/);
  expect(diagnosis.coverage.gaps.length).toBeGreaterThan(0);
});

test('--exit-zero changes the exit code and nothing else', async () => {
  const plain = await rootspan(['diagnose', EXAMPLE, '--store', 'none']);
  const zero = await rootspan(['diagnose', EXAMPLE, '--store', 'none', '--exit-zero']);
  expect([plain.exitCode, zero.exitCode]).toEqual([1, 0]);
  const stable = (text: string) => ({ ...JSON.parse(text), createdAt: '' });
  expect(stable(zero.out).failures).toEqual(stable(plain.out).failures);
});

test('--fail-on counts only the categories it names, by id or parent; an unknown one is a usage error', async () => {
  const ids: string[] = JSON.parse(
    (await rootspan(['diagnose', EXAMPLE, '--store', 'none'])).out,
  ).failures.flatMap((failure: { category: string[] }) => failure.category);
  const parent = ids[0]?.split('-category-')[0] ?? '';
  expect((await rootspan(['diagnose', EXAMPLE, '--store', 'none', '--fail-on', parent])).exitCode).toBe(1);
  const other = await rootspan(['diagnose', EXAMPLE, '--store', 'none', '--fail-on', 'repetitive-behavior']);
  expect(other.exitCode).toBe(4);
  const unknown = await rootspan(['diagnose', EXAMPLE, '--fail-on', 'nonsense']);
  expect(unknown.exitCode).toBe(2);
  expect(unknown.err).toContain('nonsense');
});

test('a session on standard input', async () => {
  const run = await rootspan(['diagnose', '-', '--store', 'none'], { stdin: readFileSync(EXAMPLE, 'utf8') });
  expect(run.exitCode).toBe(1);
  expect(JSON.parse(run.out).goal).toMatch(/revenue/);
});

test.each([
  ['a file that is not there', ['diagnose', 'nowhere.json'], /no such file: nowhere\.json/],
  [
    'a folder without sessions',
    ['diagnose', import.meta.dirname],
    /holds no file of sessions: found \d+ \.ts/,
  ],
  ['no file', ['diagnose'], /missing required argument/],
  ['an unknown option', ['diagnose', EXAMPLE, '--nope'], /unknown option '--nope'/],
  ['an unknown command', ['diagnoze', EXAMPLE], /unknown command 'diagnoze'[\s\S]*diagnose/],
  ['an unknown depth', ['diagnose', EXAMPLE, '--depth', 'abyss'], /abyss/],
  ['a bad model spec', ['diagnose', EXAMPLE, '--store', 'none', '--model', 'gpt'], /gpt/],
  ['a terminal as standard input', ['diagnose', '-'], /standard input, which is a terminal/],
  ['a table without its bucket', ['diagnose', EXAMPLE, '--store', 'table:x'], /table:<name>@<bucket>/],
])('%s: exit code 2, said on standard error only', async (_name, argv, message) => {
  const run = await rootspan(argv);
  expect(run.exitCode).toBe(2);
  expect(run.err).toMatch(message);
  expect(run.out).toBe('');
});

test.each([
  ['no JSON', 'hello'],
  ['an empty object', {}],
  ['an empty list', []],
  ['an empty conversation', { messages: [] }],
])('%s is refused with what was found and expected, never read as clean', async (_name, content) => {
  const run = await rootspan(['diagnose', scratchFile('s.json', content), '--store', 'none']);
  expect(run.exitCode).toBe(2);
  expect(run.err).toMatch(/SessionInvalidError|holds no session/);
});

test('of several files one that cannot be read is said, the others are diagnosed, and the code is not 0', async () => {
  const bad = scratchFile('bad.json', 'hello');
  const run = await rootspan(['diagnose', bad, EXAMPLE, '--store', 'none', '--exit-zero']);
  expect(run.err).toContain(bad);
  expect(JSON.parse(run.out).sessionId).toBe('strands-access-denied');
  expect(run.exitCode).toBe(4);
});

test('several sessions come as several JSON values; --session takes one of them', async () => {
  const file = scratchFile(
    'two.jsonl',
    [
      { session_id: 'a', ...HEALTHY },
      { session_id: 'b', ...HEALTHY },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n'),
  );
  const all = await rootspan(['diagnose', file, '--store', 'none']);
  const ids = [...all.out.matchAll(/^ {2}"sessionId": "(.+)"/gm)].map((match) => match[1] ?? '');
  expect(ids).toHaveLength(2);
  const one = await rootspan(['diagnose', file, '--store', 'none', '--session', ids[1] ?? '']);
  expect(JSON.parse(one.out).sessionId).toBe(ids[1]);
  const none = await rootspan(['diagnose', file, '--store', 'none', '--session', 'zzz']);
  expect(none.exitCode).toBe(2);
  expect(none.err).toContain(ids[0]);
});

test('the start of an id that begins two sessions names both', async () => {
  const store = path.join(scratchFolder(), 'store');
  const chat = (name: string) => scratchFile(name, [{ role: 'user', content: 'Hello?' }]);
  await rootspan(['diagnose', chat('order-1.json'), chat('order-2.json'), '--store', store]);
  const run = await rootspan(['show', 'order', '--store', store]);
  expect(run).toMatchObject({ exitCode: 2, out: '' });
  expect(run.err).toMatch(/begins 2 session ids: order-\d, order-\d/);
});

test('of several sessions the sum is said at the end, and a list that is cut says so', async () => {
  const store = path.join(scratchFolder(), 'store');
  const chat = scratchFile('chat.json', [{ role: 'user', content: 'Hello?' }]);
  const run = await rootspan(['diagnose', EXAMPLE, chat, '--store', store]);
  expect(run.err).toContain(
    '2 of 2 sessions diagnosed (1 FAILED, 1 UNKNOWN), 1 with failures; critical steps: 1 guardrail',
  );
  expect((await rootspan(['diagnose', EXAMPLE, '--store', 'none'])).err).toBe('');
  const list = await rootspan(['list', '--store', store, '--limit', '1']);
  expect(list.out.trim().split('\n')).toHaveLength(1);
  expect(list.err).toContain('there are more');
  expect((await rootspan(['list', '--store', store])).err).toBe('');
});

test('stored, listed, shown; the same session again is the same version', async () => {
  const store = path.join(scratchFolder(), 'store');
  await rootspan(['diagnose', EXAMPLE, '--store', store]);
  const again = await rootspan(['diagnose', EXAMPLE, '--store', store]);
  expect(JSON.parse(again.out).version).toBe(1);
  const list = await rootspan(['list', '--store', store]);
  expect(list.out.trim().split('\n')).toHaveLength(1);
  expect(JSON.parse(list.out)).toMatchObject({ sessionId: 'strands-access-denied', version: 1 });
  const shown = await rootspan(['show', 'strands-access-denied', '--store', store]);
  expect(shown.exitCode).toBe(0);
  expect(JSON.parse(shown.out).failures).toEqual(JSON.parse(again.out).failures);
  const strands = await rootspan(['show', 'strands-access-denied', '--store', store, '--format', 'strands']);
  expect(JSON.parse(strands.out)).toHaveProperty('session_id', 'strands-access-denied');
  const view = await rootspan(['show', 'strands-access-denied', '--store', store], { terminal: true });
  expect(view.out).toContain('Failures (');
  const start = await rootspan(['show', 'strands-acc', '--store', store]);
  expect(JSON.parse(start.out).sessionId).toBe('strands-access-denied');
  expect((await rootspan(['show', 'nobody', '--store', store])).exitCode).toBe(2);
  expect((await rootspan(['list', '--store', store, '--outcome', 'FAILED', '--since', '1h'])).out).not.toBe(
    '',
  );
  expect((await rootspan(['list', '--store', store, '--agent', 'x', '--outcome', 'FAILED'])).out).toBe('');
});

test('batch: waits with code 5 and the requests of all sessions in one round, then ends', async () => {
  const dir = scratchFolder();
  const files = ['one', 'two'].map((word) =>
    scratchFile(`${word}.json`, {
      messages: [
        { role: 'user', content: `Say ${word}.` },
        { role: 'assistant', content: word },
      ],
    }),
  );
  const command = ['diagnose', ...files, '--store', 'none', '--model', `batch:${dir}`];
  const waiting = await rootspan(command);
  expect(waiting.exitCode).toBe(5);
  expect(waiting.out).toBe('');
  expect(waiting.err).toMatch(/2 of 2 sessions/);
  const ids = readFileSync(path.join(dir, 'requests.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).recordId as string);
  expect(new Set(ids).size).toBe(2);
  const answers = ids.map((recordId) => ({
    recordId,
    modelOutput: {
      output: { message: { role: 'assistant', content: [{ text: NOTHING }] } },
      stopReason: 'end_turn',
    },
  }));
  writeFileSync(
    path.join(dir, 'responses.jsonl'),
    answers
      .reverse()
      .map((line) => JSON.stringify(line))
      .join('\n'),
  );
  const done = await rootspan(command);
  expect(done.exitCode).toBe(0);
  expect(done.out.match(/"outcome": "CLEAN",\n {2}"outcomeReason"/g)).toHaveLength(2);
});

test('openai: against a chat-completions server, and the answer is not paid for twice', async () => {
  const server = await startChatStub([chatAnswer(NOTHING)]);
  onTestFinished(() => server.close());
  const store = path.join(scratchFolder(), 'store');
  const file = scratchFile('s.json', HEALTHY);
  const command = ['diagnose', file, '--model', `openai:m@${server.url}/v1`, '--store', store];
  const first = await rootspan(command, { env: { OPENAI_API_KEY: 'key-of-the-test' } });
  expect(first.exitCode).toBe(0);
  expect(JSON.parse(first.out)).toMatchObject({ outcome: 'CLEAN', usage: { inputTokens: 1000 } });
  expect(first.out + first.err).not.toContain('key-of-the-test');
  // The stub has no second answer: asking again would fail.
  expect((await rootspan(command)).exitCode).toBe(0);
});

test('what was recorded is replayed without the model, and a changed session is refused by name', async () => {
  const server = await startChatStub([chatAnswer(NOTHING)]);
  onTestFinished(() => server.close());
  const tape = path.join(scratchFolder(), 'tape');
  const file = scratchFile('s.json', HEALTHY);
  const live = ['--model', `openai:m@${server.url}/v1`, '--record', tape];
  expect((await rootspan(['diagnose', file, '--store', 'none', ...live])).exitCode).toBe(0);
  const again = await rootspan(['diagnose', file, '--store', 'none', '--model', `replay:${tape}`]);
  expect(again.exitCode).toBe(0);
  expect(JSON.parse(again.out).outcome).toBe('CLEAN');
  const other = await rootspan(['diagnose', EXAMPLE, '--store', 'none', '--model', `replay:${tape}`]);
  expect(other.exitCode).toBe(2);
  expect(other.err).toContain('no recording of this request');
});

test('a model that refuses access is a runtime error with its own name, not a clean session', async () => {
  const server = await startChatStub([chatError(401, 'Incorrect API key provided')]);
  onTestFinished(() => server.close());
  const run = await rootspan([
    'diagnose',
    scratchFile('s.json', HEALTHY),
    '--model',
    `openai:m@${server.url}/v1`,
    '--store',
    'none',
  ]);
  expect(run.exitCode).toBe(3);
  expect(run.err).toContain('ModelAccessError');
});

test('estimate asks no model and says what a diagnosis would take', async () => {
  const run = await rootspan(['estimate', EXAMPLE]);
  expect(run.exitCode).toBe(0);
  const row = JSON.parse(run.out);
  expect(row).toMatchObject({ sessionId: 'strands-access-denied', spans: 4, mode: 'direct', calls: 2 });
  expect(row.costUsd).toBeGreaterThan(0);
  expect(row.inputTokens).toBeGreaterThan(row.sessionTokens);
});

test('formats and help work without a session', async () => {
  const formats = await rootspan(['formats']);
  expect(JSON.parse(formats.out).length).toBeGreaterThan(10);
  const help = await rootspan(['--help']);
  expect(help.exitCode).toBe(0);
  expect(help.out).toContain('Exit codes:');
});
