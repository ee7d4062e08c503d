import { renderCut } from '../prompting/render-text.ts';
import type { SpanAliases } from '../prompting/span-aliases.ts';
import type { Step, Trajectory } from '../trajectory/trajectory.ts';
import { valueSourcesOf } from '../trajectory/value-sources.ts';
import type { EarlierSpan } from './plan.ts';

/** Values looked up for one chunk, and sources looked at for one value: what is everywhere points nowhere. */
const MOST_VALUES = 400;
const MOST_SOURCES = 8;
/** Texts searched for one value. The rarest word of an id stands in a handful; of `item 2` it stands everywhere. */
const MOST_SEARCHED = 64;
/** Characters before and after a value in an excerpt. */
const BEFORE = 80;
const AFTER = 140;

/**
 * Earlier spans that the steps of a chunk go back to, as many as fit into `maxBytes` of UTF-8: what the user said last
 * before the chunk (what was asked or agreed to), then the results and messages that first name the ids and values which
 * the chunk uses, the rarest first. A fault whose proof lies in another chunk cannot be seen without them.
 */
export function findEarlierSpans(
  trajectory: Trajectory,
  steps: readonly number[],
  aliases: SpanAliases,
  maxBytes: number,
): EarlierSpan[] {
  const kept: EarlierSpan[] = [];
  let left = maxBytes;
  for (const earlier of pointedAt(trajectory, steps[0] ?? 0, steps)) {
    const line = renderEarlierSpan(trajectory, earlier, aliases);
    left -= new TextEncoder().encode(line).length;
    if (left < 0) break;
    if (line !== '') kept.push(earlier);
  }
  return kept;
}

/** One line with an excerpt; empty where the step says nothing. */
export function renderEarlierSpan(
  trajectory: Trajectory,
  { step, value }: EarlierSpan,
  aliases: SpanAliases,
): string {
  const excerpt = excerptOf(trajectory.steps[step], value);
  return excerpt === null ? '' : `@earlier ${aliases.of(step)}: ${excerpt}\n`;
}

function pointedAt(trajectory: Trajectory, first: number, steps: readonly number[]): EarlierSpan[] {
  const lastWord = lastUserText(trajectory, first);
  const sources = valueSourcesOf(trajectory);
  const found = new Map<number, { score: number; value: string }>();
  for (const value of valuesOf(trajectory, steps)) {
    if (sources.searched(value) > MOST_SEARCHED) continue;
    const places: number[] = [];
    for (const { step } of sources.before(value, first)) {
      if (step >= 0) places.push(step);
      if (places.length > MOST_SOURCES) break;
    }
    if (places.length > MOST_SOURCES) continue;
    for (const step of places) {
      const known = found.get(step);
      found.set(step, { score: (known?.score ?? 0) + 1 / places.length, value: known?.value ?? value });
    }
  }
  const ranked = [...found]
    .filter(([step]) => step !== lastWord)
    .sort(([a, x], [b, y]) => y.score - x.score || b - a)
    .map(([step, { value }]) => ({ step, value }));
  return lastWord < 0 ? ranked : [{ step: lastWord, value: null }, ...ranked];
}

/** Index of the last step before `first` in which the user says something, -1 if there is none. */
function lastUserText({ steps }: Trajectory, first: number): number {
  let at = first - 1;
  while (
    at >= 0 &&
    steps[at]?.parts.some(({ role, block }) => role === 'user' && block.type === 'text') !== true
  )
    at--;
  return at;
}

/** Ids, amounts and names of things: words with a digit, and what arguments of calls say in a word or two. */
const VALUE = /[\p{L}\p{N}#](?:[\p{L}\p{N}_#.@:/-]{0,78}[\p{L}\p{N}])?/gu;

function valuesOf(trajectory: Trajectory, steps: readonly number[]): ReadonlySet<string> {
  const values = new Set<string>();
  const add = (text: string): void => {
    for (const [word] of text.matchAll(VALUE)) {
      if (values.size >= MOST_VALUES) return;
      if (word.length >= 3 && /\d/.test(word)) values.add(word);
    }
  };
  for (const index of steps) {
    for (const { block, role } of trajectory.steps[index]?.parts ?? []) {
      if (block.type === 'tool_use') add(JSON.stringify(block.arguments));
      else if (block.type === 'text' && role === 'assistant') add(block.text);
    }
  }
  return values;
}

function excerptOf(step: Step | undefined, value: string | null): string | null {
  for (const { block } of step?.parts ?? []) {
    const text = block.type === 'text' ? block.text : block.type === 'tool_result' ? block.content : '';
    const at = value === null ? 0 : text.toLowerCase().indexOf(value.toLowerCase());
    if (text.trim() === '' || at < 0) continue;
    const from = Math.max(0, at - BEFORE);
    const to = Math.min(text.length, at + (value?.length ?? 0) + AFTER);
    const shown = text.slice(from, to).toWellFormed().replace(/\s+/g, ' ').trim();
    return `${from > 0 ? '…' : ''}${renderCut(shown, 400).text}${to < text.length ? '…' : ''}`;
  }
  return null;
}
