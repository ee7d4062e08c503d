import * as z from 'zod';
import { CRITICAL_CATEGORIES } from '../vocabulary/critical-categories.ts';
import { CATEGORY_IDS } from '../vocabulary/taxonomy.ts';

/** Kinds of constraint, after AgentRx (arXiv 2602.02475, section on constraint synthesis). */
export const CONSTRAINT_KINDS = [
  'schema',
  'protocol',
  'postcondition',
  'provenance',
  'temporal',
  'capability',
] as const;

/** Hard limits on what a constraint may be. They exist because names and expressions come from models and strangers. */
export const CONSTRAINT_LIMITS = {
  /** Characters of one expression. */
  expressionLength: 2_000,
  /** Constraints looked at in one file or answer; the rest is refused by name. */
  perSet: 500,
  /** Example sessions of each sort, and turns in one. */
  examples: 8,
  exampleTurns: 40,
  /** Questions of one rubric. */
  rubric: 5,
} as const;

/** A turn of an example session, in the order it happened. */
export const exampleTurnSchema = z.union([
  z.strictObject({ user: z.string().max(4_000) }),
  z.strictObject({ assistant: z.string().max(4_000) }),
  z.strictObject({
    call: z.string().min(1).max(200),
    args: z.record(z.string(), z.json()).optional(),
    result: z.union([z.string().max(8_000), z.json()]).optional(),
    failed: z.boolean().optional(),
  }),
]);
export type ExampleTurn = z.infer<typeof exampleTurnSchema>;

export const exampleSchema = z.strictObject({
  goal: z.string().max(2_000).optional(),
  policy: z.string().max(4_000).optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(200),
        description: z.string().max(2_000).optional(),
        parameters: z.json().optional(),
      }),
    )
    .max(50)
    .optional(),
  turns: z.array(exampleTurnSchema).min(1).max(CONSTRAINT_LIMITS.exampleTurns),
});
export type Example = z.infer<typeof exampleSchema>;

const expression = z.string().trim().min(1).max(CONSTRAINT_LIMITS.expressionLength);

const shape = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,79}$/, 'lower-case letters, digits, dot, dash and underscore, at most 80'),
  /** What a violation may mean: ids of the critical categories or of the failure taxonomy. */
  targets: z
    .array(
      z.enum([...CRITICAL_CATEGORIES, ...CATEGORY_IDS], {
        error:
          'must be the id of a critical category or of the failure taxonomy (rootspan taxonomy lists them)',
      }),
    )
    .min(1)
    .max(3),
  kind: z.enum(CONSTRAINT_KINDS),
  /** What the guard is asked about: each tool call, each step, or the whole session once at its end. */
  each: z.enum(['call', 'step', 'session']).default('call'),
  /** CEL; when it is true the assertion must hold. */
  guard: expression.default('true'),
  /** CEL; what must hold. `null` when a model decides by the rubric. */
  assertion: expression.nullable().default(null),
  /** Questions to a model about the place, each of which must be answered yes. Empty when a program decides. */
  rubric: z.array(z.string().trim().min(1).max(400)).max(CONSTRAINT_LIMITS.rubric).default([]),
  /** One sentence for the reader of a violation. */
  hint: z.string().trim().min(1).max(400),
  severity: z.enum(['low', 'medium', 'high']).default('medium'),
  examples: z
    .strictObject({
      pass: z.array(exampleSchema).max(CONSTRAINT_LIMITS.examples).default([]),
      fail: z.array(exampleSchema).max(CONSTRAINT_LIMITS.examples).default([]),
    })
    .default({ pass: [], fail: [] }),
});
export const constraintSchema = shape.refine(
  ({ assertion, rubric }) => (assertion === null) !== (rubric.length === 0),
  { error: 'give either an assertion (decided by program) or a rubric (decided by a model)' },
);
export type Constraint = z.infer<typeof constraintSchema>;

export type ConstraintOrigin = 'user' | 'global' | 'dynamic';
