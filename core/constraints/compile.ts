import { type Expression, literalPatterns } from '../cel/language.ts';
import { EvaluationFault, Meter } from '../cel/meter.ts';
import { patternObjection } from '../cel/patterns.ts';
import type { Constraint, ConstraintOrigin } from '../diagnosis/constraint.ts';
import type { ValidationEntry } from '../diagnosis/schema.ts';
import { compileExpression } from './language.ts';
import { WORK_LIMITS } from './work-limits.ts';

/** A constraint that may be asked. */
export interface CompiledConstraint {
  readonly constraint: Constraint;
  readonly origin: ConstraintOrigin;
  readonly guard: Expression;
  /** `null`: a model decides by the rubric (`judge-rubrics.ts`). */
  readonly assertion: Expression | null;
  /** Spans at which it may be asked; `null` for everywhere. */
  readonly only: ReadonlySet<string> | null;
  /** Share of healthy sessions on which it fires, where measured. */
  readonly healthyFiringRate: ValidationEntry['healthyFiringRate'];
}

export type CompileResult =
  | { readonly ok: true; readonly compiled: CompiledConstraint }
  | { readonly ok: false; readonly name: string; readonly errors: readonly string[] };

/**
 * Parses, type-checks and looks at literal patterns. Never throws; every objection is named. Constraints that come
 * together share the work allowed for their patterns.
 */
export function compileConstraint(
  constraint: Constraint,
  origin: ConstraintOrigin,
  work = new Meter(WORK_LIMITS.session),
): CompileResult {
  const guard = compileExpression(constraint.guard, constraint.each);
  const assertion =
    constraint.assertion === null ? null : compileExpression(constraint.assertion, constraint.each);
  const errors = [
    ...(guard.ok ? [] : [`guard: ${guard.error}`]),
    ...(assertion === null || assertion.ok ? [] : [`assertion: ${assertion.error}`]),
  ];
  if (!guard.ok || (assertion !== null && !assertion.ok)) return { ok: false, name: constraint.name, errors };
  const expressions = [guard.expression, ...(assertion === null ? [] : [assertion.expression])];
  const refused = expressions
    .flatMap(({ ast }) => literalPatterns(ast))
    .map((pattern) => objectionTo(pattern, work))
    .filter((objection) => objection !== null);
  if (refused.length > 0) {
    return {
      ok: false,
      name: constraint.name,
      errors: refused.map((why) => `regular expression refused: ${why}`),
    };
  }
  return {
    ok: true,
    compiled: {
      constraint,
      origin,
      guard: guard.expression,
      assertion: assertion === null ? null : assertion.expression,
      only: null,
      healthyFiringRate: null,
    },
  };
}

function objectionTo(pattern: string, work: Meter): string | null {
  try {
    return patternObjection(pattern, work);
  } catch (error) {
    if (!(error instanceof EvaluationFault)) throw error;
    return 'the patterns of this set are more than is compiled from one place';
  }
}
