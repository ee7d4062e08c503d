import type { JsonValue } from '../base/json.ts';
import type { Block, SpanFlag, ToolSpan } from '../session/session.ts';
import { type BlockKeys, callKey } from './block-key.ts';
import type { ToolExchange } from './trajectory.ts';

type UseBlock = Extract<Block, { type: 'tool_use' }>;
type ResultBlock = Extract<Block, { type: 'tool_result' }>;

interface Draft {
  readonly name: string;
  readonly arguments: JsonValue;
  readonly argumentsRaw: string | null;
  readonly toolCallId: string | null;
  readonly callStep: number;
  /** A tool span has taken this call as its own. */
  claimed: boolean;
  resultStep: number | null;
  result: string | null;
  isError: boolean | null;
}

/** The ledger of tool calls and results while a trajectory is laid out. */
export interface ExchangeLedger {
  /** A call that an inference or message span shows. */
  addCall(step: number, block: UseBlock): void;
  /** A tool span. True: its call already stands at another step, so only the result is news. */
  addToolSpan(step: number, span: ToolSpan): boolean;
  /** Whether an input repeats this call or result, which stands at another step. */
  isKnownCall(block: UseBlock): boolean;
  isKnownResult(block: ResultBlock): boolean;
  /** A result without a tool span of its own. */
  addResult(step: number, block: ResultBlock): void;
  /** Pairs what is still open. `flags` name the steps where the pairing was a guess or ids were not unique. */
  close(): { exchanges: ToolExchange[]; flags: ReadonlyMap<number, ReadonlySet<SpanFlag>> };
}

/** A producer that numbers each turn's calls afresh reuses an id without end; the repetition is of a recent one. */
const REUSES_COMPARED = 50;

export function makeExchangeLedger(keys: BlockKeys): ExchangeLedger {
  const drafts: Draft[] = [];
  const unclaimedById = new Map<string, Draft[]>();
  const unclaimedByIdAndName = new Map<string, Draft[]>();
  const unclaimedByCall = new Map<string, Draft[]>();
  const unclaimedByName = new Map<string, Draft[]>();
  const callsById = new Map<string, string[]>();
  const toolSpanCalls = new Map<string, number>();
  const resultsById = new Map<string, string[]>();
  const toolSpanResults = new Map<string, number>();
  const looseResults: { step: number; block: ResultBlock }[] = [];
  const flags = new Map<number, Set<SpanFlag>>();

  const flag = (step: number, value: SpanFlag): void => {
    const set = flags.get(step) ?? new Set();
    flags.set(step, set.add(value));
  };
  const add = (step: number, call: Omit<UseBlock, 'type'>, claimed: boolean): Draft => {
    const draft: Draft = {
      name: call.name,
      arguments: call.arguments,
      argumentsRaw: call.argumentsRaw ?? null,
      toolCallId: call.toolCallId,
      callStep: step,
      claimed,
      resultStep: null,
      result: null,
      isError: null,
    };
    drafts.push(draft);
    if (call.toolCallId !== null) {
      if (callsById.has(call.toolCallId)) flag(step, 'duplicate-call-id');
      append(callsById, call.toolCallId, callKey(call.name, call.arguments));
    }
    return draft;
  };

  return {
    addCall(step, block) {
      const draft = add(step, block, false);
      if (block.toolCallId !== null) {
        append(unclaimedById, block.toolCallId, draft);
        append(unclaimedByIdAndName, `${block.toolCallId}\0${block.name}`, draft);
      }
      append(unclaimedByCall, callKey(block.name, block.arguments), draft);
      append(unclaimedByName, block.name, draft);
    },
    addToolSpan(step, span) {
      const call = span.toolCall;
      const key = callKey(call.name, call.arguments);
      let draft: Draft | null = null;
      if (call.toolCallId !== null) {
        // A unique id is enough (frameworks prefix names); of a reused one the name must fit as well.
        draft = take(unclaimedByIdAndName, `${call.toolCallId}\0${call.name}`, step);
        if (draft === null && callsById.get(call.toolCallId)?.length === 1)
          draft = take(unclaimedById, call.toolCallId, step);
      }
      if (draft === null) {
        // Provider and framework may number a call differently: equal name and arguments still say it is one.
        draft = take(unclaimedByCall, key, step, 'only before');
        if (draft === null && call.toolCallId === null)
          draft = take(unclaimedByName, call.name, step, 'only before');
        if (draft !== null) flag(step, 'paired-by-position');
      }
      const known = draft !== null;
      draft ??= add(step, call, true);
      draft.claimed = true;
      if (!known) {
        if (call.toolCallId === null) count(toolSpanCalls, key, 1);
      }
      if (span.toolResult !== null) {
        draft.resultStep = step;
        draft.result = span.toolResult.content;
        draft.isError = span.toolResult.isError;
        const id = span.toolResult.toolCallId ?? draft.toolCallId;
        const plain = keys.plain(span.toolResult.content);
        if (id !== null) append(resultsById, id, plain);
        count(toolSpanResults, plain, 1);
      }
      return known;
    },
    isKnownCall(block) {
      const key = callKey(block.name, block.arguments);
      const calls = block.toolCallId === null ? undefined : callsById.get(block.toolCallId);
      // A unique id is enough, since arguments reach us in different spellings; a reused one is not.
      if (calls !== undefined) return calls.length === 1 || calls.includes(key);
      return count(toolSpanCalls, key, -1);
    },
    isKnownResult(block) {
      const plain = keys.plain(block.content);
      const byId = block.toolCallId === null ? undefined : resultsById.get(block.toolCallId);
      // The model may see a shortened copy; a result it sees that says more, or other, is news.
      if (byId !== undefined) return byId.slice(-REUSES_COMPARED).some((shown) => shown.includes(plain));
      return count(toolSpanResults, plain, -1);
    },
    addResult(step, block) {
      looseResults.push({ step, block });
    },
    close() {
      for (const { step, how } of pairLoose(drafts, looseResults))
        if (how === 'position') flag(step, 'paired-by-position');
      const exchanges = drafts
        .toSorted((a, b) => a.callStep - b.callStep)
        .map(({ claimed: _, ...exchange }): ToolExchange => exchange);
      return { exchanges, flags };
    },
  };

  /** Adds, or with -1 uses up one; answers whether there was one to use. */
  function count(map: Map<string, number>, key: string, delta: 1 | -1): boolean {
    const now = map.get(key) ?? 0;
    if (now + delta < 0) return false;
    map.set(key, now + delta);
    return true;
  }
}

function append<K, T>(map: Map<K, T[]>, key: K, value: T): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/**
 * The open call nearest before the step: the latest step that asked, and there the first in order. When a result
 * is lost, an id that is used again in each turn must not shift all later pairs by one.
 */
function take<K>(
  map: Map<K, Draft[]>,
  key: K,
  step: number,
  where: 'only before' | 'before, else after' = 'before, else after',
): Draft | null {
  const list = map.get(key);
  if (list === undefined) return null;
  let end = countUpTo(list, step);
  // A clock that runs ahead can put the tool before the call: then the first call after it.
  if (end === 0 && where !== 'only before') end = list.length > 0 ? 1 : 0;
  if (end === 0) return null;
  let at = end - 1;
  while (at > 0 && list[at - 1]?.callStep === list[at]?.callStep) at--;
  while (at < end && list[at]?.claimed === true) at++;
  if (at >= end) {
    // All of that step are taken through another index: forget them and look again.
    const rest = list.filter((draft) => !draft.claimed);
    if (rest.length === list.length) return null;
    map.set(key, rest);
    return take(map, key, step, where);
  }
  return list.splice(at, 1)[0] ?? null;
}

/** How many drafts, sorted by step, were called at or before the step. */
function countUpTo(list: readonly Draft[], step: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle]?.callStep ?? 0) > step) high = middle;
    else low = middle + 1;
  }
  return low;
}

function pairLoose(
  drafts: readonly Draft[],
  results: readonly { step: number; block: ResultBlock }[],
): { step: number; how: 'id' | 'position' }[] {
  const paired: { step: number; how: 'id' | 'position' }[] = [];
  const byId = new Map<string, Draft[]>();
  const byGuess = new Map<'any' | 'without id', Draft[]>();
  const open = drafts.filter((draft) => draft.result === null).toSorted((a, b) => a.callStep - b.callStep);
  for (const draft of open) {
    draft.claimed = false;
    if (draft.toolCallId !== null) append(byId, draft.toolCallId, draft);
  }
  const settle = (draft: Draft, step: number, block: ResultBlock): void => {
    draft.claimed = true;
    draft.resultStep = step;
    draft.result = block.content;
    draft.isError = block.isError;
  };
  const rest = results.filter(({ step, block }) => {
    const draft = block.toolCallId === null ? null : take(byId, block.toolCallId, step);
    if (draft === null) return true;
    settle(draft, step, block);
    paired.push({ step, how: 'id' });
    return false;
  });
  // Two ids that differ are no pair; one that is missing may be.
  for (const draft of open) {
    if (draft.claimed) continue;
    append(byGuess, 'any', draft);
    if (draft.toolCallId === null) append(byGuess, 'without id', draft);
  }
  for (const { step, block } of rest) {
    const draft = take(byGuess, block.toolCallId === null ? 'any' : 'without id', step, 'only before');
    if (draft === null) continue;
    settle(draft, step, block);
    paired.push({ step, how: 'position' });
  }
  return paired;
}
