import type { ItemKey } from '../../core/ports/table.ts';

/** An item as plain values; binary as Uint8Array. */
export type Item = ItemKey & Record<string, unknown>;

/** What must hold of the stored item for a write to happen. */
export type Condition =
  | 'absent'
  /** No item (or an expired one), or one whose text in the attribute is smaller: pointers that only move forward. */
  | { readonly absentOrLess: string; readonly than: string }
  /** Compare and set. */
  | { readonly attribute: string; readonly equals: string };

export type Comparison = 'absent' | { readonly is: '=' | '<=' | '<'; readonly to: string | number };

export interface QueryRange {
  readonly pk: string;
  readonly index?: boolean;
  /** Sort keys from here on, inclusive. */
  readonly from?: string;
  readonly prefix?: string;
  readonly newestFirst?: boolean;
  /** Goes on behind this item; the last one of the page before. */
  readonly after?: ItemKey;
  /** Attributes to bring; all when absent. */
  readonly only?: readonly string[];
  /** Items to ask for at once. */
  readonly pageSize?: number;
}

export interface TableChange {
  readonly set: Readonly<Record<string, unknown>>;
  /** Set only if they are not there yet. */
  readonly keep?: Readonly<Record<string, unknown>>;
  readonly remove?: readonly string[];
  /** Alternatives, of which one must hold whole. */
  readonly onlyIf?: readonly Readonly<Record<string, Comparison>>[];
}

/**
 * The few operations that the stores need of the single table: single-item conditional writes, consistent reads,
 * bounded queries. DynamoDB in the account, SQLite locally, one contract suite over both. Expired items are left out of
 * what is read, because DynamoDB deletes them up to days late.
 */
export interface Table {
  get(key: ItemKey): Promise<Item | null>;
  put(item: Item): Promise<void>;
  /** Returns false, and changes nothing, when the condition does not hold. */
  putIf(item: Item, condition: Condition): Promise<boolean>;
  /**
   * Sets and removes attributes of one item, creating it if need be, and returns the item after the write; `null`,
   * having changed nothing, when the condition does not hold.
   */
  update(key: ItemKey, change: TableChange): Promise<Item | null>;
  /**
   * Adds to a number of one item, creating both if need be, in one write that many may do at the same time. Returns
   * the sum; `null`, having changed nothing, when it would exceed `atMost`. An expired item counts as it stands.
   */
  add(
    key: ItemKey,
    attribute: string,
    amount: number,
    rules: { readonly atMost: number; readonly expiresAt: number },
  ): Promise<number | null>;
  query(range: QueryRange): AsyncGenerator<Item>;
  /** The items that exist among the keys, in no order. */
  getMany(keys: readonly ItemKey[]): Promise<Item[]>;
}
