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
  readonly #withWord = new Map<string, number[]>();
  readonly #withNumber = new Map<number, number[]>();

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
    for (const [row, { text }] of this.#steps.entries()) {
      for (const word of new Set(text.match(WORD))) remember(this.#withWord, word, row);
      for (const number of new Set(numbersIn(text))) remember(this.#withNumber, number, row);
    }
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

  #rowsWith(wanted: string | number): readonly number[] {
    if (typeof wanted === 'number') return this.#withNumber.get(wanted) ?? [];
    const [word] = wanted.match(WORD) ?? [];
    return word === undefined ? this.#steps.map((_, row) => row) : (this.#withWord.get(word) ?? []);
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

/** A value stands between word boundaries, so its first word is a whole word of the text. */
const WORD = /[\p{L}\p{N}_]+/gu;

function remember<K>(index: Map<K, number[]>, key: K, row: number): void {
  const rows = index.get(key);
  if (rows === undefined) index.set(key, [row]);
  else rows.push(row);
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

const NUMBER = /(?<![\p{L}\p{N}_.])-?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,12})?(?![\p{L}\p{N}_])/gu;

/** The numbers written in a text, thousands separators understood; digits inside words and ids are not numbers. */
export function numbersIn(text: string): number[] {
  return [...text.matchAll(NUMBER)]
    .map(([found]) => Number(found.replaceAll(',', '')))
    .filter(Number.isFinite);
}
