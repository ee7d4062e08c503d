import { gzipSync } from 'node:zlib';
import { sha256Hex } from '../../core/base/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/base/json.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';
import { parseJson } from '../../core/reading/decode/decode-json.ts';
import type { OpenInput } from './open-input.ts';

/** One subscription carries about a megabyte; a payload of ours stays well below the cap of what is unpacked. */
const MAX_PAYLOAD_CHARACTERS = 4 * 1024 * 1024;

/** The events of one input, those of many lines as they are read. */
export async function* deliveriesOf(input: OpenInput): AsyncGenerator<unknown> {
  if ('text' in input) {
    yield* readDeliveries(await input.text(), input.source);
    return;
  }
  const packer = new Packer(input.source);
  for await (const lines of input.lines) {
    for (const line of lines) packer.addLine(line);
    yield* packer.takeReady();
  }
  yield* packer.finish();
}

/**
 * What a file holds as events for the ingest Lambda, in the order of the file: Lambda events as they were recorded
 * (subscription or Kinesis), decoded CloudWatch envelopes, rows of `rootspan fetch` and FilterLogEvents, and plain
 * records or lines, one each. The latter are put into envelopes of their own, under the file's name as log group.
 */
export function readDeliveries(text: string, source: string): unknown[] {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const packer = new Packer(source);
  const whole = parseJson(body);
  if (whole.ok) {
    for (const item of listOf(whole.value)) packer.add(item, JSON.stringify(item));
  } else {
    for (const line of body.split('\n')) packer.addLine(line);
  }
  return packer.finish();
}

function listOf(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value;
  if (isJsonObject(value) && Array.isArray(value.events) && value.events.every(isRow)) return value.events;
  return [value];
}

class Packer {
  readonly #source: string;
  #deliveries: unknown[] = [];
  #open: LogEvent[] = [];
  #size = 0;

  constructor(source: string) {
    this.#source = source;
  }

  add(item: JsonValue, text: string): void {
    if (isJsonObject(item) && isLambdaEvent(item)) this.#whole(item);
    else if (isJsonObject(item) && isEnvelope(item)) this.#whole(wrap(item));
    else if (isRow(item)) this.#event(eventOfRow(item, this.#source));
    else this.#event(eventOfText(text, this.#source));
  }

  addLine(raw: string): void {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line.trim() === '') return;
    const parsed = parseJson(line);
    // The line itself is the message: what parsing would change, reading must still see.
    this.add(parsed.ok ? parsed.value : line, line);
  }

  /** What is whole so far. */
  takeReady(): unknown[] {
    const ready = this.#deliveries;
    this.#deliveries = [];
    return ready;
  }

  finish(): unknown[] {
    this.#flush();
    return this.takeReady();
  }

  #whole(delivery: unknown): void {
    this.#flush();
    this.#deliveries.push(delivery);
  }

  #event(event: LogEvent): void {
    const [first] = this.#open;
    const sameStream =
      first === undefined || (first.logGroup === event.logGroup && first.logStream === event.logStream);
    if (!sameStream || this.#size > MAX_PAYLOAD_CHARACTERS) this.#flush();
    this.#open.push(event);
    this.#size += event.message.length;
  }

  #flush(): void {
    const [first] = this.#open;
    if (first === undefined) return;
    const { logGroup, logStream } = first;
    const logEvents = this.#open.map(({ id, timestamp, message }) => ({ id, timestamp, message }));
    this.#deliveries.push(wrap({ messageType: 'DATA_MESSAGE', logGroup, logStream, logEvents }));
    this.#open = [];
    this.#size = 0;
  }
}

const isLambdaEvent = (item: JsonObject): boolean =>
  isJsonObject(item.awslogs) ||
  (Array.isArray(item.Records) && item.Records.some((record) => isJsonObject(record) && 'kinesis' in record));

const isEnvelope = (item: JsonObject): boolean =>
  typeof item.messageType === 'string' && Array.isArray(item.logEvents);

const wrap = (payload: object): object => ({
  awslogs: { data: gzipSync(JSON.stringify(payload)).toString('base64') },
});

/** A row of FilterLogEvents: the message is text, beside what only CloudWatch knows. */
function isRow(item: JsonValue): item is JsonObject & { message: string } {
  return (
    isJsonObject(item) &&
    typeof item.message === 'string' &&
    (typeof item.eventId === 'string' || typeof item.ingestionTime === 'number')
  );
}

function eventOfRow(row: JsonObject & { message: string }, source: string): LogEvent {
  const text = (value: JsonValue | undefined, or: string): string => (typeof value === 'string' ? value : or);
  return {
    logGroup: text(row.logGroup, source),
    logStream: text(row.logStreamName, 'default'),
    id: text(row.eventId, idOf(row.message)),
    timestamp: typeof row.timestamp === 'number' ? row.timestamp : 0,
    message: row.message,
  };
}

const eventOfText = (message: string, source: string): LogEvent => ({
  logGroup: source,
  logStream: 'default',
  id: idOf(message),
  timestamp: 0,
  message,
});

/** 56 decimal digits as CloudWatch's, made of the content: the same line given twice is the same event. */
const idOf = (message: string): string =>
  BigInt(`0x${sha256Hex(message).slice(0, 44)}`)
    .toString()
    .padStart(56, '3');
