import * as z from 'zod';
import { isDeeper } from '../base/json.ts';
import { Meter } from '../cel/meter.ts';
import {
  CONSTRAINT_LIMITS,
  type Constraint,
  type ConstraintOrigin,
  constraintSchema,
} from '../diagnosis/constraint.ts';
import { ConfigurationInvalidError } from '../errors/errors.ts';
import { type CompiledConstraint, compileConstraint } from './compile.ts';
import { readYaml } from './read-yaml.ts';
import { WORK_LIMITS } from './work-limits.ts';

export interface RefusedConstraint {
  readonly name: string;
  readonly errors: readonly string[];
}

/** What a file or an answer gave: constraints that may be asked, and the others with the reasons. */
export interface ConstraintSet {
  readonly accepted: readonly CompiledConstraint[];
  readonly refused: readonly RefusedConstraint[];
}

/** Some 300 constraints with examples as people write them. Reading YAML takes up to a second for this much. */
const MAX_FILE_LENGTH = 250_000;
/** Levels of one constraint: the deepest value that its shape asks for, and what an example's arguments may hold. */
const MAX_LEVELS = 32;

const fileSchema = z.strictObject({
  version: z.literal(1),
  /** Whose constraints these are; for people, not matched. */
  agent: z.string().optional(),
  constraints: z.array(z.unknown()),
});

/**
 * Reads a YAML or JSON file of constraints. A file that is not one throws ConfigurationInvalidError; a constraint
 * that cannot be used is refused by name and the others stand.
 */
export function readConstraintFile(text: string, source: string): ConstraintSet {
  if (text.length > MAX_FILE_LENGTH) {
    throw new ConfigurationInvalidError(
      `${source} has ${text.length} characters; a constraint file may have ${MAX_FILE_LENGTH}. Split it by agent.`,
    );
  }
  const read = fileSchema.safeParse(readYaml(text, source));
  if (!read.success) {
    throw new ConfigurationInvalidError(
      `${source} is not a constraint file: ${z.prettifyError(read.error)}. Expected "version: 1" and a list "constraints" (docs/constraints.md).`,
    );
  }
  return admitConstraints(read.data.constraints, 'user');
}

/**
 * The constraints of a file for `DiagnosisOptions.constraints`. Throws ConfigurationInvalidError also when one of them
 * is refused: a diagnosis must not go on with fewer rules than its user believes.
 */
export function loadConstraints(text: string, source: string): readonly Constraint[] {
  const { accepted, refused } = readConstraintFile(text, source);
  if (refused.length > 0) {
    const listed = refused.slice(0, 5).map(({ name, errors }) => `${name}: ${errors.join('; ')}`);
    throw new ConfigurationInvalidError(
      `${source}: ${refused.length} constraints cannot be used (${listed.join(' | ')}). Fix them, and try them with "rootspan constraints check".`,
    );
  }
  return accepted.map(({ constraint }) => constraint);
}

/** Shape, names and expressions of constraints from anywhere: a file, or a model's answer. Never throws. */
export function admitConstraints(raw: readonly unknown[], origin: ConstraintOrigin): ConstraintSet {
  const accepted: CompiledConstraint[] = [];
  const refused: RefusedConstraint[] = [];
  const names = new Set<string>();
  const work = new Meter(WORK_LIMITS.session);
  for (const [index, item] of raw.slice(0, CONSTRAINT_LIMITS.perSet).entries()) {
    if (isDeeper(item, MAX_LEVELS)) {
      refused.push({ name: nameOf(item, index), errors: [`nested deeper than ${MAX_LEVELS} levels`] });
      continue;
    }
    const shape = constraintSchema.safeParse(item);
    if (!shape.success) {
      refused.push({ name: nameOf(item, index), errors: [z.prettifyError(shape.error).slice(0, 600)] });
      continue;
    }
    const { name } = shape.data;
    if (names.has(name)) {
      refused.push({ name, errors: ['a constraint of this name stands above'] });
      continue;
    }
    names.add(name);
    const result = compileConstraint(shape.data, origin, work);
    if (result.ok) accepted.push(result.compiled);
    else refused.push({ name, errors: result.errors });
  }
  if (raw.length > CONSTRAINT_LIMITS.perSet) {
    const over = raw.length - CONSTRAINT_LIMITS.perSet;
    refused.push({
      name: `(${over} more)`,
      errors: [`at most ${CONSTRAINT_LIMITS.perSet} constraints are read from one place`],
    });
  }
  return { accepted, refused };
}

function nameOf(item: unknown, index: number): string {
  const named = z.object({ name: z.string() }).safeParse(item);
  return named.success ? named.data.name.slice(0, 80) : `#${index + 1}`;
}
