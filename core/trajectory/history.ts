import type { BlockKeys } from './block-key.ts';
import type { Part } from './trajectory.ts';

/** One conversation as its last call saw it: where each block stands in it. */
interface Conversation {
  readonly positions: ReadonlyMap<string, readonly number[]>;
  readonly length: number;
  /** Index of the last announced part (user message span, agent prompt) that this conversation has taken up. */
  readonly announced: number;
}

/** Parallel conversations of one agent that are kept apart; the longest unused is forgotten first. */
const CONVERSATIONS_PER_AGENT = 8;

export interface History {
  /** A part shown by a span of its own (a message, an agent's prompt): its first repetition in an input is no news. */
  announce(part: Part): void;
  /** Of an inference span's input, what its agent's conversation has not held before; `output` is remembered. */
  news(agent: string | null, input: readonly Part[], output: readonly Part[]): Part[];
}

/**
 * Removes the history that each model call repeats. A new input is laid along the conversation's last state in
 * order, so a sliding window, a summary in place of old turns, and a second "yes" all come out right: what does
 * not follow in order is news. When in doubt a part is shown twice rather than lost.
 */
export function makeHistory(keysOf: BlockKeys): History {
  const byAgent = new Map<string, Conversation[]>();
  const announced = new Map<string, number[]>();
  let announcedCount = 0;

  return {
    announce(part) {
      push(announced, keysOf.of(part.block), announcedCount++);
    },
    news(agent, input, output) {
      const known = byAgent.get(agent ?? '') ?? [];
      const keys = input.map((part) => keysOf.of(part.block));
      const { conversation, seen } = bestMatch(known, keys);
      let taken = conversation?.announced ?? -1;
      const fresh = input.filter((_, i) => {
        if (seen[i] === true) return false;
        const at = firstAfter(announced.get(keys[i] ?? ''), taken);
        if (at === null) return true;
        taken = at;
        return false;
      });
      const all = [...keys, ...output.map((part) => keysOf.of(part.block))];
      const positions = new Map<string, number[]>();
      for (const [i, key] of all.entries()) push(positions, key, i);
      const continued = conversation !== null && seen.filter(Boolean).length === conversation.length;
      const others = continued ? known.filter((item) => item !== conversation) : known;
      byAgent.set(
        agent ?? '',
        [{ positions, length: all.length, announced: taken }, ...others].slice(0, CONVERSATIONS_PER_AGENT),
      );
      return fresh;
    },
  };
}

function push(map: Map<string, number[]>, key: string, value: number): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

function bestMatch(
  known: readonly Conversation[],
  keys: readonly string[],
): { conversation: Conversation | null; seen: readonly boolean[] } {
  let best: { conversation: Conversation | null; seen: readonly boolean[]; count: number } = {
    conversation: null,
    seen: [],
    count: 0,
  };
  for (const conversation of known) {
    let at = -1;
    let count = 0;
    const seen = keys.map((key) => {
      const next = firstAfter(conversation.positions.get(key), at);
      if (next === null) return false;
      at = next;
      count++;
      return true;
    });
    if (count > best.count) best = { conversation, seen, count };
    if (count === conversation.length) break;
  }
  return best;
}

/** Smallest entry above `after` of an ascending list, by bisection. */
function firstAfter(list: readonly number[] | undefined, after: number): number | null {
  if (list === undefined) return null;
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return list[low] ?? null;
}
