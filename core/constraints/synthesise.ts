import type { JsonValue } from '../base/json.ts';
import { Meter } from '../cel/meter.ts';
import type { ConstraintOrigin } from '../diagnosis/constraint.ts';
import { quarantine } from '../diagnosis/quarantine.ts';
import type { Coverage, Quarantined } from '../diagnosis/schema.ts';
import { ContextOverflowError, ModelOutputInvalidError } from '../errors/errors.ts';
import { UnusableAnswerError } from '../model/answer-defect.ts';
import { askForJson } from '../model/ask-for-json.ts';
import type { CallRecord } from '../model/call-record.ts';
import type { AnswerSchema, Model, ModelRequest, PromptText } from '../model/port.ts';
import { sortItems } from '../model/read-answer.ts';
import { resolveSpan } from '../prompting/resolve-span.ts';
import {
  constraintList,
  DYNAMIC_ANSWER,
  type DynamicItem,
  dynamicItem,
  GLOBAL_ANSWER,
  type GlobalItem,
  globalItem,
  toRawConstraint,
} from './answers.ts';
import { tryExamples } from './check-constraints.ts';
import type { CompiledConstraint } from './compile.ts';
import {
  type AgentText,
  CONSTRAINTS_PROMPT_VERSION,
  constraintRepairPrompt,
  globalPrompt,
} from './prompt-v2.ts';
import { admitConstraints } from './read-constraints.ts';
import { WORK_LIMITS } from './work-limits.ts';

/** Constraints a model wrote, and what became of the others. */
export interface Synthesis {
  readonly constraints: readonly CompiledConstraint[];
  readonly quarantined: readonly Quarantined[];
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

export const NO_SYNTHESIS: Synthesis = { constraints: [], quarantined: [], gaps: [], calls: [] };

/** 15 checks with two examples each take some 4,000 tokens; thinking models need as much again. */
const MAX_ANSWER_TOKENS = 8_000;

/** What one request brought. Refused ones may be repaired, in whichever round has a request to send anyway. */
export interface Draft extends Synthesis {
  readonly order: Order;
  readonly refused: readonly Refused[];
}

/** From instructions and tools only; the run is not among the arguments. */
export async function draftGlobal(agent: AgentText, model: Model): Promise<Draft> {
  const user = globalPrompt(agent);
  return draft({
    model,
    user,
    purpose: 'constraints-global',
    answer: GLOBAL_ANSWER,
    item: globalItem,
    origin: 'global',
    aliases: new Map(),
  });
}

export function draftDynamic(
  user: readonly PromptText[],
  aliases: ReadonlyMap<string, string>,
  model: Model,
): Promise<Draft> {
  return draft({
    model,
    user,
    purpose: 'constraints-dynamic',
    answer: DYNAMIC_ANSWER,
    item: dynamicItem,
    origin: 'dynamic',
    aliases,
  });
}

interface Order {
  readonly model: Model;
  readonly user: readonly PromptText[];
  readonly purpose: string;
  readonly answer: AnswerSchema;
  readonly item: typeof globalItem | typeof dynamicItem;
  readonly origin: ConstraintOrigin;
  readonly aliases: ReadonlyMap<string, string>;
}

/** Asks and compiles. Model faults become gaps; faults that a retry cures are thrown. */
async function draft(order: Order): Promise<Draft> {
  const asked = await askForItems(order, order.user, order.purpose, order.answer);
  if (asked.items === null) return { ...NO_SYNTHESIS, ...asked, order, refused: [] };
  const { valid, invalid } = sortItems<GlobalItem | DynamicItem>(asked.items, order.item);
  const { accepted, refused, dropped } = admitItems(valid, order);
  return {
    order,
    refused,
    constraints: accepted,
    quarantined: [
      ...invalid.map(({ reason, item }) =>
        quarantine('constraints', `${order.purpose}: ${reason}`, asJson(item)),
      ),
      ...dropped,
    ],
    gaps: [],
    calls: asked.calls,
  };
}

/** Has what a draft's request wrote in wrong language repaired, once: what that adds. Nothing refused, nothing asked. */
export async function repairDraft({ order, refused }: Draft): Promise<Synthesis> {
  if (refused.length === 0) return NO_SYNTHESIS;
  const repaired = await repair(order, refused);
  return {
    constraints: repaired.accepted,
    quarantined: [
      ...refused
        .filter(({ name }) => !repaired.names.has(name))
        .map(({ errors, item }) => quarantine('constraints', `refused: ${errors.join('; ')}`, asJson(item))),
      ...repaired.quarantined,
    ],
    gaps: repaired.gaps,
    calls: repaired.calls,
  };
}

const asJson = (value: unknown): JsonValue => JSON.stringify(value) ?? '';

interface Refused {
  readonly name: string;
  readonly errors: readonly string[];
  readonly item: GlobalItem | DynamicItem;
}

async function repair(order: Order, refused: readonly Refused[]) {
  const lines = refused.map(
    ({ item, errors }) => `${JSON.stringify(withoutExamples(item))}\n  refused: ${errors.join('; ')}`,
  );
  const asked = await askForItems(order, constraintRepairPrompt(lines), 'constraints-repair', DYNAMIC_ANSWER);
  if (asked.items === null) return { accepted: [], names: new Set<string>(), ...asked };
  const before = new Map(refused.map(({ name, item }) => [name, item]));
  const { valid } = sortItems<DynamicItem>(asked.items, dynamicItem);
  // Where it is asked and what it is called stay as they were: only the language was wrong.
  const known = valid.flatMap((item) => {
    const old = before.get(item.name);
    return old === undefined ? [] : [{ ...item, spans: 'spans' in old ? old.spans : [] }];
  });
  const { accepted, dropped } = admitItems(known, order);
  return {
    accepted,
    names: new Set(accepted.map(({ constraint }) => constraint.name)),
    quarantined: dropped,
    gaps: asked.gaps,
    calls: asked.calls,
  };
}

function withoutExamples(item: GlobalItem | DynamicItem): object {
  return 'meeting' in item ? { ...item, meeting: undefined, violating: undefined } : item;
}

/** `refused`: does not compile and may be repaired. `dropped`: contradicts its own examples, or names no span. */
function admitItems(items: readonly (GlobalItem | DynamicItem)[], order: Order) {
  const refused: Refused[] = [];
  const dropped: Quarantined[] = [];
  const accepted: CompiledConstraint[] = [];
  const names = new Set<string>();
  const work = new Meter(WORK_LIMITS.session);
  for (const item of items) {
    const name = uniqueName(item.name, names);
    names.add(name);
    const set = admitConstraints([toRawConstraint({ ...item, name })], order.origin);
    const [compiled] = set.accepted;
    if (compiled === undefined) {
      refused.push({ name: item.name, item, errors: set.refused.flatMap(({ errors }) => errors) });
      continue;
    }
    const only = 'spans' in item ? spansOf(item.spans, order.aliases) : null;
    const wrong = compiled.assertion === null ? [] : tryExamples(compiled, work).wrong;
    if (wrong.length > 0 || only?.size === 0) {
      const reason =
        wrong.length > 0 ? `its own examples: ${wrong.join('; ')}` : 'it names no span of the run';
      dropped.push(quarantine('constraints', reason, asJson(item)));
    } else {
      accepted.push({ ...compiled, only });
    }
  }
  return { accepted, refused, dropped };
}

function uniqueName(name: string, taken: ReadonlySet<string>): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .slice(0, 70);
  const base = plain === '' ? 'unnamed' : plain;
  let made = base;
  for (let number = 2; taken.has(made); number += 1) made = `${base}-${number}`;
  return made;
}

/** `null` for everywhere; an empty set when spans were named and none is one of the run. */
function spansOf(said: readonly string[], aliases: ReadonlyMap<string, string>): ReadonlySet<string> | null {
  if (said.length === 0) return null;
  const found = said.map((span) => resolveSpan(span, { aliases }).spanId);
  return new Set(found.filter((spanId) => spanId !== null));
}

interface Asked {
  readonly items: readonly unknown[] | null;
  readonly quarantined: readonly Quarantined[];
  readonly gaps: Coverage['gaps'];
  readonly calls: readonly CallRecord[];
}

async function askForItems(
  { model }: Order,
  user: readonly PromptText[],
  purpose: string,
  answer: AnswerSchema,
): Promise<Asked> {
  const request: ModelRequest = {
    purpose,
    promptVersion: CONSTRAINTS_PROMPT_VERSION,
    user,
    answer,
    maxOutputTokens: Math.min(MAX_ANSWER_TOKENS, model.limits.maxOutputTokens),
  };
  try {
    const { value, calls } = await askForJson(model, request, constraintList);
    return { items: value.constraints, quarantined: [], gaps: [], calls };
  } catch (error) {
    const fault = modelFault(error);
    return {
      items: null,
      quarantined: [],
      gaps: [{ what: purpose, reason: fault.reason, spanIds: [] }],
      calls: fault.calls,
    };
  }
}

/** A fault of the model's answer as the reason of a gap; anything that a later try can cure is thrown again. */
export function modelFault(error: unknown): {
  readonly reason: string;
  readonly calls: readonly CallRecord[];
} {
  if (error instanceof ContextOverflowError)
    return { reason: `context-overflow: ${error.message}`, calls: [] };
  if (!(error instanceof ModelOutputInvalidError)) throw error;
  const calls = error instanceof UnusableAnswerError ? error.calls : [];
  return { reason: `model-output-invalid: ${error.message}`, calls };
}
