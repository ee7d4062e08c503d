import type { CheckFinding } from '../diagnosis/check-report.ts';
import type { Span, SpanError } from '../session/session.ts';
import { classifyError, type ErrorClass, findTraceback } from '../trajectory/error-signals.ts';
import { failureOf, recoveryOf } from '../trajectory/exchanges.ts';
import { blankCode } from '../trajectory/execution-report.ts';
import type { Step, ToolExchange, Trajectory } from '../trajectory/trajectory.ts';
import { readUtterances } from '../trajectory/utterances.ts';
import { finishReason, isMalformedOutput } from '../vocabulary/finish-reasons.ts';
import { isWall } from './blocked.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround, scannedPieces } from './evidence.ts';
import { codeRuns } from './failing-code.ts';

const ID = 'explicit-error';

/**
 * Errors that the telemetry or a tool states: span status, error type, exception, HTTP status, exit code, a tool
 * result flagged or worded as an error. Classed into the nine execution errors.
 *
 * An error that the session got past, or of which that is unknown, is evidence; one that it did not is a failure.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on 8, as a failure on none.
 */
export const explicitErrors: Check = {
  id: ID,
  title: 'A tool, a service or the runtime reported an error',
  categories: [
    'execution-error-category-authentication',
    'execution-error-category-resource-not-found',
    'execution-error-category-service-errors',
    'execution-error-category-rate-limiting',
    'execution-error-category-formatting',
    'execution-error-category-timeout',
    'execution-error-category-resource-exhaustion',
    'execution-error-category-environment',
    'execution-error-category-tool-schema',
    'other',
  ],
  run(trajectory) {
    return [...resultErrors(trajectory), ...spanErrors(trajectory), ...spokenErrors(trajectory)].sort(
      (a, b) => place(trajectory, a) - place(trajectory, b),
    );
  },
};

function place(trajectory: Trajectory, finding: CheckFinding): number {
  return trajectory.stepBySpan.get(finding.spanId)?.index ?? 0;
}

function resultErrors(trajectory: Trajectory): CheckFinding[] {
  const recovery = recoveryOf(trajectory);
  const findings: CheckFinding[] = [];
  for (const exchange of trajectory.exchanges) {
    const failed = failureOf(exchange);
    if (failed === null) continue;
    const step = trajectory.steps[exchange.resultStep ?? exchange.callStep];
    if (step === undefined) continue;
    const kind = classifyError(failed.result, statusCode(step.span.errors));
    const recovered = recovery.recovered(exchange);
    const quote = quoteAround(failed.result, failed.spot.start, failed.spot.end);
    findings.push(
      toFinding(step, kind, recovered, `Tool ${shown(exchange.name)} answered with an error`, [
        evidence(step.spanId, quote, recoveryNote(recovered)),
      ]),
    );
  }
  return findings;
}

function spanErrors(trajectory: Trajectory): CheckFinding[] {
  const echoed = echoingSpans(trajectory);
  const resultOf = new Map<number, ToolExchange>();
  const unanswered = new Map<string, ToolExchange>();
  const reported = new Set<number>();
  for (const exchange of trajectory.exchanges) {
    const at = exchange.resultStep;
    if (at === null) {
      if (exchange.toolCallId !== null) unanswered.set(exchange.toolCallId, exchange);
      continue;
    }
    resultOf.set(at, exchange);
    if (failureOf(exchange) !== null) reported.add(at);
  }
  const recovery = recoveryOf(trajectory);
  // A code run that failed is its author's fault and stands in the check for failing code.
  const codeReports = new Set(codeRuns(readUtterances(trajectory)).map((run) => run.report.step.spanId));
  const lastGood = lastGoodSteps(trajectory);
  const findings: CheckFinding[] = [];
  for (const step of trajectory.steps) {
    const error = mostTelling(step.span);
    if (error === null || echoed.has(step.spanId) || codeReports.has(step.spanId)) continue;
    // Already reported from a result itself.
    if (reported.has(step.index)) continue;
    const callId = step.span.kind === 'execute_tool' ? step.span.toolCall.toolCallId : null;
    const exchange = resultOf.get(step.index) ?? (callId === null ? undefined : unanswered.get(callId));
    const text = `${error.type ?? ''} ${error.message}`.trim();
    const known = classifyError(text, error.source === 'http' ? (error.code ?? null) : statusCode([error]));
    const kind =
      error.source === 'finish-reason' && isMalformedOutput(error.type ?? '')
        ? MALFORMED
        : !known.certain
          ? UNTOLD
          : step.kind === 'inference'
            ? ofModelCall(known)
            : known;
    const recovered =
      exchange !== undefined ? recovery.recovered(exchange) : gotPast(trajectory, step, lastGood, echoed);
    findings.push(
      toFinding(step, kind, recovered, `Span ${shown(step.span.name)} ended in an error`, [
        evidence(
          step.spanId,
          quoteAround(error.message === '' ? (error.type ?? '') : error.message),
          `stated by ${error.source}`,
        ),
      ]),
    );
  }
  return findings;
}

/** That the span failed is certain, why is not told. */
const UNTOLD: ErrorClass = {
  category: 'execution-error-category-service-errors',
  critical: 'system-failure',
  certain: true,
};

/** The model's own output could not be parsed as the call that it was to be. */
const MALFORMED: ErrorClass = {
  category: 'execution-error-category-formatting',
  critical: 'invalid-invocation',
  certain: true,
};

/** No agent writes the request to its own model: where that was refused as malformed, the set-up is wrong. */
function ofModelCall(kind: ErrorClass): ErrorClass {
  if (kind.critical !== 'invalid-invocation') return kind;
  return {
    category: 'execution-error-category-environment',
    critical: 'system-failure',
    certain: kind.certain,
  };
}

/** Logs without spans keep a runtime's traceback in the turn that it broke off. */
function spokenErrors(trajectory: Trajectory): CheckFinding[] {
  const findings: CheckFinding[] = [];
  for (const { step, text, voice } of readUtterances(trajectory)) {
    if (voice !== 'agent' || step.span.errors.length > 0) continue;
    for (const piece of scannedPieces(text)) {
      const spot = findTraceback(blankCode(piece));
      // A wall has a check of its own.
      if (spot === null || isWall(piece)) continue;
      const recovered = step.index >= lastStep(trajectory) - 1 ? false : null;
      const kind = classifyError(piece.slice(spot.start), null);
      findings.push(
        toFinding(step, kind, recovered, 'The turn broke off with a traceback', [
          evidence(step.spanId, quoteAround(piece, spot.start, spot.end), recoveryNote(recovered)),
        ]),
      );
      break;
    }
  }
  return findings;
}

function toFinding(
  step: Step,
  kind: ErrorClass,
  recovered: boolean | null,
  summary: string,
  proof: CheckFinding['evidence'],
): CheckFinding {
  const stands = recovered === false;
  return {
    checkId: ID,
    spanId: step.spanId,
    category: kind.category,
    confidence: stands ? (kind.certain ? 0.9 : 0.75) : recovered === true || !kind.certain ? 0.5 : 0.75,
    summary,
    evidence: proof,
    weight: stands ? 'failure' : 'evidence',
    recovered,
    criticalCategory: kind.critical,
  };
}

/** A span that failed: whether one of its kind and name worked later, or its fault reached the root or the end. */
function gotPast(
  trajectory: Trajectory,
  step: Step,
  lastGood: ReadonlyMap<string, number>,
  echoed: ReadonlySet<string>,
): boolean | null {
  if ((lastGood.get(nameOf(step)) ?? -1) > step.index) return true;
  const root = trajectory.steps[0];
  const brokeRoot = root !== undefined && root.span.errors.length > 0 && echoed.has(root.spanId);
  return brokeRoot || step.index === lastStep(trajectory) ? false : null;
}

/** Last step of each kind and name without an error. */
function lastGoodSteps(trajectory: Trajectory): ReadonlyMap<string, number> {
  const good = trajectory.steps.filter(
    (step) => step.span.errors.length === 0 && step.span.status !== 'error',
  );
  return new Map(good.map((step) => [nameOf(step), step.index]));
}

function nameOf({ kind, span }: Step): string {
  return `${kind}\u0000${span.name}`;
}

/** An error climbs up its parents' status. Only the deepest span that states it had it. */
function echoingSpans(trajectory: Trajectory): ReadonlySet<string> {
  const echoing = new Set<string>();
  for (const step of trajectory.steps) {
    if (step.span.errors.length === 0) continue;
    let parent = step.span.parentSpanId;
    // Stops at a span already marked, so each is marked once and a cycle ends.
    while (parent !== null && !echoing.has(parent)) {
      const above: Span | undefined = trajectory.stepBySpan.get(parent)?.span;
      if (above !== undefined && failedItself(above, step.span)) break;
      echoing.add(parent);
      parent = above?.parentSpanId ?? null;
    }
  }
  return echoing;
}

/** A tool run that states another fault than the run below it: producers hang parallel calls one under the other. */
function failedItself(above: Span, below: Span): boolean {
  if (above.kind !== 'execute_tool' || below.kind !== 'execute_tool') return false;
  const told = below.errors.map((error) => error.message);
  return above.errors.some(
    ({ message }) => !told.some((other) => message.includes(other) || other.includes(message)),
  );
}

const TELLING: readonly SpanError['source'][] = [
  'http',
  'exception',
  'error-type',
  'exit-code',
  'tool-status',
  'status',
];

/** Of the finish reasons only those that state a fault of the call: cut and withheld answers have checks of their own. */
function mostTelling(span: Span): SpanError | null {
  for (const source of TELLING) {
    const found = span.errors.find((error) => error.source === source && (error.code ?? 1) !== 0);
    if (found !== undefined) return found;
  }
  const reasons = span.kind === 'inference' ? (span.finishReasons ?? []) : [];
  const fault = reasons.find((word) => finishReason(word) === 'error');
  return fault === undefined
    ? null
    : { source: 'finish-reason', type: fault, message: `the model stopped with ${fault}` };
}

function statusCode(errors: readonly SpanError[]): number | null {
  return errors.find((error) => error.source === 'http')?.code ?? null;
}

function lastStep(trajectory: Trajectory): number {
  return trajectory.steps.length - 1;
}

function recoveryNote(recovered: boolean | null): string {
  if (recovered === true) return 'a later call of the same kind succeeded';
  if (recovered === false) return 'no later call of this kind succeeded';
  return 'the session went on with other calls';
}

function shown(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}
