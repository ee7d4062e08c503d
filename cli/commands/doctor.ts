import { existsSync } from 'node:fs';
import path from 'node:path';
import { SessionInvalidError } from '../../core/errors/errors.ts';
import { type LogEvent, unwrapLogEvents } from '../../core/ingest/envelope.ts';
import type { LogRow } from '../../core/ingest/fetch-session.ts';
import { joinCutLines } from '../../core/reading/decode/cut-lines.ts';
import { parseJson } from '../../core/reading/decode/decode-json.ts';
import { decodeLogEventMessage } from '../../core/reading/decode/decode-log-event.ts';
import { examineTelemetry, type TelemetryExam } from '../../core/reading/doctor.ts';
import { LineReader, type ReadLines } from '../../core/reading/line-reader.ts';
import { readTelemetry, type Telemetry } from '../../core/reading/read-telemetry.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { suggestExports } from '../../core/reading/suggest-exports.ts';
import { safeLine } from '../../report/escape.ts';
import { systemClock } from '../shell/deps.ts';
import { eachInput } from '../shell/each-input.ts';
import { UsageError } from '../shell/errors.ts';
import { ExitCode, worstExitCode } from '../shell/exit-codes.ts';
import { isSessionName } from '../shell/find-inputs.ts';
import { type CliIo, palette, progress } from '../shell/io.ts';
import type { OpenInput } from '../shell/open-input.ts';
import { sinceIso } from '../shell/query.ts';
import { readDeliveries } from '../shell/read-deliveries.ts';

export interface DoctorFlags {
  readonly json?: boolean;
  readonly since: string;
}

/** A file that names many products is of none of them. */
const SHOWN_EXPORTS = 4;

/** A log group of real traffic: enough to see what its producers write. */
const MAX_EVENTS = 20_000;

/** What given telemetry has for a diagnosis, what is missing, and which setting of the producer brings it. */
export async function doctorCommand(
  targets: readonly string[],
  flags: DoctorFlags,
  io: CliIo,
): Promise<number> {
  const records: Telemetry['records'][number][] = [];
  const unread: Telemetry['unread'][number][] = [];
  const codes: ExitCode[] = [];
  const take = (telemetry: Telemetry | null): void => {
    for (const record of telemetry?.records ?? []) records.push(record);
    unread.push(...(telemetry?.unread ?? []));
  };
  const groups = targets.filter(isLogGroup);
  const files = targets.filter((target) => !groups.includes(target));
  for (const group of groups) take(fromEvents(await recentEvents(group, flags.since, io)));
  codes.push(...(await eachInput(files, io, async (input) => take(await fromInput(input, io)))));
  if (records.length + unread.length === 0 && files.length > 0) return worstExitCode(codes);
  const exam = examineTelemetry(records, unread);
  if (flags.json ?? !io.outIsTerminal) io.out(`${JSON.stringify(exam, null, 2)}\n`);
  else io.out(render(exam, io));
  if (exam.findings.some(({ severity }) => severity === 'blocks')) codes.push(ExitCode.Unknown);
  return worstExitCode(codes);
}

function isLogGroup(target: string): boolean {
  if (target === '-' || existsSync(target)) return false;
  return (
    /^arn:[^:]+:logs:/.test(target) ||
    (/^(\/|aws\/)/.test(target) && !/[*?[\]{}]/.test(target) && !isSessionName(path.basename(target)))
  );
}

/** `null` for a session document: no producer has to set anything there. */
async function fromInput(input: OpenInput, io: CliIo): Promise<Telemetry | null> {
  if ('text' in input) return await fromText(await input.text(), input.source, io);
  const found: ReadLines[] = [];
  const reader = new LineReader(input.source, (read) => found.push(read));
  for await (const lines of input.lines) reader.push(lines);
  reader.end();
  return {
    records: found.flatMap(({ parts, lines }) => [...parts.records, ...lines.records]),
    unread: found.flatMap(({ parts, lines }) => [...parts.unreadRecords, ...parts.unread, ...lines.unread]),
  };
}

/** A refusal says in addition which exports of the product that the file seems to be of are read. */
async function fromText(text: string, file: string, io: CliIo): Promise<Telemetry | null> {
  try {
    return await examined(text, file, io);
  } catch (error) {
    if (!(error instanceof SessionInvalidError)) throw error;
    const exports = suggestExports(text).slice(0, SHOWN_EXPORTS);
    const advice =
      exports.length === 0
        ? 'What is read of each product: `rootspan formats`'
        : `Of what it names are read:\n${exports.map(({ title, from, checkedOn }) => `  ${title}: ${from} (checked on ${checkedOn})`).join('\n')}`;
    throw new SessionInvalidError(`${error.message}\n${advice}`);
  }
}

async function examined(text: string, file: string, io: CliIo): Promise<Telemetry | null> {
  if (holdsEnvelopes(text)) {
    const events: LogEvent[] = [];
    const unread: Telemetry['unread'][number][] = [];
    for (const delivery of readDeliveries(text, file)) {
      const unwrapped = await unwrapLogEvents(delivery);
      events.push(...unwrapped.events);
      unread.push(...unwrapped.trouble.map(({ reason }) => ({ where: file, reason, count: 1 })));
    }
    const read = fromEvents(events);
    return { records: read.records, unread: [...unread, ...read.unread] };
  }
  const telemetry = readTelemetry(text, file);
  if (telemetry !== null) return telemetry;
  const { sessions } = readSessions({ text, source: file });
  const formats = [...new Set(sessions.map((session) => session.format))].join(', ');
  io.err(
    `rootspan: ${file}: ${sessions.length} sessions in a document (${formats}), not telemetry: ` +
      '`rootspan diagnose` reads it as it is\n',
  );
  return null;
}

function holdsEnvelopes(text: string): boolean {
  const start = text.slice(0, 2000);
  return /"(awslogs|messageType|kinesis)"\s*:/.test(start) && (parseJson(text).ok || text.includes('\n'));
}

function fromEvents(events: readonly LogEvent[]): Telemetry {
  const records: Telemetry['records'][number][] = [];
  const reasons = new Map<string, number>();
  for (const event of joinCutLines(events)) {
    const decoded = decodeLogEventMessage(event.message);
    if (Array.isArray(decoded)) for (const record of decoded) records.push(record);
    else reasons.set(decoded.reason, (reasons.get(decoded.reason) ?? 0) + 1);
  }
  return { records, unread: [...reasons].map(([reason, count]) => ({ where: 'log events', reason, count })) };
}

async function recentEvents(logGroup: string, since: string, io: CliIo): Promise<LogEvent[]> {
  const [{ CloudWatchLogsClient, ResourceNotFoundException }, { CloudWatchLogReader }] = await Promise.all([
    import('@aws-sdk/client-cloudwatch-logs'),
    import('../../adapters/aws/cloudwatch-log-reader.ts'),
  ]);
  const reader = new CloudWatchLogReader(new CloudWatchLogsClient({ maxAttempts: 10 }));
  const end = systemClock.now();
  const start = Date.parse(sinceIso(since, end));
  const rows: LogRow[] = [];
  const report = progress(io);
  try {
    for (let token: string | undefined; ; ) {
      const page = await reader.page({ logGroup, start, end, ...(token === undefined ? {} : { token }) });
      if (page === 'expired') break;
      rows.push(...page.rows);
      report(`${rows.length} records of ${logGroup}`);
      if (page.next === null || rows.length >= MAX_EVENTS) break;
      token = page.next;
    }
  } catch (error) {
    if (error instanceof ResourceNotFoundException)
      throw new UsageError(`no file and no log group ${logGroup} in this account and Region`, {
        cause: error,
      });
    throw error;
  }
  report('');
  return rows.map((row) => ({
    logGroup: row.logGroup,
    logStream: row.logStreamName,
    id: row.eventId,
    timestamp: row.timestamp,
    message: row.message,
  }));
}

function render(exam: TelemetryExam, io: CliIo): string {
  const { bold, red, yellow, green, dim } = palette(io);
  const { records, sessions, conventions, kinds, findings } = exam;
  const counts = (map: Readonly<Record<string, number>>): string =>
    Object.entries(map)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none';
  const lines = [
    `${records.spans} spans and ${records.logs} log records, ${records.unread} not read; ${sessions} sessions`,
    `written as: ${safeLine(counts(conventions), 200)}`,
    `steps: ${safeLine(counts(kinds), 200)}`,
    '',
  ];
  if (findings.length === 0) lines.push(green('nothing is missing for a diagnosis'));
  for (const { code, severity, found, advice } of findings) {
    const mark = severity === 'blocks' ? red('blocks a diagnosis') : yellow('weakens a diagnosis');
    lines.push(
      `${bold(code)}  ${mark}`,
      `  ${safeLine(found, 500)}`,
      `  ${dim('do:')} ${safeLine(advice, 500)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}
