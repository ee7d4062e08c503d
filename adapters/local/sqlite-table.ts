import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { Clock } from '../../core/base/clock.ts';
import { type ItemKey, TABLE } from '../../core/ports/table.ts';
import type { Comparison, Condition, Item, QueryRange, Table, TableChange } from '../aws/table.ts';

/** Longest wait for another process that is writing: a write takes milliseconds. */
const BUSY_MS = 10_000;
/** Rows read at once by a query that names no page size. */
const PAGE = 200;

/**
 * The single table in a SQLite file (`node:sqlite`), or in memory without a file. Several processes may use one file at
 * the same time: readers never wait (write-ahead log), each write is one transaction. Keys are ordered as in
 * DynamoDB, by their UTF-8 bytes.
 */
export class SqliteTable implements Table {
  readonly #database: DatabaseSync;
  readonly #clock: Clock;
  readonly #statements = new Map<string, StatementSync>();

  constructor(file: string | null, clock: Clock) {
    // Sessions are nobody else's business on a shared machine.
    if (file !== null) mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    this.#database = new DatabaseSync(file ?? ':memory:', { timeout: BUSY_MS });
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS items (
        pk TEXT NOT NULL, sk TEXT NOT NULL, ipk TEXT, isk TEXT, item TEXT NOT NULL, PRIMARY KEY (pk, sk)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS by_state ON items (ipk, isk, pk, sk) WHERE ipk IS NOT NULL;
    `);
    this.#clock = clock;
  }

  close(): void {
    this.#database.close();
  }

  async get(key: ItemKey): Promise<Item | null> {
    const item = this.#read(key);
    return item !== null && this.#isAlive(item) ? item : null;
  }

  async put(item: Item): Promise<void> {
    this.#write(item);
  }

  async putIf(item: Item, condition: Condition): Promise<boolean> {
    return this.#transaction(() => {
      if (!this.#holds(condition, this.#read(item))) return false;
      this.#write(item);
      return true;
    });
  }

  async update(key: ItemKey, change: TableChange): Promise<Item | null> {
    return this.#transaction(() => {
      const found = this.#read(key);
      const { onlyIf } = change;
      if (onlyIf !== undefined && !onlyIf.some((all) => matchesAll(found, all))) return null;
      const next: Item = { ...key, ...change.keep, ...found, ...withoutUndefined(change.set) };
      for (const attribute of change.remove ?? []) delete next[attribute];
      this.#write(next);
      return next;
    });
  }

  async add(
    key: ItemKey,
    attribute: string,
    amount: number,
    { atMost, expiresAt }: { readonly atMost: number; readonly expiresAt: number },
  ): Promise<number | null> {
    return this.#transaction(() => {
      const found = this.#read(key);
      const before = found?.[attribute];
      const sum = (typeof before === 'number' ? before : 0) + amount;
      if (sum > atMost) return null;
      this.#write({ ...found, ...key, [attribute]: sum, [TABLE.expiry]: expiresAt });
      return sum;
    });
  }

  async *query(range: QueryRange): AsyncGenerator<Item> {
    const { partitionKey, sortKey } = range.index === true ? TABLE.index : TABLE;
    const limit = range.pageSize ?? PAGE;
    const order = range.newestFirst === true ? 'DESC' : 'ASC';
    const beyond = range.newestFirst === true ? '<' : '>';
    // In the index several items may share a sort key; the table's own key tells them apart.
    const place = range.index === true ? `${sortKey}, pk, sk` : sortKey;
    let last: Item | null = range.after === undefined ? null : this.#read(range.after);
    if (range.after !== undefined && last === null && range.index !== true) last = { ...range.after };
    for (;;) {
      const where = [`${partitionKey} = ?`];
      const values: SQLInputValue[] = [range.pk];
      if (range.prefix !== undefined) {
        where.push(`substr(${sortKey}, 1, length(?)) = ?`, `${sortKey} >= ?`);
        values.push(range.prefix, range.prefix, range.prefix);
      } else if (range.from !== undefined) {
        where.push(`${sortKey} >= ?`);
        values.push(range.from);
      }
      if (last !== null) {
        where.push(range.index === true ? `(${place}) ${beyond} (?, ?, ?)` : `${place} ${beyond} ?`);
        values.push(...(range.index === true ? [String(last[sortKey]), last.pk, last.sk] : [last.sk]));
      }
      const rows = this.#prepare(
        `SELECT item FROM items WHERE ${where.join(' AND ')} ORDER BY ${place
          .split(', ')
          .map((column) => `${column} ${order}`)
          .join(', ')} LIMIT ?`,
      ).all(...values, limit);
      for (const row of rows) {
        last = decode(String(row.item));
        if (this.#isAlive(last))
          yield range.only === undefined ? last : pick(last, [...range.only, TABLE.expiry]);
      }
      if (rows.length < limit) return;
    }
  }

  async getMany(keys: readonly ItemKey[]): Promise<Item[]> {
    const unique = [...new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key])).values()];
    return unique.flatMap((key) => {
      const item = this.#read(key);
      return item !== null && this.#isAlive(item) ? [item] : [];
    });
  }

  #read({ pk, sk }: ItemKey): Item | null {
    const row = this.#prepare('SELECT item FROM items WHERE pk = ? AND sk = ?').get(pk, sk);
    return row === undefined ? null : decode(String(row.item));
  }

  #write(item: Item): void {
    const indexKey = (name: string): string | null => (typeof item[name] === 'string' ? item[name] : null);
    this.#prepare('INSERT OR REPLACE INTO items (pk, sk, ipk, isk, item) VALUES (?, ?, ?, ?, ?)').run(
      item.pk,
      item.sk,
      indexKey(TABLE.index.partitionKey),
      indexKey(TABLE.index.sortKey),
      encode(item),
    );
  }

  /** Takes the write lock before it reads, so that what was compared still holds when it is written. */
  #transaction<T>(work: () => T): T {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #holds(condition: Condition, found: Item | null): boolean {
    if (typeof condition === 'object' && 'equals' in condition)
      return found?.[condition.attribute] === condition.equals;
    if (found === null || !this.#isAlive(found)) return true;
    if (condition === 'absent') return false;
    const value = found[condition.absentOrLess];
    return typeof value === 'string' && value < condition.than;
  }

  #isAlive(item: Item): boolean {
    const expires = item[TABLE.expiry];
    return typeof expires !== 'number' || expires * 1000 > this.#clock.now();
  }
}

function matchesAll(found: Item | null, all: Readonly<Record<string, Comparison>>): boolean {
  return Object.entries(all).every(([attribute, comparison]) => {
    const value = found?.[attribute];
    if (comparison === 'absent') return value === undefined;
    const { is, to } = comparison;
    if (is === '=') return value === to;
    if (typeof value === 'number' && typeof to === 'number') return is === '<' ? value < to : value <= to;
    if (typeof value === 'string' && typeof to === 'string') {
      const order = Buffer.compare(Buffer.from(value), Buffer.from(to));
      return is === '<' ? order < 0 : order <= 0;
    }
    return false;
  });
}

const withoutUndefined = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

function pick(item: Item, attributes: readonly string[]): Item {
  const { pk, sk } = item;
  const picked = Object.fromEntries(
    attributes.filter((name) => name in item).map((name) => [name, item[name]]),
  );
  return { ...picked, pk, sk };
}

/** Attributes of bytes stand as base64 behind a key of their own, since JSON has no bytes. */
const BYTES = '$base64';

function encode(item: Item): string {
  return JSON.stringify(
    Object.fromEntries(
      Object.entries(item).map(([name, value]) => [
        name,
        value instanceof Uint8Array ? { [BYTES]: Buffer.from(value).toString('base64') } : value,
      ]),
    ),
  );
}

function decode(text: string): Item {
  const item: Item = JSON.parse(text);
  for (const [name, value] of Object.entries(item)) {
    if (typeof value === 'object' && value !== null && BYTES in value && typeof value[BYTES] === 'string')
      item[name] = new Uint8Array(Buffer.from(value[BYTES], 'base64'));
  }
  return item;
}
