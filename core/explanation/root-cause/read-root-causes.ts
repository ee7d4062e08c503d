import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { quarantine } from '../../diagnosis/quarantine.ts';
import type { CriticalStep, Diagnosis, Failure, Quarantined, RootCause } from '../../diagnosis/schema.ts';
import { aliasesToIds } from '../../prompting/quote.ts';
import { resolveSpan } from '../../prompting/resolve-span.ts';
import type { ReadContext } from '../critical-step/read-critical-steps.ts';
import { CAUSALITIES, COMPLETIONS, FIX_TYPES, IMPACTS, TIMINGS } from './answer.ts';
import { linkFailures, MODEL_GAVE_NONE, rootCauseByRule } from './by-rule.ts';
import { fixFor } from './fix-for.ts';
import { canCause } from './span-order.ts';

export interface ReadCauses {
  /** Exactly one for each failure, in their order. */
  readonly rootCauses: readonly RootCause[];
  readonly quarantined: readonly Quarantined[];
  /** Failures for which the model gave no usable cause; what was put right needs none. */
  readonly unexplained: readonly string[];
}

/**
 * Exactly one root cause for each failing span, whatever the model sent. Those of several failures on one span are
 * joined: the first one's location and causality stand, explanations and fixes follow each other, impacts are united.
 * A second one for the same failure gives its impacts only. Missing ones are filled by rule and named, a location that is unknown or comes
 * after its effect becomes the failing span itself, with a note.
 */
export function readRootCauses(
  value: JsonValue | undefined,
  failures: readonly Failure[],
  context: ReadContext & {
    readonly requestHash: string;
    readonly completion: Diagnosis['completionStatus'];
    readonly critical: CriticalStep | null;
  },
): ReadCauses {
  const quarantined: Quarantined[] = [];
  const note = (reason: string, item: JsonValue): void => {
    quarantined.push(quarantine('root-cause', reason, item));
  };
  const bySpan = new Map<string, RootCause>();
  const categories = new Map<string, Set<string>>();
  const failing = new Map(failures.map((failure) => [failure.span_id, failure]));
  if (value !== undefined && value !== null && !Array.isArray(value) && !isJsonObject(value)) {
    note('the root causes are not a list', value);
  }
  for (const item of Array.isArray(value) ? value : isJsonObject(value) ? [value] : []) {
    if (!isJsonObject(item)) {
      note('root cause is not an object', item);
      continue;
    }
    const span = resolveSpan(field(item, 'failure', 'failure_span_id'), { aliases: context.aliases });
    if (span.spanId === null) {
      note(`root cause: ${span.reason}`, item);
      continue;
    }
    const failure = failing.get(span.spanId);
    if (failure === undefined) {
      note('root cause for a span that is not among the failures', item);
      continue;
    }
    const read = readItem(item, failure, context, note);
    const earlier = bySpan.get(span.spanId);
    const category = field(item, 'category');
    const explained = categories.get(span.spanId) ?? new Set<string>();
    const isAnother = !explained.has(category);
    categories.set(span.spanId, explained.add(category));
    if (earlier === undefined) bySpan.set(span.spanId, read);
    else {
      if (!isAnother)
        note('second root cause for the same failure: the first one stands, impacts are united', item);
      bySpan.set(span.spanId, join(earlier, read, isAnother));
    }
  }
  const unexplained = failures
    .filter(({ span_id, recovered }) => recovered !== 'yes' && !bySpan.has(span_id))
    .map(({ span_id }) => span_id);
  const links = linkFailures(failures, context.trajectory);
  return {
    rootCauses: failures.map(
      (failure) =>
        bySpan.get(failure.span_id) ??
        rootCauseByRule(
          failure,
          context.critical,
          MODEL_GAVE_NONE,
          context.trajectory,
          links.get(failure.span_id),
        ),
    ),
    quarantined,
    unexplained,
  };
}

function join(first: RootCause, next: RootCause, another: boolean): RootCause {
  const both = (a: string, b: string): string => (a === b || !another ? a : `${a}\n${b}`);
  return {
    ...first,
    propagation_impact: unite([...first.propagation_impact, ...next.propagation_impact]),
    root_cause_explanation: both(first.root_cause_explanation, next.root_cause_explanation),
    fix_recommendation: both(first.fix_recommendation, next.fix_recommendation),
  };
}

function readItem(
  item: JsonObject,
  failure: Failure,
  context: Parameters<typeof readRootCauses>[2],
  note: (reason: string, item: JsonValue) => void,
): RootCause {
  const fix = fixFor(failure, context.trajectory);
  const saidFix = field(item, 'fix', 'fix_recommendation');
  if (saidFix === '') note('no recommendation given: the usual one for the category stands', item);
  const explanation = aliasesToIds(field(item, 'explanation', 'root_cause_explanation'), context.names);
  const impacts = [item.impact ?? item.propagation_impact ?? []].flat();
  return {
    failure_span_id: failure.span_id,
    location: locationOf(item, failure, context, note),
    causality: oneOf(CAUSALITIES, field(item, 'causality')) ?? 'UNCLEAR',
    propagation_impact: unite(
      impacts.flatMap((impact) => (typeof impact === 'string' ? (oneOf(IMPACTS, impact) ?? []) : [])),
    ),
    failure_detection_timing:
      oneOf(TIMINGS, field(item, 'timing', 'failure_detection_timing')) ?? 'SILENT_UNDETECTED',
    completion_status: itemCompletion(context.completion, context.critical),
    root_cause_explanation: explanation || '[the model gave no explanation]',
    fix_type:
      saidFix === '' ? fix.fixType : (oneOf(FIX_TYPES, field(item, 'fixType', 'fix_type')) ?? 'OTHERS'),
    fix_recommendation: saidFix || fix.text,
    source: { kind: 'model', ref: context.requestHash },
  };
}

function locationOf(
  item: JsonObject,
  failure: Failure,
  context: ReadContext,
  note: (reason: string, item: JsonValue) => void,
): string {
  const span = resolveSpan(field(item, 'location'), { aliases: context.aliases });
  if (span.spanId === null) {
    note(`location of the cause: ${span.reason}; the failing span stands instead`, item);
    return failure.span_id;
  }
  if (!canCause(context.trajectory, span.spanId, failure.span_id)) {
    note('location of the cause comes after its effect; the failing span stands instead', item);
    return failure.span_id;
  }
  return span.spanId;
}

/** Strands' items have no word for "unknown": then a critical step means that the task was not reached. */
function itemCompletion(
  completion: Diagnosis['completionStatus'],
  critical: CriticalStep | null,
): RootCause['completion_status'] {
  if (completion !== 'UNKNOWN') return completion;
  return critical === null ? 'PARTIAL_SUCCESS' : 'COMPLETE_FAILURE';
}

/** The session's completion as said; a run with an unrecovered failure was not a complete success. */
export function readCompletion(
  value: JsonValue | undefined,
  critical: CriticalStep | null,
): Diagnosis['completionStatus'] {
  const said = typeof value === 'string' ? (oneOf(COMPLETIONS, value) ?? 'UNKNOWN') : 'UNKNOWN';
  return critical !== null && said === 'COMPLETE_SUCCESS' ? 'UNKNOWN' : said;
}

function field(item: JsonObject, ...names: string[]): string {
  for (const name of names) {
    const value = Object.hasOwn(item, name) ? item[name] : undefined;
    if (typeof value === 'string' && value.trim() !== '') return value.trim();
    if (typeof value === 'number') return String(value);
  }
  return '';
}

function oneOf<T extends string>(words: readonly T[], said: string): T | null {
  const plain = said
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/gu, '_');
  return words.find((word) => word === plain) ?? words.find((word) => word.startsWith(`${plain}_`)) ?? null;
}

/** Each impact once, in the fixed order; none said is UNCLEAR, and UNCLEAR or none beside a real one goes. */
function unite(impacts: readonly RootCause['propagation_impact'][number][]): RootCause['propagation_impact'] {
  const said = IMPACTS.filter((impact) => impacts.includes(impact));
  const real = said.filter((impact) => impact !== 'UNCLEAR' && impact !== 'NO_PROPAGATION');
  if (real.length > 0) return real;
  return said.includes('NO_PROPAGATION') ? ['NO_PROPAGATION'] : ['UNCLEAR'];
}
