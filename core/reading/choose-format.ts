import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { Envelope, TranscriptFormat } from './decode/format.ts';
import { ENVELOPES } from './envelopes/index.ts';
import { recogniseForeign } from './transcripts/foreign.ts';
import { foreignProduct } from './transcripts/foreign-products.ts';
import { TRANSCRIPTS } from './transcripts/index.ts';

export type Choice =
  | { readonly kind: 'transcript'; readonly format: TranscriptFormat }
  | { readonly kind: 'envelope'; readonly format: Envelope }
  | { readonly kind: 'foreign'; readonly name: string; readonly advice: string }
  | { readonly kind: 'none' };

/** The surest format; on a tie a document format before an envelope, and the earlier in its list. */
export function chooseFormat(document: JsonValue): Choice {
  const product = foreignProduct(document);
  if (product !== undefined) return { kind: 'foreign', name: product.name, advice: product.advice };
  const candidates = [
    ...TRANSCRIPTS.map(
      (format) => ({ kind: 'transcript', format, seen: format.recognise(document) }) as const,
    ),
    ...ENVELOPES.map((format) => ({ kind: 'envelope', format, seen: format.recognise(document) }) as const),
  ];
  let best: Choice = { kind: 'none' };
  let sure = 0;
  for (const candidate of candidates) {
    if (candidate.seen.match !== 'yes' || candidate.seen.sure <= sure) continue;
    sure = candidate.seen.sure;
    best = candidate;
  }
  if (best.kind !== 'none') return best;
  const known = recogniseForeign(document);
  const foreign =
    known.match === 'foreign'
      ? known
      : candidates.find((candidate) => candidate.seen.match === 'foreign')?.seen;
  return foreign?.match === 'foreign'
    ? { kind: 'foreign', name: foreign.name, advice: foreign.advice }
    : best;
}

/** Whether a list that an envelope takes holds whole documents too, which it would only count as unread. */
export function hasDocumentsAmong(entries: readonly JsonValue[], envelope: Envelope): boolean {
  return entries.some(
    (entry) =>
      isJsonObject(entry) &&
      envelope.recognise([entry]).match !== 'yes' &&
      TRANSCRIPTS.some((format) => format.recognise(entry).match === 'yes'),
  );
}

/** Set-up noise may stand before a log's own lines; a text beyond this is told by its head. */
const LOG_HEAD = 200_000;

/** Whether a text that is no JSON is a log in a format of its own. */
export function isTextLog(text: string): boolean {
  const head = text.slice(0, LOG_HEAD);
  // JSON that breaks off may quote a log; it is none.
  const isJson = /^\s{0,64}(?:\{|\[\s{0,64}[{["])/.test(head);
  return !isJson && TRANSCRIPTS.some((format) => format.recognise(head).match === 'yes');
}
