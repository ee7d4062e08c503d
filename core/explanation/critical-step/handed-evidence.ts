import type { CheckFinding, CheckReport } from '../../diagnosis/check-report.ts';
import { cutText } from '../../diagnosis/quarantine.ts';
import type { CriticalStep, Failure, ValidationEntry } from '../../diagnosis/schema.ts';
import { idsToAliases } from '../../prompting/quote.ts';
import { onOneLine } from '../../prompting/untrusted.ts';

/** More than these are named by number only: the judge needs the strongest pointers, not all of them. */
const MOST_FINDINGS = 15;
const MOST_VIOLATIONS = 12;

type AliasOf = ReadonlyMap<string, string>;
const name = (spanId: string, aliasOf: AliasOf): string => `[${aliasOf.get(spanId) ?? spanId}]`;
const percent = (share: number): string => `${Math.round(share * 100)} %`;

/** The failures as a prompt lists them: one line a span and category, in order. */
export function writeFailures(failures: readonly Failure[], aliasOf: AliasOf): string {
  if (failures.length === 0) return '(none was found)';
  return failures
    .flatMap((failure) =>
      failure.category.map((category, i) =>
        onOneLine(
          `${name(failure.span_id, aliasOf)} ${category} (${failure.confidence[i]}, ${foundBy(failure, i)}): ${idsToAliases(failure.evidence[i] ?? '', aliasOf)}`,
        ),
      ),
    )
    .join('\n');
}

const foundBy = (failure: Failure, i: number): string => {
  const source = failure.source[i];
  return source === undefined || source.kind === 'model' ? 'read' : `${source.kind} ${source.ref}`;
};

/** What was judged before, as the prompt says it; empty when nothing was. */
export function writeDecided(decided: CriticalStep | null | undefined, aliasOf: AliasOf): string {
  if (decided === undefined) return '';
  if (decided === null) return 'There is no critical step.';
  const { spanId, category, reason, judgedBy } = decided;
  if (judgedBy === 'reference') {
    return onOneLine(
      `${name(spanId, aliasOf)}, decided by the expected actions; its category is for you to name: ${idsToAliases(reason, aliasOf)}`,
    );
  }
  return onOneLine(`${name(spanId, aliasOf)} ${category}: ${idsToAliases(reason, aliasOf)}`);
}

/** Other check findings and constraint violations for the judge, strongest first; empty when there are none. */
export function writeEvidence(
  failures: readonly Failure[],
  checks: readonly CheckReport[],
  log: readonly ValidationEntry[],
  aliasOf: AliasOf,
): string {
  const strength = (finding: CheckFinding): number =>
    (finding.recovered === true ? 0 : 2) + (finding.weight === 'failure' ? 1 : 0) + finding.confidence;
  const findings = checks
    .flatMap((report) => report.findings)
    .filter(({ spanId, checkId }) => !standsIn(failures, 'check', spanId, checkId))
    .toSorted((a, b) => strength(b) - strength(a));
  const rank = { high: 0, medium: 1, low: 2 };
  const violations = log
    // Built-in entries are the check findings above.
    .filter(({ origin, verdict }) => verdict === 'violated' && origin !== 'built-in')
    .filter(({ spanId, constraint }) => !standsIn(failures, 'constraint', spanId, constraint))
    .toSorted(
      (a, b) =>
        rank[a.severity] - rank[b.severity] || (a.healthyFiringRate ?? 0.5) - (b.healthyFiringRate ?? 0.5),
    );
  return [
    ...findings.slice(0, MOST_FINDINGS).map((finding) => findingLine(finding, aliasOf)),
    ...rest(findings.length - MOST_FINDINGS, 'weaker check findings'),
    ...violations.slice(0, MOST_VIOLATIONS).map((entry) => violationLine(entry, aliasOf)),
    ...rest(violations.length - MOST_VIOLATIONS, 'weaker violations'),
  ]
    .map(onOneLine)
    .join('\n');
}

/** The list of failures shows it already. */
const standsIn = (
  failures: readonly Failure[],
  kind: 'check' | 'constraint',
  spanId: string,
  ref: string,
): boolean =>
  failures.some(
    ({ span_id, source }) =>
      span_id === spanId && source.some((reference) => reference.kind === kind && reference.ref === ref),
  );

const rest = (count: number, what: string): string[] => (count > 0 ? [`(and ${count} ${what})`] : []);

function findingLine(finding: CheckFinding, aliasOf: AliasOf): string {
  const recovered =
    finding.recovered === null ? '' : finding.recovered ? ', recovered later' : ', not recovered';
  const quote = finding.evidence[0]?.quote ?? '';
  return `${name(finding.spanId, aliasOf)} check ${finding.checkId} (${finding.confidence}${recovered}): ${idsToAliases(finding.summary, aliasOf)}${quote === '' ? '' : ` — "${quote}"`}`;
}

function violationLine(entry: ValidationEntry, aliasOf: AliasOf): string {
  const rate =
    entry.healthyFiringRate === null
      ? ''
      : `, also fires on ${percent(entry.healthyFiringRate)} of healthy runs`;
  const [first] = entry.evidence;
  const proof = first === undefined ? '' : ` — "${cutText(first.quote, 160)}" ${cutText(first.note, 160)}`;
  return `${name(entry.spanId, aliasOf)} constraint ${entry.constraint} violated (${entry.severity}${rate}): ${idsToAliases(entry.reason, aliasOf)}${proof}`;
}
