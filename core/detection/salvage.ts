import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { CONFIDENCE } from '../diagnosis/options.ts';
import { quarantine } from '../diagnosis/quarantine.ts';
import { UNKNOWN_RECOVERY } from '../diagnosis/recovery.ts';
import type { Coverage, Failure, Quarantined } from '../diagnosis/schema.ts';
import { aliasesToIds } from '../prompting/quote.ts';
import { type KnownSpans, resolveSpan } from '../prompting/resolve-span.ts';
import type { CategoryDefinition } from '../vocabulary/taxonomy.ts';
import { mergeFailures } from './merge.ts';
import { resolveCategory } from './resolve-category.ts';

export interface SalvageContext {
  readonly known: KnownSpans;
  /** Alias → span id of the whole session, for references inside texts. */
  readonly names: ReadonlyMap<string, string>;
  readonly taxonomy: readonly CategoryDefinition[];
  /** Request hash of the answer: the provenance of each finding. */
  readonly requestHash: string;
  /** Whether a quote stands in what the model was shown. */
  readonly isQuoted: (quote: string) => boolean;
}

export interface Salvaged {
  readonly failures: readonly Failure[];
  /** Everything that was not usable as said, and what was done with it. */
  readonly quarantined: readonly Quarantined[];
  /** Findings that are lost to the diagnosis: while there are any, the session cannot read as clean. */
  readonly gaps: Coverage['gaps'];
}

const LIST_NAMES = ['failures', 'errors', 'findings', 'items'] as const;

/** The list of findings in an answer, in our shape or in that of the Strands detectors; `null` when there is none. */
export function findingsOf(answer: JsonValue): readonly JsonValue[] | null {
  if (Array.isArray(answer)) return answer;
  if (!isJsonObject(answer)) return null;
  for (const name of LIST_NAMES) {
    const value = Object.hasOwn(answer, name) ? answer[name] : undefined;
    if (Array.isArray(value)) return value;
    if (isJsonObject(value)) return [value];
  }
  // One finding without its list.
  return spanOf(answer) !== null && Object.hasOwn(answer, 'category') ? [answer] : null;
}

/**
 * Takes an answer apart finding by finding. One bad finding costs only itself, and leaves a trace: what can be
 * repaired without guessing is kept with a note, what cannot is quarantined and opens a gap in the coverage.
 */
export function salvageFindings(findings: readonly JsonValue[], context: SalvageContext): Salvaged {
  const failures: Failure[] = [];
  const quarantined: Quarantined[] = [];
  const lost: { reason: string }[] = [];
  const lose = (reason: string, item: JsonValue): void => {
    quarantined.push(quarantine('analyze-chunks', reason, item));
    lost.push({ reason });
  };
  const note = (reason: string, item: JsonValue): void => {
    quarantined.push(quarantine('analyze-chunks', reason, item));
  };

  for (const item of findings) {
    if (!isJsonObject(item)) {
      lose('finding is not an object', item);
      continue;
    }
    const said = spanOf(item);
    if (said === null) {
      lose('finding names no span', item);
      continue;
    }
    const span = resolveSpan(said, context.known);
    if (span.spanId === null) {
      lose(span.reason, item);
      continue;
    }
    if (span.how === 'repaired') note(`span id "${said.slice(0, 80)}" read as ${span.spanId}`, item);
    const recovery = recoveryOf(item, span.spanId, context, note);
    const rows = rowsOf(item, note);
    if (rows.length === 0) lose('finding names no category', item);
    for (const row of rows) {
      const category = categoryOf(row.category, context.taxonomy);
      if (category === null) {
        lose(`unknown category "${row.category.slice(0, 80)}"`, item);
        continue;
      }
      if (!category.known) note(`unknown category "${row.category.slice(0, 80)}" kept as "other"`, item);
      const confidence = confidenceOf(row.confidence);
      if (!confidence.known) {
        note(`unknown confidence ${JSON.stringify(row.confidence ?? null).slice(0, 80)} read as low`, item);
      }
      failures.push({
        span_id: span.spanId,
        category: [category.id],
        confidence: [confidence.value],
        evidence: [evidenceText(row, context, category.known ? null : row.category)],
        source: [{ kind: 'model', ref: context.requestHash }],
        ...recovery,
      });
    }
  }
  return {
    failures: mergeFailures(failures),
    quarantined,
    gaps: lost.map(({ reason }) => ({ what: 'a finding of the model', reason, spanIds: [] })),
  };
}

/**
 * Whether a later span put it right, as the model says. Anything but yes and no is unknown; a span named that is the
 * failing one or not of the session is left out with a note, and what was said stands.
 */
function recoveryOf(
  item: JsonObject,
  spanId: string,
  { names }: SalvageContext,
  note: (reason: string, item: JsonValue) => void,
): Pick<Failure, 'recovered' | 'recoveredBy' | 'effect'> {
  const word = text(item.recovered)?.toLowerCase();
  if (word !== 'yes' && word !== 'no') return UNKNOWN_RECOVERY;
  const by = text(item.recoveredBy);
  if (word === 'no' || by === null) return { ...UNKNOWN_RECOVERY, recovered: word };
  const resolved = resolveSpan(by, { aliases: names });
  if (resolved.spanId === null || resolved.spanId === spanId) {
    note(
      `recovered by "${by.slice(0, 80)}": ${resolved.spanId === null ? resolved.reason : 'that is the failing span'}`,
      item,
    );
    return { ...UNKNOWN_RECOVERY, recovered: word };
  }
  return { ...UNKNOWN_RECOVERY, recovered: word, recoveredBy: resolved.spanId };
}

interface Row {
  readonly category: string;
  readonly confidence: JsonValue | undefined;
  readonly quote: string | null;
  readonly why: string | null;
}

function spanOf(item: JsonObject): string | null {
  for (const name of ['span', 'span_id', 'spanId', 'location', 'id']) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value;
    if (typeof value === 'number') return String(value);
  }
  return null;
}

/** One row a category; lists of unequal length lose nothing but the value that is missing. */
function rowsOf(item: JsonObject, note: (reason: string, item: JsonValue) => void): Row[] {
  const categories = list(item.category ?? item.categories).filter((c) => typeof c === 'string');
  const confidences = list(item.confidence);
  const quotes = list(item.quote);
  const reasons = list(item.why ?? item.evidence ?? item.reason);
  const isList = [item.category, item.confidence, item.quote, item.why, item.evidence].some(Array.isArray);
  if (isList && [confidences, reasons].some((other) => other.length !== categories.length)) {
    note(
      `lists of unequal length: ${categories.length} categories, ${confidences.length} confidences, ${reasons.length} evidence texts`,
      item,
    );
  }
  return categories.map((category, i) => ({
    category,
    // A single word for several categories is meant for all of them.
    confidence: Array.isArray(item.confidence) ? confidences[i] : confidences[0],
    quote: text(quotes[i] ?? (quotes.length === 1 ? quotes[0] : undefined)),
    why: text(reasons[i] ?? (reasons.length === 1 ? reasons[0] : undefined)),
  }));
}

const list = (value: JsonValue | undefined): JsonValue[] =>
  value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];

const text = (value: JsonValue | undefined): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : null;

function categoryOf(
  said: string,
  taxonomy: readonly CategoryDefinition[],
): { readonly id: string; readonly known: boolean } | null {
  const id = resolveCategory(said, taxonomy);
  if (id !== null) return { id, known: true };
  return taxonomy.some((entry) => entry.id === 'other') ? { id: 'other', known: false } : null;
}

/** Words as numbers; a number is lowered to the nearest word, so that nothing reads surer than it was said. */
function confidenceOf(said: JsonValue | undefined): { readonly value: number; readonly known: boolean } {
  if (typeof said === 'string') {
    const word = said.trim().toLowerCase();
    if (word === 'low' || word === 'medium' || word === 'high')
      return { value: CONFIDENCE[word], known: true };
    const number = word === '' ? Number.NaN : Number(word);
    if (Number.isFinite(number)) return confidenceOf(number);
  }
  if (typeof said === 'number' && said >= 0 && said <= 1) {
    if (said >= CONFIDENCE.high) return { value: CONFIDENCE.high, known: true };
    return { value: said >= CONFIDENCE.medium ? CONFIDENCE.medium : CONFIDENCE.low, known: true };
  }
  return { value: CONFIDENCE.low, known: false };
}

function evidenceText(row: Row, context: SalvageContext, label: string | null): string {
  const parts: string[] = [];
  if (label !== null) parts.push(`[named "${label.slice(0, 80)}" by the model]`);
  if (row.quote !== null) {
    parts.push(
      `"${row.quote}"${context.isQuoted(row.quote) ? '' : ' [not found word for word in the session]'}`,
    );
  }
  if (row.why !== null) parts.push(aliasesToIds(row.why, context.names));
  return parts.length === 0 ? '[the model gave no evidence]' : parts.join(' — ');
}
