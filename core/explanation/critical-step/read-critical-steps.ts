import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { CONFIDENCE } from '../../diagnosis/options.ts';
import { quarantine } from '../../diagnosis/quarantine.ts';
import type { CriticalStep, Quarantined } from '../../diagnosis/schema.ts';
import { CHECKLIST } from '../../prompting/critical-checklist.ts';
import { aliasesToIds } from '../../prompting/quote.ts';
import { resolveSpan } from '../../prompting/resolve-span.ts';
import type { Trajectory } from '../../trajectory/trajectory.ts';
import { CRITICAL_CATEGORIES, type CriticalCategory } from '../../vocabulary/critical-categories.ts';

export interface ReadContext {
  readonly trajectory: Trajectory;
  /** Alias as rendered → span id, of the spans that an answer may name. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The same of the whole session, for references inside texts. */
  readonly names: ReadonlyMap<string, string>;
  /** Whether a quote stands in what the judge was shown. */
  readonly isQuoted: (quote: string) => boolean;
}

export interface ReadSteps {
  /** `null`: the judge says that there is none, or nothing it named was usable (then `lost` is not empty). */
  readonly critical: CriticalStep | null;
  readonly quarantined: readonly Quarantined[];
  /** Reasons why something the judge named is not in the result. */
  readonly lost: readonly string[];
}

const MAX_ALTERNATIVES = 3;

/**
 * Reads the judge's list: the first usable entry is the critical step, the next three its alternatives. An entry
 * on an unknown span is quarantined, an unknown category becomes `inconclusive` with a note; nothing disappears.
 */
export function readCriticalSteps(value: JsonValue | undefined, context: ReadContext): ReadSteps {
  const quarantined: Quarantined[] = [];
  const lost: string[] = [];
  const entries = Array.isArray(value) ? value : isJsonObject(value) ? [value] : [];
  if (value !== undefined && value !== null && !Array.isArray(value) && !isJsonObject(value)) {
    lost.push('the critical steps are not a list');
    quarantined.push(quarantine('judge', 'the critical steps are not a list', value));
  }
  const steps: Entry[] = [];
  for (const entry of entries) {
    const read = readEntry(entry, context, quarantined);
    if (typeof read === 'string') {
      lost.push(read);
      quarantined.push(quarantine('judge', read, entry));
    } else if (!steps.some(({ ref }) => ref.spanId === read.ref.spanId)) {
      steps.push(read);
    }
  }
  const [first, ...rest] = steps;
  if (first === undefined) return { critical: null, quarantined, lost };
  return {
    critical: {
      ...first.ref,
      reason: first.reason,
      evidence: first.evidence,
      alternatives: rest.slice(0, MAX_ALTERNATIVES).map(({ ref }) => ref),
      agreement: null,
      judgedBy: 'model',
    },
    quarantined,
    lost,
  };
}

interface Entry {
  readonly ref: CriticalStep['alternatives'][number];
  readonly reason: string;
  readonly evidence: CriticalStep['evidence'];
}

const textField = (item: JsonObject, name: string): string => {
  const value = Object.hasOwn(item, name) ? item[name] : undefined;
  return typeof value === 'string' ? value.trim() : typeof value === 'number' ? String(value) : '';
};

function readEntry(entry: JsonValue, context: ReadContext, quarantined: Quarantined[]): Entry | string {
  if (!isJsonObject(entry)) return 'critical step is not an object';
  const said = textField(entry, 'span');
  const span = resolveSpan(said, { aliases: context.aliases });
  if (span.spanId === null) return `critical step: ${span.reason}`;
  const step = context.trajectory.stepBySpan.get(span.spanId);
  if (step === undefined) return 'critical step: the span is not a step of the session';
  if (span.how === 'repaired') {
    quarantined.push(quarantine('judge', `span id "${said.slice(0, 80)}" read as ${span.spanId}`, entry));
  }
  const category = readCriticalCategory(textField(entry, 'category'));
  if (category === null) {
    quarantined.push(quarantine('judge', 'unknown critical category read as inconclusive', entry));
  }
  const word = textField(entry, 'confidence').toLowerCase();
  const known = word === 'low' || word === 'medium' || word === 'high';
  if (!known) quarantined.push(quarantine('judge', 'unknown confidence read as low', entry));
  return {
    ref: {
      spanId: span.spanId,
      position: step.position,
      agent: step.agent,
      category: category ?? 'inconclusive',
      confidence: CONFIDENCE[known ? word : 'low'],
    },
    reason: aliasesToIds(textField(entry, 'reason'), context.names) || '[the model gave no reason]',
    evidence: readEvidence(entry.evidence, context, quarantined),
  };
}

function readEvidence(
  value: JsonValue | undefined,
  context: ReadContext,
  quarantined: Quarantined[],
): CriticalStep['evidence'] {
  return (Array.isArray(value) ? value : []).flatMap((item) => {
    const said = isJsonObject(item) ? textField(item, 'span') : typeof item === 'string' ? item : '';
    const span = resolveSpan(said, { aliases: context.aliases });
    if (span.spanId === null) {
      quarantined.push(quarantine('judge', `evidence: ${span.reason}`, item));
      return [];
    }
    const quote = isJsonObject(item) ? textField(item, 'quote') : '';
    const note = isJsonObject(item) ? aliasesToIds(textField(item, 'note'), context.names) : '';
    const there = quote === '' || context.isQuoted(quote);
    return [
      {
        spanId: span.spanId,
        quote: there ? quote : '',
        note: there ? note : `${note} [quoted as "${quote}", not found word for word]`.trim(),
      },
    ];
  });
}

/** The category by id or by its published name, in any spelling; `null` when it is neither. */
export function readCriticalCategory(said: string): CriticalCategory | null {
  const plain = (text: string): string =>
    text
      .slice(0, 100)
      .toLowerCase()
      .replace(/[^a-z]+/gu, '-')
      .replace(/^-+|-+$/gu, '');
  const wanted = plain(said);
  return (
    CRITICAL_CATEGORIES.find((id) => id === wanted) ??
    CHECKLIST.find(({ name }) => plain(name) === wanted)?.id ??
    null
  );
}
