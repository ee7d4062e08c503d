import type { Failure, RootCause } from '../diagnosis/schema.ts';
import { tellingWords } from './telling-words.ts';

const PROMPT_LENGTH = 50_000;
const NAME_LENGTH = 60;

/**
 * The part of the system prompt that a failure is about, where its cause lies in the prompt: the one that shares the rarest
 * words with what was said about the failure. Named by its first line without numbers, so that it stays the same while
 * the text below it is edited. Choosing among given parts bears other wording, which comparing two explanations does not.
 *
 * `null` when there is no prompt, the cause lies elsewhere, no model explained it, or nothing in the prompt is meant.
 */
export function promptSectionOf(
  systemPrompt: string | null,
  failure: Failure,
  cause: RootCause | undefined,
): string | null {
  if (systemPrompt === null || cause?.fix_type !== 'SYSTEM_PROMPT_FIX' || cause.source.kind !== 'model')
    return null;
  const sections = sectionsOf(systemPrompt.slice(0, PROMPT_LENGTH));
  const said = new Set(
    [cause.root_cause_explanation, cause.fix_recommendation, ...failure.evidence].flatMap(stems),
  );
  const holders = new Map<string, number>();
  for (const { words } of sections) for (const word of words) holders.set(word, (holders.get(word) ?? 0) + 1);
  let best: { readonly name: string; readonly score: number } | null = null;
  for (const { name, words } of sections) {
    let score = 0;
    for (const word of words) if (said.has(word)) score += 1 / (holders.get(word) ?? 1);
    if (score > (best?.score ?? 0)) best = { name, score };
  }
  return best?.name ?? null;
}

interface Section {
  readonly name: string;
  readonly words: ReadonlySet<string>;
}

/** Below a heading everything up to the next one; without headings, paragraphs. */
function sectionsOf(prompt: string): readonly Section[] {
  const byHeading = prompt.split(/\n(?=#{1,6} )/u);
  const parts = byHeading.length > 1 ? byHeading : prompt.split(/\n[ \t]{0,20}\n/u);
  return parts.flatMap((part) => {
    const text = part.trim();
    if (text === '') return [];
    const [first = ''] = text.split('\n');
    const name = first
      .replace(/[#*\d]+/gu, ' ')
      .replace(/\s+/gu, ' ')
      .trim()
      .slice(0, NAME_LENGTH);
    return name === '' ? [] : [{ name, words: new Set(stems(text)) }];
  });
}

/** Piece by piece, since telling words are capped. */
const stems = (text: string): string[] =>
  text
    .slice(0, PROMPT_LENGTH)
    .split(/[.;:\n]/u)
    .flatMap(tellingWords);
