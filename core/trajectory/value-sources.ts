import type { Trajectory } from './trajectory.ts';

/** What a look-up costs, for callers that meter their work: one unit is a row looked at or 64 characters. */
export type Charge = (units: number) => void;

/** A place where a value was said or returned. */
export interface ValueSource {
  /** Index of the step; -1 for the stated goal and the system prompt. */
  readonly step: number;
  readonly byUser: boolean;
}

const free: Charge = () => {};

/**
 * Where values come from: the places at which users, system texts and tool results name a value; what agents say and
 * call with supports nothing. Text is compared in lower case with white space folded; a number is found as a whole
 * number token however it was written (`1,200.50` is 1200.5); a name or id must stand between word boundaries, so
 * that `12` is not found in `#W123`.
 */
export class ValueSources {
  readonly #steps: readonly { readonly index: number; readonly byUser: boolean; readonly text: string }[];
  /** Rows of `#steps` in which a word or a number occurs, in order: what is asked for is looked for in these only. */
  #withId: ReadonlyMap<string, readonly number[]> | undefined;
  #withWord: ReadonlyMap<string, readonly number[]> | undefined;
  #withNumber: ReadonlyMap<number, readonly number[]> | undefined;

  constructor(trajectory: Trajectory) {
    const rows = trajectory.steps.flatMap((step) =>
      [true, false].map((byUser) => ({
        index: step.index,
        byUser,
        text: fold(
          step.parts
            .filter((part) => isSource(part) && isByUser(part) === byUser)
            .map(sourceText)
            .join('\n'),
        ),
      })),
    );
    this.#steps = [
      { index: -1, byUser: true, text: fold(trajectory.goal ?? '') },
      { index: -1, byUser: false, text: fold(trajectory.systemPrompt ?? '') },
      ...rows,
    ].filter(({ text }) => text !== '');
  }

  /** Each made when first asked. Words with a digit stand apart: ids have one, and they are few among all words. */
  get #idRows(): ReadonlyMap<string, readonly number[]> {
    this.#withId ??= this.#rowsBy(wordsWithDigit);
    return this.#withId;
  }

  get #wordRows(): ReadonlyMap<string, readonly number[]> {
    this.#withWord ??= this.#rowsBy((text) => text.match(WORD) ?? []);
    return this.#withWord;
  }

  get #numberRows(): ReadonlyMap<number, readonly number[]> {
    this.#withNumber ??= this.#rowsBy(numbersIn);
    return this.#withNumber;
  }

  #rowsBy<K>(keysOf: (text: string) => readonly K[]): Map<K, number[]> {
    const rowsBy = new Map<K, number[]>();
    for (const [row, { text }] of this.#steps.entries()) {
      for (const key of keysOf(text)) {
        const rows = rowsBy.get(key);
        if (rows === undefined) rowsBy.set(key, [row]);
        else if (rows.at(-1) !== row) rows.push(row);
      }
    }
    return rowsBy;
  }

  /** The places before a step that name the value, first to last. */
  *before(value: string | number, step: number, charge: Charge = free): Generator<ValueSource> {
    const wanted = typeof value === 'number' ? value : fold(value);
    for (const row of this.#rowsWith(wanted)) {
      const source = this.#steps[row];
      if (source === undefined || source.index >= step) return;
      charge(1);
      if (typeof wanted === 'string') {
        charge(1 + source.text.length / 64);
        if (!occurs(source.text, wanted)) continue;
      }
      yield { step: source.index, byUser: source.byUser };
    }
  }

  /** How many texts `before` would look through for the value, at most. */
  searched(value: string | number): number {
    return this.#rowsWith(typeof value === 'number' ? value : fold(value)).length;
  }

  #rowsWith(wanted: string | number): readonly number[] {
    if (typeof wanted === 'number') return this.#numberRows.get(wanted) ?? [];
    const ids = wordsWithDigit(wanted);
    const [first, ...others] = ids.length > 0 ? ids : (wanted.match(WORD) ?? []);
    if (first === undefined) return this.#steps.map((_, row) => row);
    const index = ids.length > 0 ? this.#idRows : this.#wordRows;
    // Every word of the value stands whole where the value does: the rarest leaves the fewest texts to search.
    return others.reduce((rarest, word) => {
      const rows = index.get(word) ?? [];
      return rows.length < rarest.length ? rows : rarest;
    }, index.get(first) ?? []);
  }
}

const cache = new WeakMap<Trajectory, ValueSources>();

/** The index of a trajectory, made once. */
export function valueSourcesOf(trajectory: Trajectory): ValueSources {
  const known = cache.get(trajectory);
  if (known !== undefined) return known;
  const made = new ValueSources(trajectory);
  cache.set(trajectory, made);
  return made;
}

/** A value stands between word boundaries, so each of its words is a whole word of the text. */
const WORD = /[\p{L}\p{N}_]+/gu;

/** Words with a digit, by code units as `occurs` takes boundaries. Goes from digit to digit, so that other text costs little. */
function wordsWithDigit(text: string): string[] {
  const found: string[] = [];
  let end = 0;
  for (const { index } of text.matchAll(/[0-9]/g)) {
    if (index < end) continue;
    let start = index;
    while (start > end && isWordAt(text, start - 1)) start -= 1;
    end = index + 1;
    while (end < text.length && isWordAt(text, end)) end += 1;
    found.push(text.slice(start, end));
  }
  return found;
}

type Part = Trajectory['steps'][number]['parts'][number];

/** What an agent may rely on: users, system text and tool results; agents' own words and calls support nothing. */
function isSource(part: Part): boolean {
  return part.block.type === 'tool_result' || (part.block.type === 'text' && part.role !== 'assistant');
}

/** Some vendors send tool results in the user's name: those are not what the user said. */
const isByUser = (part: Part): boolean => part.role === 'user' && part.block.type === 'text';

function sourceText(part: Part): string {
  if (part.block.type === 'tool_result') return part.block.content;
  return part.block.type === 'text' ? part.block.text : '';
}

const fold = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim();

function occurs(text: string, wanted: string): boolean {
  let at = text.indexOf(wanted);
  while (at >= 0) {
    const before = text[at - 1];
    const after = text[at + wanted.length];
    if (!isWordCharacter(before) && !isWordCharacter(after)) return true;
    at = text.indexOf(wanted, at + 1);
  }
  return false;
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character);

/** The same of the code unit at an index, most of which are ASCII. */
function isWordAt(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  if (code >= 128) return isWordCharacter(text[index]);
  return (
    (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95
  );
}

const NUMBER = /(?<![\p{L}\p{N}_.])-?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,12})?(?![\p{L}\p{N}_])/gu;

/** The numbers written in a text, thousands separators understood; digits inside words and ids are not numbers. */
export function numbersIn(text: string): number[] {
  return [...text.matchAll(NUMBER)]
    .map(([found]) => Number(found.replaceAll(',', '')))
    .filter(Number.isFinite);
}
