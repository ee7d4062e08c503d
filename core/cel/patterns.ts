import { RE2JS } from 're2js';
import { estimatePatternSize } from '../base/pattern-size.ts';
import { EvaluationFault, type Meter } from './meter.ts';

/**
 * Regular expressions of expressions, linear in the text by RE2's construction. What remains to bound is the price of
 * compiling, and the factor: a compiled program of many instructions is charged for each character (measured: 24 ns
 * for one instruction and character, a quarter of a unit).
 */
export const MAX_PATTERN = 300;
const MAX_PROGRAM = 1_000;
/** Units of compiling, measured as 0.1–2 ms a pattern, and 0.15 ms for each class of Unicode. */
const COMPILING = { pattern: 2_000, instruction: 20, unicodeClass: 2_000 } as const;

/** The patterns of one run of expressions, each compiled and paid for once: a run costs the same whatever ran before it. */
export class Patterns {
  readonly #compiled = new Map<string, RE2JS | string>();

  /** True when the pattern occurs anywhere in the text. */
  occurs(text: string, source: string, meter: Meter): boolean {
    meter.charge(10);
    const pattern = this.#compiled.get(source) ?? compilePattern(source, meter);
    this.#compiled.set(source, pattern);
    if (typeof pattern === 'string') {
      throw new EvaluationFault('type', `regular expression refused: ${pattern}`);
    }
    meter.charge((text.length * pattern.programSize()) / 4);
    return pattern.matcher(text).find();
  }
}

function compilePattern(source: string, meter: Meter): RE2JS | string {
  if (source.length > MAX_PATTERN) return `a pattern longer than ${MAX_PATTERN} characters`;
  const size = estimatePatternSize(source);
  if (size > MAX_PROGRAM) return 'a pattern that compiles to too large a program';
  const unicodeClasses = source.match(/\\[pP]/g)?.length ?? 0;
  meter.charge(COMPILING.pattern + size * COMPILING.instruction + unicodeClasses * COMPILING.unicodeClass);
  try {
    const pattern = RE2JS.compile(source);
    return pattern.programSize() > MAX_PROGRAM ? 'a pattern that compiles to too large a program' : pattern;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 120) : 'a pattern that does not compile';
  }
}

/** Why a literal pattern cannot be used, or null. Throws `budget` when the meter runs out. */
export function patternObjection(source: string, meter: Meter): string | null {
  const made = compilePattern(source, meter);
  return typeof made === 'string' ? made : null;
}
