import type { Condition, Item, QueryRange, Table, TableChange } from '../../adapters/aws/table.ts';
import type { ItemKey } from '../../core/ports/table.ts';

/** DynamoDB reads in units of 4 KB: one a consistent read of up to that much, half a unit an eventually consistent one. */
const UNIT = 4096;
const CONSISTENT = 1;
const EVENTUAL = 0.5;
/** A page of a query ends at 1 MB, whatever its limit. */
const PAGE_BYTES = 1_048_576;

/**
 * Counts what DynamoDB would charge for reading, by its written rules: a query pays for all items of each page that it
 * asks for, rounded up by page; a batch pays for each item by itself. Consistency as `DynamoTable` asks for it.
 */
export class MeteredTable implements Table {
  readonly #table: Table;
  units = 0;
  requests = 0;
  items = 0;

  constructor(table: Table) {
    this.#table = table;
  }

  reset(): void {
    this.units = 0;
    this.requests = 0;
    this.items = 0;
  }

  async get(key: ItemKey): Promise<Item | null> {
    const item = await this.#table.get(key);
    this.#charge(item === null ? [] : [item], CONSISTENT);
    return item;
  }

  async getMany(keys: readonly ItemKey[]): Promise<Item[]> {
    const items = await this.#table.getMany(keys);
    for (const item of items) this.units += unitsOf(sizeOf(item)) * EVENTUAL;
    // One that is not there costs as much as the smallest that is.
    this.units += (keys.length - items.length) * EVENTUAL;
    this.requests += Math.ceil(keys.length / 100);
    this.items += items.length;
    return items;
  }

  async *query(range: QueryRange): AsyncGenerator<Item> {
    // What a projection leaves out is read all the same.
    const { only: _only, ...whole } = range;
    const source = this.#table.query(whole);
    for (;;) {
      const page: Item[] = [];
      let bytes = 0;
      let ended = false;
      while (page.length < (range.pageSize ?? Number.POSITIVE_INFINITY) && bytes < PAGE_BYTES) {
        const next = await source.next();
        if (next.done === true) {
          ended = true;
          break;
        }
        page.push(next.value);
        bytes += sizeOf(next.value);
      }
      this.#charge(page, range.index === true ? EVENTUAL : CONSISTENT);
      yield* page;
      if (ended) return;
    }
  }

  put(item: Item): Promise<void> {
    return this.#table.put(item);
  }
  putIf(item: Item, condition: Condition): Promise<boolean> {
    return this.#table.putIf(item, condition);
  }
  update(key: ItemKey, change: TableChange): Promise<Item | null> {
    return this.#table.update(key, change);
  }
  add(...args: Parameters<Table['add']>): ReturnType<Table['add']> {
    return this.#table.add(...args);
  }

  #charge(items: readonly Item[], unit: number): void {
    this.units += unitsOf(items.reduce((sum, item) => sum + sizeOf(item), 0)) * unit;
    this.requests += 1;
    this.items += items.length;
  }
}

const unitsOf = (bytes: number): number => Math.max(1, Math.ceil(bytes / UNIT));

/** Names and values in UTF-8, about: numbers and structure count a little otherwise. */
function sizeOf(item: Item): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item))
    bytes +=
      name.length +
      (value instanceof Uint8Array ? value.length : Buffer.byteLength(JSON.stringify(value) ?? ''));
  return bytes;
}
