import { parseAtDoor } from './base/parse.ts';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from './diagnosis/options.ts';
import { UNKNOWN_RECOVERY } from './diagnosis/recovery.ts';
import type {
  Coverage,
  CriticalStep,
  Diagnosis,
  Failure,
  Outcome,
  Quarantined,
  RootCause,
} from './diagnosis/schema.ts';
import { ConfigurationInvalidError, SessionInvalidError } from './errors/errors.ts';
import type { CallRecord } from './model/call-record.ts';
import { completeModel } from './model/complete-model.ts';
import type { GivenModel } from './model/port.ts';
import { makeTokenCounter } from './planning/tokens/make-token-counter.ts';
import { withEffects } from './report-build/effects.ts';
import { decideOutcome } from './report-build/outcome.ts';
import type { StrandsFailureOutput } from './report-build/strands.ts';
import { type Session, sessionSchema, sessionSpans } from './session/session.ts';
import {
  analyzeChunks,
  diagnose,
  findRootCauses,
  mergeChunks,
  type Progress,
  preflight,
} from './stages/pipeline.ts';

/**
 * Everything has a default but the model: one of ours (`createModel` of 'rootspan/models') or an object of your own with
 * `spec` and `ask` (core/model/port.ts). `taxonomy` replaces the built-in one, `guidelines` are added to the detection
 * prompt.
 */
export interface LibraryOptions extends Partial<DiagnosisOptions> {
  readonly model: GivenModel;
  /** Chunks analysed at once. Default: as many as the model's limits say. */
  readonly concurrency?: number;
  readonly onProgress?: (progress: Progress) => void;
}

/** What detection alone says. An empty `failures` means "nothing found" only together with `outcome`. */
export interface Detection {
  readonly session_id: string;
  readonly failures: readonly Failure[];
  readonly outcome: Outcome;
  readonly outcomeReason: string | null;
  readonly coverage: Coverage;
  readonly quarantined: readonly Quarantined[];
  readonly calls: readonly CallRecord[];
}

export interface RootCauseAnalysis {
  /** One for each failure, in session order. */
  readonly rootCauses: readonly RootCause[];
  readonly criticalStep: CriticalStep | null;
  readonly completionStatus: Diagnosis['completionStatus'];
  readonly recommendations: Diagnosis['recommendations'];
  /** What could not be explained, and why. */
  readonly gaps: Coverage['gaps'];
  readonly quarantined: readonly Quarantined[];
  readonly calls: readonly CallRecord[];
}

/**
 * Which spans failed, and how. Errors as in `diagnoseSession`.
 */
export async function detectFailures(session: Session, libraryOptions: LibraryOptions): Promise<Detection> {
  const { deps, options } = setUp(libraryOptions);
  const prepared = prepareFor(session, deps, options);
  const results = await analyzeChunks(prepared, deps);
  const { failures: found, coverage: looked, quarantined, calls } = mergeChunks(prepared, results);
  const failures = withEffects(found, [], []);
  const { outcome, outcomeReason, coverage } = decideOutcome({
    failures,
    looked,
    criticalStep: null,
    judged: false,
    completion: 'UNKNOWN',
    notAnalysed: prepared.notAnalysed,
  });
  return {
    session_id: session.sessionId,
    failures,
    outcome,
    outcomeReason,
    coverage: { state: coverage, ...looked },
    quarantined,
    calls,
  };
}

/**
 * Why the given failures happened, and which step lost the run. Takes our failures or those of the Strands
 * detectors. SessionInvalidError when a failure names a span that the session does not have.
 */
export async function analyzeRootCause(
  session: Session,
  failures: StrandsFailureOutput['failures'] | readonly Failure[],
  libraryOptions: LibraryOptions,
): Promise<RootCauseAnalysis> {
  const { deps, options } = setUp(libraryOptions);
  const prepared = prepareFor(session, deps, options);
  const known = new Set(sessionSpans(session).map(({ spanId }) => spanId));
  const unknown = failures.filter(({ span_id }) => !known.has(span_id)).map(({ span_id }) => span_id);
  if (unknown.length > 0) {
    throw new SessionInvalidError(
      `failures name spans that session ${session.sessionId} does not have: ${unknown.slice(0, 5).join(', ')}; ` +
        'expected the failures of this session',
    );
  }
  const cited = failures.map(
    (failure): Failure => ({
      span_id: failure.span_id,
      category: [...failure.category],
      confidence: [...failure.confidence],
      evidence: [...failure.evidence],
      source:
        'source' in failure
          ? [...failure.source]
          : failure.category.map(() => ({ kind: 'user' as const, ref: 'caller' })),
      ...('recovered' in failure
        ? { recovered: failure.recovered, recoveredBy: failure.recoveredBy, effect: failure.effect }
        : UNKNOWN_RECOVERY),
    }),
  );
  const counted = mergeChunks({ ...prepared, checks: [] }, []).coverage;
  const diagnosis = await findRootCauses(
    prepared,
    { failures: cited, quarantined: [], coverage: { ...counted, gaps: [] }, calls: [] },
    [],
    deps.model,
    { counter: deps.counter, nowIso: EPOCH },
  );
  return {
    rootCauses: diagnosis.rootCauses,
    criticalStep: diagnosis.criticalStep,
    completionStatus: diagnosis.completionStatus,
    recommendations: diagnosis.recommendations,
    gaps: diagnosis.coverage.gaps,
    quarantined: diagnosis.quarantined,
    calls: diagnosis.provenance.calls,
  };
}

/**
 * The whole diagnosis of one session. `now` becomes `createdAt`: core has no clock.
 *
 * Rejects with ModelPendingError (a batch model has not answered yet), ModelAccessError and
 * ConfigurationInvalidError (somebody must fix something), SessionInvalidError. Every other trouble is in the result.
 */
export async function diagnoseSession(
  session: Session,
  libraryOptions: LibraryOptions & { readonly now: Date },
): Promise<Diagnosis> {
  const { now, ...rest } = libraryOptions;
  if (!(now instanceof Date) || Number.isNaN(now.getTime()))
    throw new ConfigurationInvalidError('diagnoseSession: expected a valid Date as `now`');
  const { deps, options } = setUp(rest);
  return diagnose(checked(session), options, { ...deps, clock: { now: () => now.getTime() } });
}

const EPOCH = new Date(0).toISOString();

function setUp({ model, concurrency, onProgress, ...diagnosisOptions }: LibraryOptions) {
  return {
    deps: {
      model: completeModel(model),
      counter: makeTokenCounter(),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(onProgress === undefined ? {} : { onProgress }),
    },
    options: { ...DEFAULT_OPTIONS, ...diagnosisOptions } satisfies DiagnosisOptions,
  };
}

/** A caller without types may hand in anything. */
const checked = (session: Session): Session => parseAtDoor(sessionSchema, session, 'the session');

function prepareFor(session: Session, deps: ReturnType<typeof setUp>['deps'], options: DiagnosisOptions) {
  return preflight(checked(session), options, {
    counter: deps.counter,
    limits: deps.model.limits,
    modelSpec: deps.model.spec,
  });
}
