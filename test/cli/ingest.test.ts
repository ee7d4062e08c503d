import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { diagnosisSchema } from '../../core/diagnosis/schema.ts';
import { rootspan, scratchFile, scratchFolder } from '../helpers/cli.ts';
import { awslogs, kinesis, logEvent, payload } from '../helpers/log-events.ts';
import { span } from '../helpers/telemetry-records.ts';

const failing = span({ session: 'S', spanId: 'c1', status: { code: 'ERROR', message: 'timed out' } });
const lines = (...items: readonly unknown[]): string => items.map((item) => JSON.stringify(item)).join('\n');

/** JSON values one after the other. */
function values(text: string): ReturnType<typeof diagnosisSchema.parse>[] {
  return text
    .split(/\n(?=\{)/)
    .filter((part) => part.trim() !== '')
    .map((part) => diagnosisSchema.parse(JSON.parse(part)));
}

test('a folder of Lambda events becomes diagnosed sessions, printed like those of diagnose', async () => {
  const folder = scratchFolder();
  const store = path.join(folder, 'store');
  const files = [
    awslogs([logEvent(span({ session: 'S', spanId: 'c1' }))]),
    kinesis([logEvent(span({ spanId: 'c2' }))], [logEvent(span({ session: 'T', traceId: 'b' }))]),
    payload([logEvent(span({ spanId: 'c3' }))]),
  ].map((content, index) => {
    const file = path.join(folder, `${index}.json`);
    writeFileSync(file, JSON.stringify(content));
    return file;
  });
  const run = await rootspan(['ingest', ...files, '--store', store]);
  const diagnoses = values(run.out);
  expect(diagnoses.map(({ sessionId, version }) => [sessionId, version]).sort()).toEqual([
    ['S', 1],
    ['T', 1],
  ]);
  expect(run.err).toContain('4 records stored (0 were there already)');
  // No model was asked.
  expect(run.exitCode).toBe(4);
  const shown = await rootspan(['show', 'S', '--store', store]);
  expect(JSON.parse(shown.out)).toMatchObject({ sessionId: 'S', version: 1 });
});

test.each([
  ['lines of records', lines(failing, span({ spanId: 'c2' }))],
  ['a list of records', JSON.stringify([failing, span({ spanId: 'c2' })])],
  [
    'lines of Lambda events',
    lines(awslogs([logEvent(failing)]), awslogs([logEvent(span({ spanId: 'c2' }))])),
  ],
  [
    'lines of decoded envelopes',
    lines(payload([logEvent(failing)]), payload([logEvent(span({ spanId: 'c2' }))])),
  ],
  [
    'what FilterLogEvents answers',
    JSON.stringify({
      events: [failing, span({ spanId: 'c2' })].map((record) => {
        const { id, message } = logEvent(record);
        return { eventId: id, message, timestamp: 1, ingestionTime: 2, logStreamName: 'default' };
      }),
      searchedLogStreams: [],
    }),
  ],
])('%s give the same session', async (_what, content) => {
  const store = path.join(scratchFolder(), 'store');
  const run = await rootspan(['ingest', scratchFile('in.json', content), '--store', store]);
  const [diagnosis, ...more] = values(run.out);
  expect(more).toEqual([]);
  expect(diagnosis).toMatchObject({ sessionId: 'S' });
  expect(diagnosis?.coverage.spansTotal).toBe(2);
});

test('a second run with a late record makes version 2 and supersedes version 1; the same again makes none and repeats the verdict', async () => {
  const store = path.join(scratchFolder(), 'store');
  const first = scratchFile('1.jsonl', lines(span({ session: 'S', spanId: 'c1' })));
  const late = scratchFile('2.jsonl', lines(span({ spanId: 'c2', text: 'late' })));
  await rootspan(['ingest', first, '--store', store]);
  const second = await rootspan(['ingest', late, '--store', store]);
  expect(values(second.out)).toMatchObject([{ sessionId: 'S', version: 2 }]);
  const again = await rootspan(['ingest', first, late, '--store', store]);
  expect(values(again.out)).toEqual(values(second.out));
  expect(again.err).toContain('2 were there already');
  expect(again.err).toContain('S: nothing new since version 2, which stands');
  expect(again.exitCode).toBe(second.exitCode);
  const versions = await rootspan(['show', 'S', '--versions', '--store', store, '--json']);
  const shown: { version: number; superseded: boolean }[] = versions.out
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(shown.map(({ version, superseded }) => [version, superseded])).toEqual([
    [1, true],
    [2, false],
  ]);
});

test('records without agent content are kept aside, and that is said', async () => {
  const store = path.join(scratchFolder(), 'store');
  const traffic = (traceId: string) => ({
    ...span({ traceId, spanId: 'd1' }),
    name: 'GET /',
    kind: 'CLIENT',
    scope: { name: 'opentelemetry.instrumentation.requests' },
    attributes: { 'http.request.method': 'GET' },
  });
  const file = scratchFile('1.jsonl', lines(traffic('b'), traffic('c')));
  const run = await rootspan(['ingest', file, '--store', store]);
  expect(run.out).toBe('');
  expect(run.err).toContain('2 records of traces that show no span of an agent');
  // Nothing was looked at: that is not clean, and the same events again do not make it so.
  expect(run.exitCode).toBe(4);
  expect((await rootspan(['ingest', file, '--store', store])).exitCode).toBe(4);
});

test('a run that waits for a batch of answers goes on with the next, without files', async () => {
  const folder = scratchFolder();
  const store = path.join(folder, 'store');
  const file = scratchFile('1.jsonl', lines(span({ session: 'S' })));
  const model = `batch:${path.join(folder, 'batch')}`;
  expect((await rootspan(['ingest', file, '--store', store, '--model', model])).exitCode).toBe(5);
  expect((await rootspan(['ingest', '--store', store, '--model', model])).exitCode).toBe(5);
  const done = await rootspan(['ingest', '--store', store]);
  expect(values(done.out)).toMatchObject([{ sessionId: 'S' }]);
  expect((await rootspan(['ingest', '--store', store])).out).toBe('');
});

test('input that holds no telemetry is said, and is bad input', async () => {
  const store = path.join(scratchFolder(), 'store');
  const run = await rootspan(['ingest', scratchFile('x.json', { messages: [] }), '--store', store]);
  expect(run.exitCode).toBe(2);
  expect(run.err).toContain('rootspan diagnose');
});

test('a file that cannot be read does not hide the others', async () => {
  const store = path.join(scratchFolder(), 'store');
  const file = scratchFile('1.jsonl', lines(span({ session: 'S' })));
  const run = await rootspan(['ingest', '/no/such/file', file, '--store', store]);
  expect(run.exitCode).toBe(2);
  expect(run.err).toContain('no such file');
  expect(values(run.out)).toMatchObject([{ sessionId: 'S' }]);
});

test.each(['none', 'table:t@b'])('--store %s is refused: raw records need a folder', async (store) => {
  const run = await rootspan(['ingest', scratchFile('x.json', {}), '--store', store]);
  expect(run.exitCode).toBe(2);
  expect(run.err).toContain('folder');
});

test('quarantine: list, show and retry what could not be read', async () => {
  const store = path.join(scratchFolder(), 'store');
  const broken = '{"id":"1","details":{"input":"{"Comment": "x"}"}}';
  const line = JSON.stringify(span({ session: 'S' }));
  const first = await rootspan([
    'ingest',
    scratchFile('1.log', `${broken}\n`),
    scratchFile('2.json', { awslogs: { data: 'AAAA' } }),
    scratchFile('3.jsonl', lines(payload([logEvent(line.slice(0, 90), { id: '1'.repeat(56) })]))),
    scratchFile('4.jsonl', lines(payload([logEvent(line.slice(90), { id: '2'.repeat(56) })]))),
    '--store',
    store,
  ]);
  expect(first.exitCode).toBe(4);
  expect(first.err).toContain('4 not readable');

  const list = await rootspan(['quarantine', 'list', '--store', store]);
  const items: { id: string; reason: string; bytes: number }[] = list.out
    .trim()
    .split('\n')
    .map((text) => JSON.parse(text));
  expect(items.map(({ reason }) => reason.split(' ')[0]).sort()).toEqual([
    'bad-json:',
    'cut-json:',
    'cut-json:',
    'decompressed',
  ]);
  const bad = items.find(({ reason }) => reason.startsWith('bad-json'));
  const shown = await rootspan(['quarantine', 'show', bad?.id.slice(0, 10) ?? '', '--store', store]);
  expect(shown.out).toBe(`${broken}\n`);
  expect(shown.err).toContain('bad-json');

  const retried = await rootspan(['quarantine', 'retry', '--store', store]);
  expect(retried.err).toContain('2 of 4 could be read now');
  expect(retried.exitCode).toBe(4);
  const left = await rootspan(['quarantine', 'list', '--store', store]);
  expect(left.out.trim().split('\n')).toHaveLength(2);
  const all = await rootspan(['quarantine', 'list', '--all', '--store', store]);
  expect(all.out.trim().split('\n')).toHaveLength(4);
  const diagnosed = await rootspan(['ingest', '--store', store]);
  expect(values(diagnosed.out)).toMatchObject([{ sessionId: 'S', version: 1 }]);

  const terminal = await rootspan(['quarantine', 'list', '--store', store], { terminal: true });
  expect(terminal.out).toContain('bad-json');
  const unknown = await rootspan(['quarantine', 'show', 'zzz', '--store', store]);
  expect(unknown.exitCode).toBe(2);
});
