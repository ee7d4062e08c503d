import * as z from 'zod';
import { canonicalJson } from '../../base/hash.ts';
import { isDeeper, isJsonObject, type JsonValue } from '../../base/json.ts';
import { type ExpectedAction, expectedActionsSchema } from '../../diagnosis/expected-action.ts';
import type { CriticalStep } from '../../diagnosis/schema.ts';
import { ConfigurationInvalidError } from '../../errors/errors.ts';
import { failureOf } from '../../trajectory/exchanges.ts';
import type { Step, ToolExchange, Trajectory } from '../../trajectory/trajectory.ts';

/** Levels of a file of expected actions: arguments of tools nest a handful. */
const MAX_LEVELS = 64;

/** Reads a file of expected actions: a list of `{name, arguments}`. ConfigurationInvalidError when it is none. */
export function readExpectedActions(text: string, source: string): readonly ExpectedAction[] {
  const expected = 'a JSON list such as [{"name":"cancel_order","arguments":{"id":"W1"}}]';
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new ConfigurationInvalidError(`${source} is not JSON; expected ${expected}`, { cause });
  }
  if (isDeeper(json, MAX_LEVELS)) {
    throw new ConfigurationInvalidError(
      `${source} is nested deeper than ${MAX_LEVELS} levels; expected ${expected}`,
    );
  }
  const read = expectedActionsSchema.safeParse(json);
  if (read.success) return read.data;
  const found = z.prettifyError(read.error).slice(0, 400);
  throw new ConfigurationInvalidError(`${source}: ${found}. Expected ${expected}`);
}

/** First words of names of tools that only look. Anything else counts as a write when it is not expected. */
const LOOKS =
  /^(?:get|find|list|search|read|look|lookup|fetch|query|show|view|describe|check|calculate|compute|count|retrieve|browse|open|think|plan|summarize|summarise|validate|verify|estimate|compare)(?:[^a-z]|$)/;

/**
 * The mode with a reference: a user who knows which actions a run should have taken gives them, and the critical
 * step is the first write that is not among them. The strongest deterministic signal there is, hence kept apart from
 * everything that judges without an answer, and labelled `reference`.
 *
 * `null` when every write was expected and every expected action was taken.
 */
export function judgeByReference(
  trajectory: Trajectory,
  expected: readonly ExpectedAction[],
): CriticalStep | null {
  const open = expected.map(keyOf);
  for (const exchange of trajectory.exchanges) {
    // A refused call changed nothing.
    if (failureOf(exchange) !== null) continue;
    const at = open.indexOf(keyOf(exchange));
    if (at >= 0) {
      open.splice(at, 1);
      continue;
    }
    const step = trajectory.steps[exchange.callStep];
    if (step === undefined || onlyLooks(exchange.name)) continue;
    const near = expected.some(({ name }) => name === exchange.name);
    return judged(step, 0.9, {
      reason: near
        ? `${exchange.name} was expected with other arguments: the first write that is not an expected one.`
        : `${exchange.name} is not among the expected actions: the first write that is not an expected one.`,
      evidence: quoteCall(step, exchange),
    });
  }
  const missing = expected.filter((action) => open.includes(keyOf(action)) && !onlyLooks(action.name));
  const last = trajectory.steps.findLast(({ parts }) => parts.some(({ role }) => role === 'assistant'));
  if (missing.length === 0 || last === undefined) return null;
  const names = missing.map(({ name }) => name).join(', ');
  const reason = `The run ended without expected actions: ${names}.`;
  return judged(last, 0.75, { reason, evidence: [] });
}

function onlyLooks(name: string): boolean {
  return LOOKS.test(name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase());
}

const keyOf = ({ name, arguments: args }: { readonly name: string; readonly arguments: JsonValue }): string =>
  `${name} ${canonicalJson(plain(args))}`;

/** Sentences are worded as one likes: two free texts ask for the same, whatever they say. */
const FREE_TEXT_WORDS = 6;

/** Arguments as a tool reads them: `"3"` and 3, and lists of ids in any order, ask for the same. */
function plain(value: JsonValue): JsonValue {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string')
    return value.trim().split(/\s+/).length > FREE_TEXT_WORDS ? '(text)' : value.trim();
  if (Array.isArray(value))
    return value.map(plain).sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

function quoteCall(step: Step, { name, arguments: args }: ToolExchange): CriticalStep['evidence'] {
  return [{ spanId: step.spanId, quote: `${name}(${JSON.stringify(args)})`.slice(0, 300), note: 'the call' }];
}

/** The reference says where, not why: the category is left to whoever explains (`inconclusive` without a model). */
function judged(
  step: Step,
  confidence: number,
  said: Pick<CriticalStep, 'reason' | 'evidence'>,
): CriticalStep {
  const { spanId, position, agent } = step;
  return {
    spanId,
    position,
    agent,
    category: 'inconclusive',
    confidence,
    ...said,
    alternatives: [],
    agreement: null,
    judgedBy: 'reference',
  };
}
