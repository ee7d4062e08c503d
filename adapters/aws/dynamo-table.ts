import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb';
import { type ItemKey, TABLE } from '../../core/ports/table.ts';

/** An item as plain values; binary as Uint8Array. */
export type Item = ItemKey & Record<string, unknown>;

/** What must hold of the stored item for a write to happen. */
export type Condition =
  | 'absent'
  /** No item (or an expired one), or one whose number in the attribute is smaller: pointers that only move forward. */
  | { readonly absentOrLess: string; readonly than: number }
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

/**
 * The few operations that the stores need: single-item conditional writes, consistent reads, bounded queries.
 * Every attribute name is aliased (status, ttl, name, … are reserved words). Expired items are left out, because
 * DynamoDB deletes them up to days late.
 */
export class DynamoTable {
  readonly #client: DynamoDBClient;
  readonly #name: string;
  readonly #nowMs: () => number;

  constructor(client: DynamoDBClient, name: string, nowMs: () => number) {
    this.#client = client;
    this.#name = name;
    this.#nowMs = nowMs;
  }

  async get(key: ItemKey): Promise<Item | null> {
    const { Item: item } = await this.#client.send(
      new GetItemCommand({ TableName: this.#name, Key: marshall(key), ConsistentRead: true }),
    );
    return item === undefined ? null : this.#alive(toItem(item));
  }

  async put(item: Item): Promise<void> {
    await this.#client.send(new PutItemCommand({ TableName: this.#name, Item: toRecord(item) }));
  }

  /** Returns false, and changes nothing, when the condition does not hold. */
  async putIf(item: Item, condition: Condition): Promise<boolean> {
    const { expression, names, values } = expressCondition(condition, Math.floor(this.#nowMs() / 1000));
    try {
      await this.#client.send(
        new PutItemCommand({
          TableName: this.#name,
          Item: toRecord(item),
          ConditionExpression: expression,
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: marshall(values),
        }),
      );
      return true;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return false;
      throw error;
    }
  }

  /**
   * Sets and removes attributes of one item, creating it if need be, and returns the item after the write; `null`,
   * having changed nothing, when the condition does not hold. `keep` are set only if they are not there yet.
   */
  async update(
    key: ItemKey,
    change: {
      readonly set: Readonly<Record<string, unknown>>;
      readonly keep?: Readonly<Record<string, unknown>>;
      readonly remove?: readonly string[];
      /** Alternatives, of which one must hold whole. */
      readonly onlyIf?: readonly Readonly<Record<string, Comparison>>[];
    },
  ): Promise<Item | null> {
    const names: Record<string, string> = {};
    const values: Record<string, unknown> = {};
    const name = (attribute: string): string => {
      const alias = `#u${Object.keys(names).length}`;
      names[alias] = attribute;
      return alias;
    };
    const value = (given: unknown): string => {
      const alias = `:u${Object.keys(values).length}`;
      values[alias] = given;
      return alias;
    };
    const sets = Object.entries(change.set).map(
      ([attribute, given]) => `${name(attribute)} = ${value(given)}`,
    );
    for (const [attribute, given] of Object.entries(change.keep ?? {})) {
      const alias = name(attribute);
      sets.push(`${alias} = if_not_exists(${alias}, ${value(given)})`);
    }
    const removes = (change.remove ?? []).map(name);
    const condition = change.onlyIf
      ?.map((all) =>
        Object.entries(all)
          .map(([attribute, comparison]) => {
            if (comparison === 'absent') return `attribute_not_exists(${name(attribute)})`;
            return `${name(attribute)} ${comparison.is} ${value(comparison.to)}`;
          })
          .join(' AND '),
      )
      .map((alternative) => `(${alternative})`)
      .join(' OR ');
    try {
      const { Attributes } = await this.#client.send(
        new UpdateItemCommand({
          TableName: this.#name,
          Key: marshall(key),
          UpdateExpression: [
            `SET ${sets.join(', ')}`,
            removes.length === 0 ? '' : `REMOVE ${removes.join(', ')}`,
          ]
            .join(' ')
            .trim(),
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: marshall(values, { removeUndefinedValues: true }),
          ReturnValues: 'ALL_NEW',
          ...(condition === undefined ? {} : { ConditionExpression: condition }),
        }),
      );
      return toItem(Attributes ?? {});
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) return null;
      throw error;
    }
  }

  async *query(range: QueryRange): AsyncGenerator<Item> {
    const { partitionKey, sortKey } = range.index === true ? TABLE.index : TABLE;
    const names: Record<string, string> = { '#pk': partitionKey };
    const values: Record<string, string> = { ':pk': range.pk };
    let condition = '#pk = :pk';
    if (range.prefix !== undefined) {
      condition += ' AND begins_with(#sk, :prefix)';
      values[':prefix'] = range.prefix;
    } else if (range.from !== undefined) {
      condition += ' AND #sk >= :from';
      values[':from'] = range.from;
    }
    if (values[':prefix'] !== undefined || values[':from'] !== undefined) names['#sk'] = sortKey;
    const only = range.only?.map((name, index) => {
      names[`#a${index}`] = name;
      return `#a${index}`;
    });
    let start = range.after === undefined ? undefined : marshall(range.after);
    do {
      const page = await this.#client.send(
        new QueryCommand({
          TableName: this.#name,
          KeyConditionExpression: condition,
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: marshall(values),
          ScanIndexForward: range.newestFirst !== true,
          ...(range.index === true ? { IndexName: TABLE.index.name } : { ConsistentRead: true }),
          ...(only === undefined ? {} : { ProjectionExpression: only.join(', ') }),
          ...(range.pageSize === undefined ? {} : { Limit: range.pageSize }),
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        }),
      );
      for (const record of page.Items ?? []) {
        const item = this.#alive(toItem(record));
        if (item !== null) yield item;
      }
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  }

  /** The items that exist among the keys, in no order. */
  async getMany(keys: readonly ItemKey[]): Promise<Item[]> {
    const unique = [...new Map(keys.map((key) => [`${key.pk}\n${key.sk}`, key])).values()];
    const found: Item[] = [];
    // BatchGetItem takes 100 keys and may hand some back unprocessed.
    let open = unique.map((key) => marshall(key));
    while (open.length > 0) {
      const { Responses, UnprocessedKeys } = await this.#client.send(
        new BatchGetItemCommand({ RequestItems: { [this.#name]: { Keys: open.slice(0, 100) } } }),
      );
      for (const record of Responses?.[this.#name] ?? []) {
        const item = this.#alive(toItem(record));
        if (item !== null) found.push(item);
      }
      open = [...(UnprocessedKeys?.[this.#name]?.Keys ?? []), ...open.slice(100)];
    }
    return found;
  }

  #alive(item: Item): Item | null {
    const expires = item[TABLE.expiry];
    return typeof expires === 'number' && expires * 1000 <= this.#nowMs() ? null : item;
  }
}

function expressCondition(
  condition: Condition,
  nowSeconds: number,
): { expression: string; names: Record<string, string>; values: Record<string, unknown> } {
  if (typeof condition === 'object' && 'equals' in condition)
    return {
      expression: '#a = :value',
      names: { '#a': condition.attribute },
      values: { ':value': condition.equals },
    };
  // Expired counts as absent here too, or a name would stay taken by an item that no reader can see.
  const absent = 'attribute_not_exists(#pk) OR #expiry <= :now';
  const names = { '#pk': TABLE.partitionKey, '#expiry': TABLE.expiry };
  if (condition === 'absent') return { expression: absent, names, values: { ':now': nowSeconds } };
  return {
    expression: `${absent} OR #a < :value`,
    names: { ...names, '#a': condition.absentOrLess },
    values: { ':now': nowSeconds, ':value': condition.than },
  };
}

const toRecord = (item: Item): Record<string, AttributeValue> =>
  marshall(item, { removeUndefinedValues: true });

function toItem(record: Record<string, AttributeValue>): Item {
  const plain = unmarshall(record);
  return { ...plain, pk: String(plain[TABLE.partitionKey]), sk: String(plain[TABLE.sortKey]) };
}
