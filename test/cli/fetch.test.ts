import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import {
  CloudWatchLogsClient,
  FilterLogEventsCommand,
  type FilterLogEventsCommandInput,
  InvalidParameterException,
  ResourceNotFoundException,
} from '@aws-sdk/client-cloudwatch-logs';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rootspan, scratchFolder } from '../helpers/cli.ts';
import { logEvent } from '../helpers/log-events.ts';
import { contentLog, span } from '../helpers/telemetry-records.ts';

const SESSION = 'session-7';
const client = mockClient(CloudWatchLogsClient);
beforeEach(() => client.reset());
afterEach(() => client.reset());

interface Stored {
  readonly message: string;
  readonly timestamp: number;
}

const NOW = Date.now();
const put = (record: object, minutesAgo: number): Stored => ({
  message: JSON.stringify(record),
  timestamp: NOW - minutesAgo * 60_000,
});

/** FilterLogEvents over lists: quoted terms, `?` for alternatives, pages of `size`, tokens that name their place. */
function serve(
  groups: Record<string, readonly Stored[]>,
  size = 10_000,
  calls: FilterLogEventsCommandInput[] = [],
  breaksAt = 0,
) {
  client.on(FilterLogEventsCommand).callsFake((input: FilterLogEventsCommandInput) => {
    calls.push(input);
    if (calls.length === breaksAt) throw new Error('connection lost');
    const group = groups[input.logGroupName ?? input.logGroupIdentifier ?? ''];
    if (group === undefined) throw new ResourceNotFoundException({ message: 'no group', $metadata: {} });
    const terms = [...(input.filterPattern ?? '').matchAll(/\??"([^"]*)"/g)].map((match) => match[1] ?? '');
    const found = group.filter(
      ({ message, timestamp }) =>
        timestamp >= (input.startTime ?? 0) &&
        timestamp <= (input.endTime ?? 0) &&
        (terms.length === 0 || terms.some((term) => message.includes(term))),
    );
    const from = Number(input.nextToken ?? 0);
    const page = found.slice(from, from + size);
    return {
      events: page.map(({ message, timestamp }) => ({
        message,
        timestamp,
        ingestionTime: timestamp,
        eventId: logEvent(message).id,
        logStreamName: 'default',
      })),
      ...(from + size < found.length ? { nextToken: String(from + size) } : {}),
    };
  });
  return calls;
}

const bare = { 'gen_ai.input.messages': undefined, 'gen_ai.output.messages': undefined };
const groups = {
  'aws/spans': [
    put(span({ session: SESSION, spanId: 'c1', attributes: bare }), 90),
    put(span({ spanId: 'c2', attributes: bare }), 80),
    put(span({ session: 'OTHER', traceId: 'b' }), 70),
  ],
  '/agents/support': [
    put(contentLog({ spanId: 'c1', text: 'the first answer' }), 89),
    put(contentLog({ spanId: 'c2', text: 'the second answer' }), 10),
    put({ level: 'INFO', message: 'nothing of it' }, 50),
    put(contentLog({ traceId: 'd', spanId: 'c9', text: 'as I said in session-7' }), 50),
  ],
};
const fetchArgs = (out: string, ...more: string[]): string[] => [
  'fetch',
  '--log-group',
  'aws/spans',
  '/agents/support',
  '--session-id',
  SESSION,
  '--out',
  out,
  ...more,
];
const rowsOf = (file: string): { eventId: string; logGroup: string }[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('fetch', () => {
  it('pulls the records that name the session and all others of their traces, for diagnose to read', async () => {
    serve(groups);
    const out = path.join(scratchFolder(), 's.jsonl');
    const run = await rootspan(fetchArgs(out));
    expect(run.exitCode).toBe(0);
    expect(rowsOf(out)).toHaveLength(4);
    const diagnosed = await rootspan(['diagnose', out, '--store', 'none']);
    const diagnosis = JSON.parse(diagnosed.out);
    expect(diagnosis.sessionId).toBe(SESSION);
    expect(diagnosis.coverage.spansTotal).toBe(2);
    const store = path.join(scratchFolder(), 'store');
    const ingested = await rootspan(['ingest', out, '--store', store]);
    expect(JSON.parse(ingested.out).coverage).toEqual(diagnosis.coverage);
  });

  it('goes over any number of pages, and over more rows than one query may give', async () => {
    const many = Array.from({ length: 10_050 }, (_, n) =>
      put(span({ spanId: n.toString(16), session: SESSION }), 5),
    );
    serve({ 'aws/spans': many, '/agents/support': [] }, 1000);
    const out = path.join(scratchFolder(), 's.jsonl');
    const run = await rootspan(fetchArgs(out, '--since', '2h'));
    expect(run.exitCode).toBe(0);
    expect(new Set(rowsOf(out).map(({ eventId }) => eventId)).size).toBe(10_050);
    expect(rowsOf(out)).toHaveLength(10_050);
  });

  it('goes on after a break where it stood, wherever that was, and ends with the same records', async () => {
    const whole = path.join(scratchFolder(), 'whole.jsonl');
    const calls = serve(groups, 1);
    await rootspan(fetchArgs(whole, '--since', '2h'));
    const expected = rowsOf(whole)
      .map(({ eventId }) => eventId)
      .sort();
    for (let broken = 1; broken < calls.length; broken += 1) {
      const out = path.join(scratchFolder(), 's.jsonl');
      client.reset();
      serve(groups, 1, [], broken);
      expect((await rootspan(fetchArgs(out, '--since', '2h'))).exitCode).toBe(3);
      // What a process that was killed leaves of its last line.
      writeFileSync(out, `${readFileSync(out, 'utf8')}{"logGroup":"aws/sp`);
      client.reset();
      const rest = serve(groups, 1);
      expect((await rootspan(fetchArgs(out, '--since', '2h'))).exitCode).toBe(0);
      expect(
        rowsOf(out)
          .map(({ eventId }) => eventId)
          .sort(),
      ).toEqual(expected);
      expect(rest.length).toBeLessThanOrEqual(calls.length - broken + 1);
    }
  });

  it('begins a read again when its token has grown too old', async () => {
    let refused = 0;
    client.on(FilterLogEventsCommand).callsFake((input: FilterLogEventsCommandInput) => {
      if (input.nextToken !== undefined && refused === 0) {
        refused += 1;
        throw new InvalidParameterException({
          message: 'The specified nextToken is invalid.',
          $metadata: {},
        });
      }
      return answer(input);
    });
    const out = path.join(scratchFolder(), 's.jsonl');
    expect((await rootspan(fetchArgs(out, '--since', '2h'))).exitCode).toBe(0);
    expect(refused).toBe(1);
    expect(rowsOf(out)).toHaveLength(4);
  });

  it('refuses to mix two sessions in one unfinished file', async () => {
    client.on(FilterLogEventsCommand).rejects(new Error('connection lost'));
    const out = path.join(scratchFolder(), 's.jsonl');
    await rootspan(fetchArgs(out));
    const other = fetchArgs(out).map((arg) => (arg === SESSION ? 'T' : arg));
    const run = await rootspan(other);
    expect(run.exitCode).toBe(2);
    expect(run.err).toContain('unfinished fetch is of session session-7');
  });

  it('says so when nothing is there', async () => {
    serve({ 'aws/spans': [], '/agents/support': [] });
    const run = await rootspan(fetchArgs(path.join(scratchFolder(), 's.jsonl')));
    expect(run.exitCode).toBe(2);
    expect(run.err).toContain('no record names session-7');
  });

  it('an id that would change the filter pattern is refused', async () => {
    serve(groups);
    const args = fetchArgs(path.join(scratchFolder(), 's.jsonl')).map((arg) =>
      arg === SESSION ? 'S" ?"' : arg,
    );
    expect((await rootspan(args)).exitCode).toBe(2);
  });
});

/** One record a page. */
function answer(input: FilterLogEventsCommandInput): object {
  const group: readonly Stored[] = groups[input.logGroupName as keyof typeof groups] ?? [];
  const terms = [...(input.filterPattern ?? '').matchAll(/\??"([^"]*)"/g)].map((match) => match[1] ?? '');
  const found = group.filter(
    ({ message, timestamp }) =>
      timestamp >= (input.startTime ?? 0) &&
      timestamp <= (input.endTime ?? 0) &&
      terms.some((term) => message.includes(term)),
  );
  const from = Number(input.nextToken ?? 0);
  const event = found[from];
  return {
    events:
      event === undefined
        ? []
        : [{ ...event, ingestionTime: 1, eventId: logEvent(event.message).id, logStreamName: 'default' }],
    // Two pages at least, the first perhaps empty, as CloudWatch answers.
    ...(from < Math.max(1, found.length) ? { nextToken: String(from + 1) } : {}),
  };
}

describe('doctor on a log group', () => {
  it('reads what came lately and names what is missing', async () => {
    const calls = serve({
      'aws/spans': [put(span({ attributes: bare }), 5), put(span({ traceId: 'b' }), 500)],
    });
    const run = await rootspan(['doctor', 'aws/spans']);
    const exam = JSON.parse(run.out);
    expect(exam.records).toMatchObject({ spans: 1, logs: 0 });
    expect(exam.findings.map(({ code }: { code: string }) => code)).toContain('no-session-id');
    expect(calls[0]).toMatchObject({ logGroupName: 'aws/spans' });
  });

  it('takes an ARN, and joins several groups and files', async () => {
    const arn = 'arn:aws:logs:eu-west-1:123456789012:log-group:/agents/support';
    serve({
      'aws/spans': [put(span({ attributes: bare, session: SESSION }), 5)],
      [arn]: [put(contentLog(), 5)],
    });
    const run = await rootspan(['doctor', 'aws/spans', `${arn}:*`]);
    expect(JSON.parse(run.out).records).toMatchObject({ spans: 1, logs: 1 });
  });

  it('a group that is not there is a usage error', async () => {
    serve({});
    const run = await rootspan(['doctor', '/agents/nowhere']);
    expect(run.exitCode).toBe(2);
    expect(run.err).toContain('/agents/nowhere');
  });
});

it.each([
  ['cut by a crash', '{"asked":'],
  ['of another version', '{"asked":{"since":"24h"},"state":{"cursor":1}}'],
])(
  'a note of where the last try stopped that is %s is refused by name, and nothing is read',
  async (_what, note) => {
    const calls = serve(groups);
    const out = path.join(scratchFolder(), 'session.jsonl');
    writeFileSync(`${out}.fetching`, note);
    const run = await rootspan(['fetch', '--log-group', 'aws/spans', '--session-id', SESSION, '--out', out]);
    expect(run.exitCode).toBe(2);
    expect(run.err).toContain(`${out}.fetching is damaged or of another version`);
    expect(calls).toEqual([]);
  },
);
