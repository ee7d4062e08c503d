import type { Clock } from '../../core/base/clock.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import type { Budget } from '../../core/ports/ports.ts';
import { budgetKey } from '../../core/ports/table.ts';
import type { Table } from './table.ts';

/** What was held or spent is written down whatever it is: a billion dollars, a number that the client can still write. */
const NO_LIMIT = 1e15;
/** A counter is looked at for a while after its day, for what it came to. */
const KEPT_DAYS = 90;

/**
 * The budget of a day (UTC) in the single table: one counter, moved by conditional writes before each call, so that
 * however many functions ask at the same time, what is held and spent never exceeds the limit. A call that dies between
 * the two writes stays held until the day ends: the limit errs on the side of not spending.
 */
export class DailyBudget implements Budget {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #limitMicroUsd: number;

  constructor(table: Table, clock: Clock, limitUsd: number) {
    this.#table = table;
    this.#clock = clock;
    this.#limitMicroUsd = Math.floor(limitUsd * 1_000_000);
  }

  async reserve(microUsd: number): Promise<boolean> {
    return (await this.#add(microUsd, this.#limitMicroUsd)) !== null;
  }

  async settle(heldMicroUsd: number, spentMicroUsd: number): Promise<void> {
    if (spentMicroUsd !== heldMicroUsd) await this.#add(spentMicroUsd - heldMicroUsd, NO_LIMIT);
  }

  async #add(amount: number, atMost: number): Promise<number | null> {
    const now = this.#clock.now();
    const day = new Date(now).toISOString().slice(0, 10);
    const expiresAt = Math.floor(now / 1000) + KEPT_DAYS * 86_400;
    return await this.#table.add(budgetKey(day), 'microUsd', amount, { atMost, expiresAt });
  }
}

/** The budget as the variables of a step give it, in the form that `createModel` takes; nothing where there is none. */
export async function dailyBudgetOf(
  env: { readonly TABLE_NAME: string; readonly DAILY_BUDGET_USD: number | null },
  clock: Clock,
  counter: TokenCounter,
): Promise<{ budget?: { budget: Budget; counter: TokenCounter } }> {
  if (env.DAILY_BUDGET_USD === null) return {};
  // Most accounts set none: their model steps need no client of the table.
  const [{ DynamoDBClient }, { DynamoTable }] = await Promise.all([
    import('@aws-sdk/client-dynamodb'),
    import('./dynamo-table.ts'),
  ]);
  const table = new DynamoTable(new DynamoDBClient({}), env.TABLE_NAME, clock);
  return { budget: { budget: new DailyBudget(table, clock, env.DAILY_BUDGET_USD), counter } };
}
