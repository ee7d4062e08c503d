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
import type { Clock } from '../../core/base/clock.ts';
import { type ItemKey, TABLE } from '../../core/ports/table.ts';
import type { Condition, Item, QueryRange, Table, TableChange } from './table.ts';

/** The table in DynamoDB. Every attribute name is aliased (status, ttl, name, … are reserved words). */
export class DynamoTable implements Table {
  readonly #client: DynamoDBClient;
  readonly #name: string;
  readonly #clock: Clock;

  constructor(client: DynamoDBClient, name: string, clock: Clock) {
    this.#client = client;
    this.#name = name;
    this.#clock = clock;
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

  async putIf(item: Item, condition: Condition): Promise<boolean> {
    const { expression, names, values } = expressCondition(condition, Math.floor(this.#clock.now() / 1000));
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

  async update(key: ItemKey, change: TableChange): Promise<Item | null> {
    const names: Record<string, string> = {};
    const values: Record<string, unknown> = {};
    const name = (attribute: string): string => {
      const alias = `#u${Object.keys(names).length}`;
      names[alias] = attribute;
      return alias;
    };
    const value = (attributeValue: unknown): string => {
      const alias = `:u${Object.keys(values).length}`;
      values[alias] = attributeValue;
      return alias;
    };
    const sets = Object.entries(change.set).map(
      ([attribute, attributeValue]) => `${name(attribute)} = ${value(attributeValue)}`,
    );
    for (const [attribute, attributeValue] of Object.entries(change.keep ?? {})) {
      const alias = name(attribute);
      sets.push(`${alias} = if_not_exists(${alias}, ${value(attributeValue)})`);
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

  async add(
    key: ItemKey,
    attribute: string,
    amount: number,
    { atMost, expiresAt }: { readonly atMost: number; readonly expiresAt: number },
  ): Promise<number | null> {
    try {
      const { Attributes } = await this.#client.send(
        new UpdateItemCommand({
          TableName: this.#name,
          Key: marshall(key),
          UpdateExpression: 'SET #a = if_not_exists(#a, :zero) + :amount, #expiry = :expiry',
          ConditionExpression:
            amount > atMost
              ? 'attribute_exists(#a) AND #a <= :rest'
              : 'attribute_not_exists(#a) OR #a <= :rest',
          ExpressionAttributeNames: { '#a': attribute, '#expiry': TABLE.expiry },
          ExpressionAttributeValues: marshall({
            ':zero': 0,
            ':amount': amount,
            ':rest': atMost - amount,
            ':expiry': expiresAt,
          }),
          ReturnValues: 'UPDATED_NEW',
        }),
      );
      return Number(unmarshall(Attributes ?? {})[attribute]);
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
    // Keys and expiry are always asked for: without them an item has no name, and an expired one looks alive.
    const wanted = range.only === undefined ? undefined : new Set([...range.only, 'pk', 'sk', TABLE.expiry]);
    const only = [...(wanted ?? [])].map((name, index) => {
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
          ...(wanted === undefined ? {} : { ProjectionExpression: only.join(', ') }),
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
    return typeof expires === 'number' && expires * 1000 <= this.#clock.now() ? null : item;
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
