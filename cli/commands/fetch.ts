import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { hasCode } from '../../adapters/local/has-code.ts';
import {
  beginFetch,
  type FetchQuery,
  type FetchState,
  fetchSession,
} from '../../core/ingest/fetch-session.ts';
import { systemClock } from '../shell/deps.ts';
import { UsageError } from '../shell/errors.ts';
import { ExitCode } from '../shell/exit-codes.ts';
import { type CliIo, progress } from '../shell/io.ts';
import { sinceIso } from '../shell/query.ts';

export interface FetchFlags {
  readonly logGroup: readonly string[];
  readonly sessionId: string;
  readonly since: string;
  readonly until?: string;
  readonly out: string;
}

/**
 * Everything that log groups hold of one session, as lines that `rootspan diagnose` and `rootspan ingest` read. Where
 * it stands is kept in `<out>.fetching` after each page, so that the same command goes on after a break.
 */
export async function fetchCommand(flags: FetchFlags, io: CliIo): Promise<number> {
  const [{ CloudWatchLogsClient }, { CloudWatchLogReader }] = await Promise.all([
    import('@aws-sdk/client-cloudwatch-logs'),
    import('../../adapters/aws/cloudwatch-log-reader.ts'),
  ]);
  const stateFile = `${flags.out}.fetching`;
  const unfinished = await readState(stateFile);
  const now = systemClock.now();
  const query: FetchQuery = {
    logGroups: flags.logGroup,
    sessionId: flags.sessionId,
    // Ages count from the first try: otherwise every try would be another query.
    start: unfinished?.asked.since === flags.since ? unfinished.state.query.start : timeOf(flags.since, now),
    end:
      unfinished !== null && unfinished.asked.until === flags.until
        ? unfinished.state.query.end
        : flags.until === undefined
          ? now
          : timeOf(flags.until, now),
  };
  if (query.start > query.end) throw new UsageError('--since is after --until');
  const asked = { since: flags.since, until: flags.until };
  if (unfinished === null) {
    // Raw records, credentials and all.
    await writeFile(flags.out, '', { mode: 0o600 });
    await writeState(stateFile, { asked, state: beginFetch(query) });
  }
  // FilterLogEvents allows a few calls a second in an account: waiting is the client's business.
  const logs = new CloudWatchLogsClient({ maxAttempts: 10 });
  const seen = new Set(await eventIdsIn(flags.out));
  const report = progress(io);
  let last = unfinished?.state ?? beginFetch(query);
  for await (const { rows, state } of fetchSession(query, last, new CloudWatchLogReader(logs))) {
    const fresh = rows.filter(({ eventId }) => !seen.has(eventId));
    for (const { eventId } of fresh) seen.add(eventId);
    await appendFile(flags.out, fresh.map((row) => `${JSON.stringify(row)}\n`).join(''));
    await writeState(stateFile, { asked, state });
    last = state;
    report(`${seen.size} records of ${state.traceIds.length} traces`);
  }
  report('');
  await rm(stateFile, { force: true });
  if (seen.size === 0) {
    io.err(
      `rootspan: no record names ${flags.sessionId} as its session or trace between ${new Date(query.start).toISOString()} and ` +
        `${new Date(query.end).toISOString()}; spans show 2 to 3 minutes after the run, and content may be in a log group of its own\n`,
    );
    return ExitCode.Usage;
  }
  io.err(
    `rootspan: ${seen.size} records of ${last.traceIds.length} traces in ${flags.out}; ` +
      `diagnose them with \`rootspan diagnose ${flags.out}\`\n`,
  );
  return ExitCode.Passed;
}

const keptSchema = z.object({
  asked: z.object({ since: z.string(), until: z.string().optional() }),
  state: z.object({
    query: z.object({
      logGroups: z.array(z.string()),
      sessionId: z.string(),
      start: z.number(),
      end: z.number(),
    }),
    step: z.enum(['find', 'follow', 'done']),
    read: z.number().int().nonnegative(),
    token: z.string().nullable(),
    traceIds: z.array(z.string()),
  }),
});

interface Kept {
  readonly asked: { readonly since: string; readonly until?: string | undefined };
  readonly state: FetchState;
}

/** Written by ourselves; one that is damaged or of another version is refused. */
async function readState(file: string): Promise<Kept | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
  try {
    return keptSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new UsageError(`${file} is damaged or of another version: delete it to begin anew`, { cause });
  }
}

async function writeState(file: string, kept: Kept): Promise<void> {
  await writeFile(`${file}.new`, JSON.stringify(kept));
  await rename(`${file}.new`, file);
}

/** Ids of the whole lines. What a broken run left of its last line is cut off: its page comes again. */
async function eventIdsIn(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) await writeFile(file, whole);
  const lines = whole.split('\n').filter((line) => line !== '');
  return lines.map((line) => String((JSON.parse(line) as { eventId?: unknown }).eventId));
}

const timeOf = (text: string, now: number): number => Date.parse(sinceIso(text, now));
