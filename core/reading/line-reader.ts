import type { JsonValue } from '../base/json.ts';
import { SessionTooLargeError } from '../errors/errors.ts';
import type { Unread } from '../session/session.ts';
import { chooseFormat, hasDocumentsAmong } from './choose-format.ts';
import type { Envelope, RawRecord } from './decode/format.ts';
import { CHANGED, parseLine } from './decode/parse-text.ts';
import { NOTHING, type Parts, takeApart } from './take-apart.ts';
import { readTextLines, type TextLines } from './text-lines.ts';
import { sumUnread } from './unread.ts';
import { withoutSecrets } from './without-secrets.ts';

/** Characters of lines that are parsed before their records are taken out. */
const PIECE = 4 * 1024 * 1024;
/** Of a file that is one document as a whole: about what one text can hold. */
const MAX_DOCUMENT = 400 * 1024 * 1024;

export interface ReadLines {
  readonly parts: Parts;
  readonly lines: TextLines;
  readonly changed: readonly Unread[];
}

/**
 * JSON lines as they come. Where each line of a format stands alone (OTLP, spans, log events), their records are taken
 * out piece by piece and the lines forgotten; lines that are one document together are kept to the end.
 */
export class LineReader {
  readonly #source: string;
  readonly #done: (read: ReadLines) => void;
  #values: JsonValue[] = [];
  #characters = 0;
  /** `null`: the lines are one document. */
  #envelope: Envelope | null | undefined;
  readonly #records: RawRecord[] = [];
  readonly #results: Parts['results'][number][] = [];
  readonly #envelopes = new Set<string>();
  #unreadRecords: Unread[] = [];
  #unread: Unread[] = [];
  readonly #lineRecords: RawRecord[] = [];
  #lineUnread: Unread[] = [];
  #list: Parts['list'] = null;
  #changed = 0;

  constructor(source: string, done: (read: ReadLines) => void) {
    this.#source = source;
    this.#done = done;
  }

  push(lines: readonly string[]): void {
    for (const raw of lines) {
      const line = raw.trim();
      if (line === '') continue;
      const value = parseLine(line);
      if (value === null) {
        const read = readTextLines([line], this.#source);
        for (const record of read.records) this.#lineRecords.push(record);
        if (read.unread.length > 0) this.#lineUnread = sumUnread([...this.#lineUnread, ...read.unread]);
        continue;
      }
      if (value.note === 'changed') this.#changed += 1;
      this.#values.push(value.value);
      this.#characters += line.length;
      if (this.#characters >= PIECE && this.#mayCutAfter(value.value)) this.#takePiece();
      else if (this.#characters > MAX_DOCUMENT)
        throw new SessionTooLargeError(
          `${this.#source}: lines that are one session together, more than ${MAX_DOCUMENT / 1024 / 1024} MiB`,
        );
    }
  }

  /** `breakOff`: why there are no more lines than these, where there should be. */
  end(breakOff: string | null = null): void {
    if (this.#envelope) this.#takePiece();
    else {
      const hasRecords = this.#records.length + this.#lineRecords.length > 0;
      this.#add(withoutSecrets(() => takeApart(this.#values, this.#source, hasRecords)));
    }
    const broken = breakOff === null ? [] : [{ where: this.#source, reason: breakOff, count: 1 }];
    this.#done({
      parts: {
        results: this.#results,
        records: this.#records,
        envelopes: [...this.#envelopes],
        unreadRecords: this.#unreadRecords,
        unread: this.#unread,
        list: this.#list,
      },
      lines: { records: this.#lineRecords, unread: [...this.#lineUnread, ...broken] },
      changed: this.#changed === 0 ? [] : [{ where: this.#source, reason: CHANGED, count: this.#changed }],
    });
  }

  #mayCutAfter(last: JsonValue): boolean {
    if (this.#envelope === undefined) {
      const choice = chooseFormat(this.#values);
      this.#envelope =
        choice.kind === 'envelope' && choice.format.mayCutAfter !== undefined ? choice.format : null;
    }
    return this.#envelope?.mayCutAfter?.(last) ?? false;
  }

  #takePiece(): void {
    const [values, envelope] = [this.#values, this.#envelope];
    this.#values = [];
    this.#characters = 0;
    if (!envelope || values.length === 0) return;
    if (hasDocumentsAmong(values, envelope)) this.#add(takeApart(values, this.#source, true));
    else {
      const { records, unread } = envelope.unpack(values);
      this.#add({ ...NOTHING, records, envelopes: [envelope.id], unreadRecords: unread });
    }
  }

  #add(parts: Parts): void {
    for (const record of parts.records) this.#records.push(record);
    this.#results.push(...parts.results);
    this.#list = parts.list;
    for (const envelope of parts.envelopes) this.#envelopes.add(envelope);
    this.#unreadRecords = sumUnread([...this.#unreadRecords, ...parts.unreadRecords]);
    this.#unread = sumUnread([...this.#unread, ...parts.unread]);
  }
}
