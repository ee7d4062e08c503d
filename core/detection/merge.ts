import type { CheckReport } from '../diagnosis/check-report.ts';
import { UNKNOWN_RECOVERY } from '../diagnosis/recovery.ts';
import { EFFECTS, type Failure } from '../diagnosis/schema.ts';

type Row = {
  readonly category: string;
  readonly confidence: number;
  readonly evidence: string;
  readonly source: Failure['source'][number];
};

const rowsOf = (failure: Failure): Row[] =>
  failure.category.flatMap((category, i) => {
    const confidence = failure.confidence[i];
    const evidence = failure.evidence[i];
    const source = failure.source[i];
    return confidence === undefined || evidence === undefined || source === undefined
      ? []
      : [{ category, confidence, evidence, source }];
  });

/** A total order, so that the result depends on the findings alone: surest first, then by fixed text order. */
function compareRows(a: Row, b: Row): number {
  return (
    b.confidence - a.confidence ||
    compareText(a.source.kind, b.source.kind) ||
    compareText(a.evidence, b.evidence) ||
    compareText(a.source.ref, b.source.ref)
  );
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

type Recovery = Pick<Failure, 'recovered' | 'recoveredBy' | 'effect'>;

/** Who knows goes before who does not, and "it stands" before "it was put right". */
const KNOWN_FIRST: readonly Failure['recovered'][] = ['no', 'yes', 'unknown'];

/** What is known of a span's faults from two reports of it; in any order, and in parts, the same. */
function joinRecovery(a: Recovery, b: Recovery): Recovery {
  const rank = ({ recovered }: Recovery): number => KNOWN_FIRST.indexOf(recovered);
  const by = ({ recoveredBy }: Recovery): string => recoveredBy ?? '\uffff';
  const first = rank(a) - rank(b) || compareText(by(a), by(b));
  const { recovered, recoveredBy } = first <= 0 ? a : b;
  const effect = EFFECTS.find((candidate) => candidate === a.effect || candidate === b.effect) ?? 'unknown';
  return { recovered, recoveredBy, effect };
}

/**
 * One failure a span; for each of its categories the surest finding with its evidence. The result does not depend
 * on the order of the input, and merging it again changes nothing. Spans come in the order given, or by id.
 */
export function mergeFailures(failures: readonly Failure[], spanOrder: readonly string[] = []): Failure[] {
  const bySpan = new Map<string, Map<string, Row>>();
  const recovery = new Map<string, Recovery>();
  for (const failure of failures) {
    const rows = bySpan.get(failure.span_id) ?? new Map<string, Row>();
    bySpan.set(failure.span_id, rows);
    recovery.set(failure.span_id, joinRecovery(failure, recovery.get(failure.span_id) ?? failure));
    for (const row of rowsOf(failure)) {
      const kept = rows.get(row.category);
      if (kept === undefined || compareRows(row, kept) < 0) rows.set(row.category, row);
    }
  }
  const place = new Map(spanOrder.map((id, i) => [id, i]));
  return [...bySpan]
    .filter(([, rows]) => rows.size > 0)
    .sort(
      ([a], [b]) =>
        (place.get(a) ?? Number.MAX_SAFE_INTEGER) - (place.get(b) ?? Number.MAX_SAFE_INTEGER) ||
        compareText(a, b),
    )
    .map(([spanId, rows]) =>
      toFailure(
        spanId,
        [...rows.values()].sort((a, b) => b.confidence - a.confidence || compareText(a.category, b.category)),
        recovery.get(spanId) ?? UNKNOWN_RECOVERY,
      ),
    );
}

/** Drops findings below the threshold, category by category; a span left with none goes. */
export function aboveThreshold(failures: readonly Failure[], threshold: number): Failure[] {
  return failures.flatMap((failure) => {
    const rows = rowsOf(failure).filter((row) => row.confidence >= threshold);
    return rows.length === 0 ? [] : [toFailure(failure.span_id, rows, failure)];
  });
}

function toFailure(
  spanId: string,
  rows: readonly Row[],
  { recovered, recoveredBy, effect }: Recovery,
): Failure {
  return {
    span_id: spanId,
    category: rows.map((row) => row.category),
    confidence: rows.map((row) => row.confidence),
    evidence: rows.map((row) => row.evidence),
    source: rows.map((row) => row.source),
    recovered,
    recoveredBy,
    effect,
  };
}

/**
 * What the checks found that may stand in the diagnosis by itself: the precise findings, with whether the session got
 * past them. The rest stays in the check reports and informs the judge.
 */
export function failuresFromChecks(reports: readonly CheckReport[]): Failure[] {
  return reports.flatMap((report) =>
    report.findings
      .filter((finding) => finding.weight === 'failure')
      .map((finding) => ({
        span_id: finding.spanId,
        category: [finding.category],
        confidence: [finding.confidence],
        evidence: [
          [finding.summary, ...finding.evidence.slice(0, 1).map(({ quote }) => `"${quote}"`)].join(' — '),
        ],
        source: [{ kind: 'check' as const, ref: finding.checkId }],
        recovered:
          finding.recovered === null
            ? ('unknown' as const)
            : finding.recovered
              ? ('yes' as const)
              : ('no' as const),
        recoveredBy: finding.recovered === true ? (finding.recoveredBy ?? null) : null,
        effect: 'unknown' as const,
      })),
  );
}
