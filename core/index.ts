/**
 * The library: what `import … from 'rootspan'` gives. Pure: text of sessions, a model and the time come from the
 * caller. Ready-made models: `createModel` of 'rootspan/models'.
 */

export type { ConstraintCheck, TrialSession } from './constraints/check-constraints.ts';
export { checkConstraints } from './constraints/check-constraints.ts';
export { loadConstraints } from './constraints/read-constraints.ts';
export type { Constraint } from './diagnosis/constraint.ts';
export type { ConfidenceWord, DiagnosisOptions } from './diagnosis/options.ts';
export { DEFAULT_OPTIONS } from './diagnosis/options.ts';
export type {
  Coverage,
  CriticalStep,
  Diagnosis,
  Failure,
  Outcome,
  RootCause,
  ValidationEntry,
} from './diagnosis/schema.ts';
export { diagnosisSchema } from './diagnosis/schema.ts';
export { ErrorName } from './errors/error-names.ts';
export * from './errors/errors.ts';
export type { Detection, LibraryOptions, RootCauseAnalysis } from './library.ts';
export { analyzeRootCause, detectFailures, diagnoseSession } from './library.ts';
export type {
  GivenAnswer as ModelAnswer,
  GivenModel as Model,
  GivenRequest as ModelRequest,
  ModelLimits,
  Usage,
} from './model/port.ts';
export type { FormatLine } from './reading/registry.ts';
export { listFormats, readSessions } from './reading/registry.ts';
export type { SessionInput } from './reading/session-reader.ts';
export type { StrandsExport, StrandsFailureOutput } from './report-build/strands.ts';
export { toStrandsJson } from './report-build/strands.ts';
export type { Verdict, VerdictPolicy } from './report-build/verdict.ts';
export { verdict } from './report-build/verdict.ts';
export type { Session, Span } from './session/session.ts';
export { sessionSchema } from './session/session.ts';
export type { CategoryDefinition } from './vocabulary/taxonomy.ts';
export { TAXONOMY, TAXONOMY_VERSION } from './vocabulary/taxonomy.ts';
