import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DailyBudget } from '../../../adapters/aws/daily-budget.ts';
import { DynamoTable } from '../../../adapters/aws/dynamo-table.ts';
import type { Table } from '../../../adapters/aws/table.ts';
import { SqliteTable } from '../../../adapters/local/sqlite-table.ts';
import { budgetedModel } from '../../../adapters/models/budgeted.ts';
import { cachedModel } from '../../../adapters/models/cached.ts';
import {
  BudgetExhaustedError,
  ConfigurationInvalidError,
  ModelOutputInvalidError,
  ModelThrottledError,
} from '../../../core/errors/errors.ts';
import { capabilitiesOfSpec } from '../../../core/model/capabilities.ts';
import type { Model, ModelRequest } from '../../../core/model/port.ts';
import { NO_TOKENS, priceUsage } from '../../../core/model/price-usage.ts';
import { hashRequest } from '../../../core/model/request-body.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { budgetKey } from '../../../core/ports/table.ts';
import { type EmbeddedDynamo, startEmbeddedDynamo } from '../../helpers/embedded-dynamo.ts';
import { MemoryObjectStore } from '../../helpers/memory-ports.ts';
import { sampleRequest } from '../../helpers/sample-request.ts';

const SPEC = 'bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0';
const counter = makeTokenCounter();
const DAY = '2026-11-30';
const clock = { now: () => Date.parse(`${DAY}T22:00:00Z`) };

let dynamo: EmbeddedDynamo;
beforeAll(async () => {
  dynamo = await startEmbeddedDynamo();
});
afterAll(async () => {
  await dynamo.close();
});

/** Answers at list prices after a turn of the event loop, and remembers what it was asked and paid for. */
function pricedModel(fault?: () => Error): Model & { readonly asked: string[]; spentUsd(): number } {
  const asked: string[] = [];
  let spent = 0;
  return {
    spec: SPEC,
    limits: capabilitiesOfSpec(SPEC),
    asked,
    spentUsd: () => spent,
    async ask(request) {
      const requestHash = hashRequest(SPEC, request);
      asked.push(requestHash);
      await new Promise((resolve) => setImmediate(resolve));
      if (fault !== undefined) throw fault();
      const usage = priceUsage(
        { ...NO_TOKENS, inputTokens: 900, outputTokens: 120 },
        capabilitiesOfSpec(SPEC),
      );
      spent += usage.costUsd ?? 0;
      return {
        text: '{"ok":true}',
        usage,
        model: SPEC,
        outputMode: 'text',
        requestHash,
        cached: false,
        durationMs: 1,
      };
    },
  };
}

const question = (n: number): ModelRequest => sampleRequest({ user: [{ text: `session ${n}` }] });

async function spentOf(table: Table): Promise<number> {
  return Number((await table.get(budgetKey(DAY)))?.microUsd) / 1_000_000;
}

const exhausted = (results: readonly PromiseSettledResult<unknown>[]): number =>
  results.filter((result) => result.status === 'rejected' && result.reason instanceof BudgetExhaustedError)
    .length;

describe.each<[string, () => Table]>([
  ['DynamoDB', () => new DynamoTable(dynamo.client, dynamo.tableName, clock)],
  ['SQLite', () => new SqliteTable(null, clock)],
])('a budget of one cent over %s, under 50 sessions at once', (_name, open) => {
  it('is never exceeded; after a raise the rest is asked, and nothing twice', async () => {
    const table = open();
    const store = new MemoryObjectStore();
    const inner = pricedModel();
    const withLimit = (usd: number): Model =>
      cachedModel(budgetedModel(inner, new DailyBudget(table, clock, usd), counter), store);
    const askAll = async (model: Model) =>
      await Promise.allSettled(Array.from({ length: 50 }, (_, n) => model.ask(question(n))));

    const poor = await askAll(withLimit(0.01));
    const done = poor.filter(({ status }) => status === 'fulfilled').length;
    for (const result of poor)
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(BudgetExhaustedError);
    expect(done).toBeGreaterThan(0);
    expect(exhausted(poor)).toBe(50 - done);
    expect(inner.asked).toHaveLength(done);
    expect(inner.spentUsd()).toBeLessThanOrEqual(0.01);
    expect(await spentOf(table)).toBeGreaterThanOrEqual(inner.spentUsd());
    expect(await spentOf(table)).toBeLessThanOrEqual(0.01);

    const rich = await askAll(withLimit(10));
    expect(exhausted(rich)).toBe(0);
    expect(new Set(inner.asked).size).toBe(50);
    expect(inner.asked).toHaveLength(50);
  });
});

describe('what a call holds', () => {
  const settle = async (fault: () => Error): Promise<number> => {
    const table = new SqliteTable(null, clock);
    const model = budgetedModel(pricedModel(fault), new DailyBudget(table, clock, 1), counter);
    await expect(model.ask(question(1))).rejects.toThrow();
    return await spentOf(table);
  };

  it('is given back when nothing was generated, and stays when something may have been', async () => {
    expect(await settle(() => new ModelThrottledError('slow down'))).toBe(0);
    expect(await settle(() => new ModelOutputInvalidError('no JSON'))).toBeGreaterThan(0);
  });

  it('is counted by the day: yesterday does not use up today', async () => {
    const table = new SqliteTable(null, clock);
    const inner = pricedModel();
    const yesterday = { now: () => clock.now() - 86_400_000 };
    const one = budgetedModel(inner, new DailyBudget(table, yesterday, 0.009), counter);
    await one.ask(question(1));
    await expect(one.ask(question(2))).resolves.toBeDefined();
    await expect(
      (async () => {
        for (let n = 3; n < 20; n++) await one.ask(question(n));
      })(),
    ).rejects.toBeInstanceOf(BudgetExhaustedError);
    await budgetedModel(inner, new DailyBudget(table, clock, 0.009), counter).ask(question(20));
  });

  it('needs a price: a limit that cannot be held is refused', () => {
    const model = { ...pricedModel(), spec: 'openai:some-model@http://127.0.0.1:1/v1' };
    const budget = new DailyBudget(new SqliteTable(null, clock), clock, 1);
    expect(() => budgetedModel(model, budget, counter)).toThrow(ConfigurationInvalidError);
  });
});
