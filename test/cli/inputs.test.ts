import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { rootspan, scratchFolder } from '../helpers/cli.ts';
import { zip } from '../helpers/zip.ts';

/** What people hand over: several files, folders, globs, archives, and among them what cannot be read. */

const telemetry = (name: string): string =>
  readFileSync(path.resolve(import.meta.dirname, '../fixtures/telemetry', name), 'utf8');
const SPANS = telemetry('agentcore-split-spans.json');
const LOGS = telemetry('agentcore-split-logs.json');
const chat = (goal: string): string =>
  JSON.stringify([
    { role: 'user', content: goal },
    { role: 'assistant', content: 'Done.' },
  ]);

/** A line that breaks off. */
const BROKEN = '{"messages": [{"role": "us';

/** A folder with these files. */
function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = scratchFolder();
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return folder;
}

async function diagnose(...args: string[]) {
  const run = await rootspan(['diagnose', ...args, '--store', 'none', '--format', 'ndjson']);
  const diagnoses = run.out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const ids: string[] = diagnoses.map(({ sessionId }) => sessionId);
  return { ...run, diagnoses, ids };
}

describe('several files of one session are one diagnosis', () => {
  const whole = () =>
    folderOf({
      'both.jsonl': [...JSON.parse(SPANS), ...JSON.parse(LOGS)]
        .map((line) => JSON.stringify(line))
        .join('\n'),
    });

  test('spans in one and log records in the other, in either order, equal them in one file', async () => {
    const folder = folderOf({ 'spans.json': SPANS, 'logs.json': LOGS });
    const [spans, logs] = [path.join(folder, 'spans.json'), path.join(folder, 'logs.json')];
    const one = await diagnose(path.join(whole(), 'both.jsonl'));
    expect(one.ids).toHaveLength(1);
    for (const files of [[spans, logs], [logs, spans], [folder]]) {
      const run = await diagnose(...files);
      expect(run.diagnoses.map(({ createdAt, ...rest }) => rest)).toEqual(
        one.diagnoses.map(({ createdAt, ...rest }) => rest),
      );
    }
  });

  test('where the log records cannot be read, the session says that it is not whole', async () => {
    const folder = folderOf({ 'spans.json': SPANS, 'logs.json': LOGS.slice(0, 700) });
    const run = await diagnose(folder);
    expect(run.exitCode).toBe(4);
    expect(run.err).toContain('logs.json');
    expect(run.diagnoses[0].coverage.gaps).toContainEqual(
      expect.objectContaining({ what: expect.stringContaining('logs.json') }),
    );
  });

  test('a trace whose observations come in several pages is one session', async () => {
    const observation = (id: number, page: object): object => ({
      id: `o${id}`,
      traceId: 't1',
      type: 'GENERATION',
      name: 'chat',
      parentObservationId: null,
      level: 'DEFAULT',
      startTime: `2026-02-01T08:00:0${id}.000Z`,
      endTime: `2026-02-01T08:00:0${id}.500Z`,
      input: [{ role: 'user', content: `Question ${id}?` }],
      output: { role: 'assistant', content: 'Yes.' },
      ...page,
    });
    const page = (...ids: number[]): string =>
      JSON.stringify({ data: ids.map((id) => observation(id, {})), meta: { page: 1 } });
    const one = await diagnose(folderOf({ 'all.json': page(1, 2, 3) }));
    const several = await diagnose(folderOf({ 'p1.json': page(1, 2), 'p2.json': page(3) }));
    expect(several.diagnoses.map(({ createdAt, ...rest }) => rest)).toEqual(
      one.diagnoses.map(({ createdAt, ...rest }) => rest),
    );
    const apart = folderOf({
      'p1.json': page(1, 2),
      'other.json': JSON.stringify([observation(4, { traceId: 't2' })]),
      'chat.json': chat('Hi?'),
    });
    expect((await diagnose(apart)).ids.sort()).toEqual(['chat', 't1', 't2']);
  });

  test('the folder of a session manager of Strands is one session, of both its agents', async () => {
    const message = (id: number, second: number, message: object): string =>
      JSON.stringify({
        message,
        message_id: id,
        redact_message: null,
        created_at: `2026-03-02T10:00:0${second}+00:00`,
      });
    const said = (text: string): object => ({ role: 'assistant', content: [{ text }] });
    const about = { created_at: '2026-03-02T10:00:00+00:00', updated_at: '2026-03-02T10:00:00+00:00' };
    const folder = folderOf({
      'session_desk-1/session.json': JSON.stringify({
        session_id: 'desk-1',
        session_type: 'AGENT',
        ...about,
      }),
      'session_desk-1/agents/agent_clerk/agent.json': JSON.stringify({
        agent_id: 'clerk',
        state: {},
        conversation_manager_state: {},
        ...about,
      }),
      'session_desk-1/agents/agent_clerk/messages/message_0.json': message(0, 1, {
        role: 'user',
        content: [{ text: 'Is dock 4 free?' }],
      }),
      'session_desk-1/agents/agent_clerk/messages/message_1.json': message(1, 2, said('I ask the planner.')),
      'session_desk-1/agents/agent_planner/messages/message_0.json': message(0, 3, said('It is locked.')),
      'session_desk-2/agents/agent_clerk/messages/message_0.json': message(0, 4, said('Hello.')),
    });
    const run = await diagnose(folder);
    expect(run.ids.sort()).toEqual(['desk-1', 'desk-2']);
    const one = run.diagnoses.find(({ sessionId }) => sessionId === 'desk-1');
    expect(one).toMatchObject({ goal: 'Is dock 4 free?', agent: 'clerk', coverage: { spansTotal: 3 } });
    expect(run.err).not.toContain('not read');
    const alone = await diagnose(path.join(folder, 'session_desk-1/session.json'));
    expect(alone).toMatchObject({ exitCode: 2, out: '' });
  });

  test('two files that state one id are two sessions under two ids; the same session twice is one', async () => {
    const transcript = (text: string): string =>
      JSON.stringify({ session_id: 'shared-id', messages: JSON.parse(chat(text)) });
    const two = await diagnose(
      folderOf({
        'a.json': transcript('First?'),
        'b.json': transcript('Second?'),
        'c.json': transcript('First?'),
      }),
    );
    expect(new Set(two.ids).size).toBe(two.ids.length);
    expect(two.diagnoses.map(({ goal }) => goal).sort()).toEqual(['First?', 'Second?']);
  });
});

describe('a folder, a glob, an archive', () => {
  const FILES = {
    'run-2.json': chat('Two?'),
    'run-10.json': chat('Ten?'),
    'more/run-3.jsonl': chat('Three?'),
  };

  test('of a folder all below it is read, by name; what is no session by its name is said', async () => {
    const run = await diagnose(
      folderOf({ ...FILES, 'README.md': '# x', 'plot.png': 'x', '.hidden.json': 'x' }),
    );
    expect(run.ids).toEqual(['run-3', 'run-2', 'run-10']);
    expect(run.err).toMatch(/not looked at: 1 \.png, 1 README\.md|not looked at: 1 README\.md, 1 \.png/);
  });

  test('a glob', async () => {
    const folder = folderOf(FILES);
    expect((await diagnose(`${folder}/run-*.json`)).ids).toEqual(['run-2', 'run-10']);
    expect((await diagnose(`${folder}/**/*.jsonl`)).ids).toEqual(['run-3']);
    const none = await diagnose(`${folder}/run-*.txt`);
    expect(none.exitCode).toBe(2);
    expect(none.err).toMatch(/nothing matches .*run-\*\.txt/);
  });

  test('members of a zip, gzipped ones too; each is named in messages', async () => {
    const bytes = zip([
      ['runs/a.json', chat('A?')],
      ['runs/bad.json', '{"broken'],
      ['notes.html', 'x'],
    ]);
    const run = await diagnose(path.join(folderOf({ 'all.zip': bytes }), 'all.zip'));
    expect(run.ids).toEqual(['a']);
    expect(run.err).toMatch(/all\.zip:runs\/bad\.json/);
    expect(run.exitCode).toBe(4);
  });

  test('an archive in an archive, a tar and one without sessions are refused by name', async () => {
    const inner = zip([['a.json', chat('A?')]]).toString('latin1');
    const folder = folderOf({
      'nested.zip': zip([['inner.zip', inner]]),
      'none.zip': zip([['a.png', 'x']]),
      'all.tar': Buffer.concat([Buffer.alloc(257), Buffer.from('ustar'), Buffer.alloc(300)]),
    });
    for (const [name, message] of [
      ['nested.zip', /archive in an archive|cannot be unpacked/],
      ['none.zip', /without a file of sessions: it holds a\.png/],
      ['all.tar', /tar archive: unpack it/],
    ] as const) {
      const run = await diagnose(path.join(folder, name));
      expect(run).toMatchObject({ exitCode: 2, out: '' });
      expect(run.err).toMatch(message);
    }
  });

  test('the same file by two names is read once', async () => {
    const folder = folderOf(FILES);
    expect((await diagnose(folder, `${folder}/run-2.json`, `${folder}/more/../run-2.json`)).ids).toHaveLength(
      3,
    );
  });

  test('what is packed is called as what is in it', async () => {
    const folder = folderOf({ 'run-7.json.gz': gzipSync(chat('Seven?')) });
    expect((await diagnose(folder)).ids).toEqual(['run-7']);
  });
});

describe('a wrong path says what lies near it', () => {
  test.each([
    ['sesion-1.json', /no such file: .*near it: .*session-1\.json/],
    ['session-1', /near it: .*session-1\.json/],
    ['othr/session-1.json', /near it: .*other/],
    ['zzz', /holds .*(other|session-1)/],
    ['other/zzz.json', /other holds .*x\.csv/],
  ])('%s', async (wrong, message) => {
    const folder = folderOf({ 'session-1.json': chat('Hi?'), 'other/x.csv': '1' });
    const run = await diagnose(path.join(folder, wrong));
    expect(run).toMatchObject({ exitCode: 2, out: '' });
    expect(run.err).toMatch(message);
  });
});

describe('what cannot be read costs itself only, and is never green', () => {
  const mixed = () =>
    folderOf({
      'good.json': chat('Hi?'),
      'two.jsonl': `${['One?', 'Two?'].map((text) => JSON.stringify({ messages: JSON.parse(chat(text)) })).join('\n')}\n${BROKEN}`,
      'one.jsonl': `${JSON.parse(chat('One?'))
        .map((turn: object) => JSON.stringify(turn))
        .join('\n')}\n${BROKEN}`,
      'bad.json': '{"broken',
      'bad.gz': gzipSync(chat('x')).subarray(0, 15),
    });

  test('diagnose: named, counted, exit code 4; alone 2', async () => {
    const folder = mixed();
    const good = path.join(folder, 'good.json');
    const run = await diagnose(
      good,
      path.join(folder, 'bad.json'),
      path.join(folder, 'bad.gz'),
      '--exit-zero',
    );
    expect(run).toMatchObject({ exitCode: 4, ids: ['good'] });
    expect(run.err).toMatch(/bad\.json[\s\S]*bad\.gz|bad\.gz[\s\S]*bad\.json/);
    expect(run.err).toContain('2 of 3 inputs could not be read');
    expect((await diagnose(path.join(folder, 'bad.json'))).exitCode).toBe(2);
    expect((await diagnose(path.join(folder, 'bad.json'), path.join(folder, 'bad.gz'))).exitCode).toBe(2);
    expect((await diagnose(good, path.join(folder, 'nowhere.json'), '--exit-zero')).exitCode).toBe(2);
  });

  test('diagnose: a broken line beside whole sessions is none of theirs, and in one session a part of it', async () => {
    const folder = mixed();
    const two = await diagnose(path.join(folder, 'two.jsonl'), '--exit-zero');
    expect(two.ids).toHaveLength(2);
    expect(two.exitCode).toBe(4);
    expect(two.err).toMatch(/not read: .*two\.jsonl/);
    const one = await diagnose(path.join(folder, 'one.jsonl'));
    expect(one.diagnoses[0].coverage.gaps).toContainEqual(
      expect.objectContaining({ what: expect.stringContaining('one.jsonl') }),
    );
  });

  test.each([['estimate'], ['ingest'], ['doctor']])('%s', async (command) => {
    const folder = mixed();
    const spans = path.join(folderOf({ 'spans.json': SPANS, 'logs.json': LOGS }), '.');
    const store = command === 'ingest' ? ['--store', path.join(scratchFolder(), 'store'), '--exit-zero'] : [];
    const whole = await rootspan([command, spans, ...store]);
    const run = await rootspan([command, spans, path.join(folder, 'bad.gz'), ...store]);
    expect(run.err).toContain('bad.gz');
    expect(run.exitCode).toBe(4);
    expect([0, 4]).toContain(whole.exitCode);
    expect(whole.err).not.toContain('bad.gz');
  });

  test('estimate of a session of which a part is missing is not green', async () => {
    const cut = folderOf({
      'spans.jsonl': `${JSON.parse(SPANS)
        .map((s: object) => JSON.stringify(s))
        .join('\n')}\n{"traceId": "71aa00000000000000000000000000a1", "spa`,
    });
    expect((await rootspan(['estimate', cut])).exitCode).toBe(4);
    expect(
      (await rootspan(['estimate', path.join(folderOf({ 'spans.json': SPANS }), 'spans.json')])).exitCode,
    ).toBe(0);
  });
});

describe('what is unread beside a session stands wherever the session is shown', () => {
  test('diagnose, show, list and report', async () => {
    const records = [...JSON.parse(SPANS), ...JSON.parse(LOGS)].map((record: object) =>
      JSON.stringify(record),
    );
    const file = path.join(
      folderOf({ 'cut.jsonl': `${records.join('\n')}\n${records[1]?.slice(0, -200)}` }),
      'cut.jsonl',
    );
    const store = ['--store', path.join(scratchFolder(), 'store')];
    const run = await rootspan(['diagnose', file, ...store, '--format', 'text'], {
      terminal: true,
      env: { NO_COLOR: '1' },
    });
    const said = /unread part of the input at .*cut\.jsonl: cut-json: the text breaks off/;
    const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');
    expect(flat(run.out)).toMatch(said);
    expect(run.exitCode).not.toBe(0);
    const show = await rootspan(['show', '9d0f5f1e', ...store], { terminal: true, env: { NO_COLOR: '1' } });
    expect(flat(show.out)).toMatch(said);
    const list = await rootspan(['list', ...store], { terminal: true, env: { NO_COLOR: '1' } });
    expect(flat(list.out)).toContain('coverage partial');
    const report = await rootspan(['report', '9d0f5f1e', ...store]);
    expect(report.out).toMatch(/cut-json: the text breaks off/);
  });
});

describe('long files of lines are read as they come', () => {
  /** More than is read whole. */
  const LONG = 9 * 1024 * 1024;
  const span = (index: number, session: string, text: string): object => ({
    resource: { attributes: { 'service.name': 's' } },
    scope: { name: 'strands.telemetry.tracer', version: '' },
    traceId: index.toString(16).padStart(32, '7'),
    spanId: index.toString(16).padStart(16, '8'),
    name: 'chat',
    kind: 'CLIENT',
    startTimeUnixNano: `17900000000000${String(index).padStart(5, '0')}`,
    endTimeUnixNano: `17900000000001${String(index).padStart(5, '0')}`,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'session.id': session,
      'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: text }] }]),
    },
    status: { code: 'OK' },
  });
  const lines = (text: string): string[] =>
    Array.from({ length: 300 }, (_, i) => JSON.stringify(span(i, `session-${i % 3}`, `${i} ${text}`)));
  const shape = ({ diagnoses }: Awaited<ReturnType<typeof diagnose>>) =>
    diagnoses.map(({ sessionId, coverage, format }) => ({ sessionId, spans: coverage.spansTotal, format }));
  const long = lines('x'.repeat(LONG / 300));

  test('sessions whose spans lie far apart are whole, plain and gzipped; so they are when the file is short', async () => {
    const folder = folderOf({
      'short.jsonl': lines('x').join('\n'),
      'long.jsonl': long.join('\n'),
      'long.jsonl.gz': gzipSync(long.join('\r\n')),
    });
    const short = await diagnose(path.join(folder, 'short.jsonl'));
    expect(shape(short)).toEqual(
      ['0', '1', '2'].map((n) => ({ sessionId: `session-${n}`, spans: 100, format: 'aws-flat' })),
    );
    expect(shape(await diagnose(path.join(folder, 'long.jsonl')))).toEqual(shape(short));
    expect(shape(await diagnose(path.join(folder, 'long.jsonl.gz')))).toEqual(shape(short));
  });

  test('a broken line, other text and a gzip that ends early are said; the rest is read', async () => {
    const folder = folderOf({
      'broken.jsonl': [...long, '{"traceId": "7", "na', 'plain text'].join('\n'),
      'cut.jsonl.gz': gzipSync(
        Buffer.from([...long, ...long.map((line) => line.replace(/x{20}/, 'y'))].join('\n')),
      ).subarray(0, -200),
    });
    for (const name of ['broken.jsonl', 'cut.jsonl.gz']) {
      const run = await diagnose(path.join(folder, name), '--exit-zero');
      expect(run.ids).toHaveLength(3);
      expect(run.err).toContain(name);
      expect(run.diagnoses.every(({ coverage }) => coverage.state !== 'COMPLETE')).toBe(true);
      expect(run.diagnoses[0].coverage.gaps.map(({ what }: { what: string }) => what).join()).toContain(name);
    }
  });

  test('lines that are one conversation together are one session', async () => {
    const turns = Array.from({ length: 200 }, (_, i) =>
      JSON.stringify({ role: i % 2 === 0 ? 'user' : 'assistant', content: `${i} ${'x'.repeat(LONG / 200)}` }),
    );
    const run = await diagnose(path.join(folderOf({ 'chat.jsonl': turns.join('\n') }), 'chat.jsonl'));
    expect(shape(run)).toMatchObject([{ sessionId: 'chat', spans: 200 }]);
  });
});

test('doctor reads a folder, and says of each session document that it is one', async () => {
  const run = await rootspan([
    'doctor',
    folderOf({ 'spans.json': SPANS, 'logs.json': LOGS, 'chat.json': chat('Hi?') }),
  ]);
  expect(JSON.parse(run.out).records).toMatchObject({
    spans: JSON.parse(SPANS).length,
    logs: JSON.parse(LOGS).length,
  });
  expect(run.err).toMatch(/chat\.json: 1 sessions in a document/);
});

test('ingest reads a folder and an archive', async () => {
  const store = path.join(scratchFolder(), 'store');
  const folder = folderOf({ 'logs.zip': zip([['logs.json', LOGS]]), 'spans.json.gz': gzipSync(SPANS) });
  const run = await rootspan(['ingest', folder, '--store', store, '--format', 'ndjson', '--exit-zero']);
  expect(run.out.trim().split('\n')).toHaveLength(1);
});
