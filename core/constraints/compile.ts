import type { ASTNode } from '@marcbachmann/cel-js';
import type { ValidationEntry } from '../diagnosis/schema.ts';
import type { Constraint, ConstraintOrigin } from './constraint.ts';
import { compileExpression, type Expression, operands } from './language.ts';
import { patternObjection } from './patterns.ts';

/** A constraint that may be asked. */
export interface CompiledConstraint {
  readonly constraint: Constraint;
  readonly origin: ConstraintOrigin;
  readonly guard: Expression;
  readonly assertion: Expression;
  /** Share of healthy sessions on which it fires, where measured. */
  readonly healthyFiringRate: ValidationEntry['healthyFiringRate'];
}

export type CompileResult =
  | { readonly ok: true; readonly compiled: CompiledConstraint }
  | { readonly ok: false; readonly name: string; readonly errors: readonly string[] };

/** Parses, type-checks and looks at literal patterns. Never throws; every objection is named. */
export function compileConstraint(constraint: Constraint, origin: ConstraintOrigin): CompileResult {
  const guard = compileExpression(constraint.guard, constraint.each);
  const assertion = compileExpression(constraint.assertion, constraint.each);
  if (guard.ok && assertion.ok) {
    const patterns = [...literalPatterns(guard.expression.ast), ...literalPatterns(assertion.expression.ast)];
    const errors = patterns.flatMap((pattern) => {
      const refused = patternObjection(pattern);
      return refused === null ? [] : [`regular expression refused: ${refused}`];
    });
    if (errors.length > 0) return { ok: false, name: constraint.name, errors };
    return {
      ok: true,
      compiled: {
        constraint,
        origin,
        guard: guard.expression,
        assertion: assertion.expression,
        healthyFiringRate: null,
      },
    };
  }
  const errors = [
    ...(guard.ok ? [] : [`guard: ${guard.error}`]),
    ...(assertion.ok ? [] : [`assertion: ${assertion.error}`]),
  ];
  return { ok: false, name: constraint.name, errors };
}

function literalPatterns(node: ASTNode): readonly string[] {
  const pattern =
    node.op === 'rcall' && node.args[0] === 'matches'
      ? node.args[2][0]
      : node.op === 'call' && node.args[0] === 'matches'
        ? node.args[1][1]
        : undefined;
  const own = pattern?.op === 'value' && typeof pattern.args === 'string' ? [pattern.args] : [];
  return [...own, ...operands(node).flatMap(literalPatterns)];
}
