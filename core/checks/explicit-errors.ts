import type { CheckFinding } from '../diagnosis/check-report.ts';
import type { Span, SpanError } from '../session/session.ts';
import { blamesCaller, type Classified, classifyError } from '../trajectory/classify-error.ts';
import { findTraceback } from '../trajectory/error-signals.ts';
import { type Recovery, recoveryOf } from '../trajectory/exchanges.ts';
import { blankCode } from '../trajectory/execution-report.ts';
import { isBusinessRefusal, stepOutcomes, toolOutcome } from '../trajectory/tool-outcome.ts';
import type { Step, ToolExchange, Trajectory } from '../trajectory/trajectory.ts';
import { readUtterances } from '../trajectory/utterances.ts';
import { errorClassRow } from '../vocabulary/error-classes.ts';
import { finishReason, isMalformedOutput } from '../vocabulary/finish-reasons.ts';
import { isWall } from './blocked.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround, scannedPieces } from './evidence.ts';
import { codeRuns } from './failing-code.ts';
import { finding } from './finding.ts';

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
  const recoveryFor = recoveryOf(trajectory);
  const codeReports = codeReportSteps(trajectory);
  const findings: CheckFinding[] = [];
  for (const { step, exchange, name, text, outcome } of stepOutcomes(trajectory)) {
    if (outcome.state !== 'failed') continue;
    // A code run that failed is its author's fault and stands in the check for failing code.
    if (exchange === null && codeReports.has(step.spanId)) continue;
    const recovery: Recovery = exchange === null ? { recovered: null } : recoveryFor(exchange);
    const quote = quoteAround(text, outcome.spot.start, outcome.spot.end);
    const refused = isBusinessRefusal(outcome);
    const summary = refused
      ? `Tool ${shown(name)} refused, by a rule or a state of its own`
      : `Tool ${shown(name)} answered with an error`;
    findings.push(
      toFinding(trajectory, step, outcome, recovery, summary, [
        evidence(step.spanId, quote, recoveryNote(recovery.recovered)),
      ]),
    );
  }
  return findings;
}

function codeReportSteps(trajectory: Trajectory): ReadonlySet<string> {
  return new Set(codeRuns(readUtterances(trajectory)).map((run) => run.report.step.spanId));
}

function spanErrors(trajectory: Trajectory): CheckFinding[] {
  const echoed = echoingSpans(trajectory);
  const codeReports = codeReportSteps(trajectory);
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
    const { state } = toolOutcome(exchange);
    if (state === 'failed' || state === 'interrupted') reported.add(at);
  }
  const recoveryFor = recoveryOf(trajectory);
  const lastGood = lastGoodSteps(trajectory);
  const findings: CheckFinding[] = [];
  for (const step of trajectory.steps) {
    const error = mostTelling(step.span);
    if (error === null || echoed.has(step.spanId) || codeReports.has(step.spanId)) continue;
    // Already reported from a result itself.
    if (reported.has(step.index)) continue;
    const callId = step.span.kind === 'execute_tool' ? step.span.toolCall.toolCallId : null;
    const exchange = resultOf.get(step.index) ?? (callId === null ? undefined : unanswered.get(callId));
    const known = classOfSpan(step, error);
    if (known.class === 'interrupted') continue;
    const recovery =
      exchange !== undefined ? recoveryFor(exchange) : gotPast(trajectory, step, lastGood, echoed);
    findings.push(
      toFinding(trajectory, step, known, recovery, `Span ${shown(step.span.name)} ended in an error`, [
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

function classOfSpan(step: Step, error: SpanError): Classified {
  if (error.source === 'finish-reason' && isMalformedOutput(error.type ?? '')) {
    return { class: 'formatting', certain: true };
  }
  const known = classifyError({
    types: error.type === undefined ? [] : [error.type],
    http: error.source === 'http' ? (error.code ?? null) : statusCode(step.span.errors),
    text: error.message,
  });
  // That the span failed is certain, why is not told.
  if (known.class === null) return { class: 'service-errors', certain: true };
  // No agent writes the request to its own model: where that was refused as malformed, the set-up is wrong.
  const ofModel = step.kind === 'inference' && blamesCaller(known.class);
  return ofModel ? { class: 'environment', certain: known.certain } : known;
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
      const recovery: Recovery = { recovered: step.index >= lastStep(trajectory) - 1 ? false : null };
      const kind = classifyError({ text: piece.slice(spot.start) });
      findings.push(
        toFinding(trajectory, step, kind, recovery, 'The turn broke off with a traceback', [
          evidence(step.spanId, quoteAround(piece, spot.start, spot.end), recoveryNote(recovery.recovered)),
        ]),
      );
      break;
    }
  }
  return findings;
}

function toFinding(
  trajectory: Trajectory,
  step: Step,
  kind: Classified,
  recovery: Recovery | SpanRecovery,
  summary: string,
  proof: CheckFinding['evidence'],
): CheckFinding {
  const row = kind.class === null ? null : errorClassRow(kind.class);
  const stands = recovery.recovered === false && row !== null && row.blame !== 'nobody';
  const by = recoveringSpan(trajectory, recovery);
  return finding(
    {
      checkId: ID,
      spanId: step.spanId,
      category: row?.category ?? 'other',
      summary,
      evidence: proof,
    },
    {
      confidence: stands ? (kind.certain ? 0.9 : 0.75) : 0.5,
      weight: stands ? 'failure' : 'evidence',
      recovered: recovery.recovered,
      ...(by === undefined ? {} : { recoveredBy: by }),
      criticalCategory: row?.blame === 'nobody' ? null : (row?.critical ?? 'inconclusive'),
    },
  );
}

/** As `Recovery`, for a span that carries no call. */
type SpanRecovery = { readonly recovered: true; readonly by: Step } | { readonly recovered: false | null };

function recoveringSpan(trajectory: Trajectory, recovery: Recovery | SpanRecovery): string | undefined {
  if (recovery.recovered !== true) return undefined;
  const { by } = recovery;
  if ('spanId' in by) return by.spanId;
  return trajectory.steps[by.resultStep ?? by.callStep]?.spanId;
}

/** A span that failed: whether one of its kind and name worked later, or its fault reached the root or the end. */
function gotPast(
  trajectory: Trajectory,
  step: Step,
  lastGood: ReadonlyMap<string, Step>,
  echoed: ReadonlySet<string>,
): SpanRecovery {
  const later = lastGood.get(nameOf(step));
  if (later !== undefined && later.index > step.index) return { recovered: true, by: later };
  const root = trajectory.steps[0];
  const brokeRoot = root !== undefined && root.span.errors.length > 0 && echoed.has(root.spanId);
  // A request of the framework, below a root that went well, is none of the agent's work.
  const ended = step.index === lastStep(trajectory) && step.kind !== 'other';
  return { recovered: brokeRoot || ended ? false : null };
}

/** Last step of each kind and name without an error. */
function lastGoodSteps(trajectory: Trajectory): ReadonlyMap<string, Step> {
  const good = trajectory.steps.filter(
    (step) => step.span.errors.length === 0 && step.span.status !== 'error',
  );
  return new Map(good.map((step) => [nameOf(step), step]));
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
  if (recovered === true) return 'a later call with the same goal succeeded';
  if (recovered === false) return 'no later call succeeded';
  return 'the session went on with other calls';
}

function shown(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}
