/**
 * The library: what `import … from 'rootspan'` gives. Pure: text of sessions, a model and the time come from the
 * caller. Ready-made models: `createModel` of 'rootspan/models'.
 */

export type { ConstraintCheck, TrialSession } from './constraints/check-constraints.ts';
export { checkConstraints } from './constraints/check-constraints.ts';
export type { Constraint } from './constraints/constraint.ts';
export { loadConstraints } from './constraints/read-constraints.ts';
export { ErrorName } from './contracts/error-names.ts';
export * from './contracts/errors.ts';
export type { CategoryDefinition } from './detection/taxonomy.ts';
export { TAXONOMY, TAXONOMY_VERSION } from './detection/taxonomy.ts';
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
export type { StrandsExport, StrandsFailureOutput } from './diagnosis/strands.ts';
export { toStrandsJson } from './diagnosis/strands.ts';
export type { Verdict } from './diagnosis/verdict.ts';
export { ExitCode, verdict } from './diagnosis/verdict.ts';
export type { FormatLine, SessionInput } from './formats/registry.ts';
export { listFormats, readSessions } from './formats/registry.ts';
export type { Detection, LibraryOptions, RootCauseAnalysis } from './library.ts';
export { analyzeRootCause, detectFailures, diagnoseSession } from './library.ts';
export type { Model, ModelAnswer, ModelLimits, ModelRequest, Usage } from './model/port.ts';
export type { Session, Span } from './session/model.ts';
export { sessionSchema } from './session/model.ts';
