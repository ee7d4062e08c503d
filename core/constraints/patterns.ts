import { RE2JS } from 're2js';
import { EvaluationError, type Meter } from './meter.ts';

/**
 * Regular expressions of constraints, linear in the text by RE2's construction. What remains to bound is the
 * factor: a compiled program of many instructions is charged for each character (measured: 24 ns for one
 * instruction and character, a quarter of a unit).
 */
const MAX_PATTERN = 300;
const MAX_PROGRAM = 1_000;
const CACHE = 200;

const compiled = new Map<string, RE2JS | string>();

function compilePattern(source: string): RE2JS | string {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const made = compileAfresh(source);
  if (compiled.size >= CACHE) compiled.clear();
  compiled.set(source, made);
  return made;
}

function compileAfresh(source: string): RE2JS | string {
  if (source.length > MAX_PATTERN) return `a pattern longer than ${MAX_PATTERN} characters`;
  try {
    const pattern = RE2JS.compile(source);
    return pattern.programSize() > MAX_PROGRAM ? 'a pattern that compiles to too large a program' : pattern;
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 120) : 'a pattern that does not compile';
  }
}

/** True when the pattern occurs anywhere in the text. */
export function matchesPattern(text: string, source: string, meter: Meter): boolean {
  meter.charge(10);
  const pattern = compilePattern(source);
  if (typeof pattern === 'string')
    throw new EvaluationError('type', `regular expression refused: ${pattern}`);
  meter.charge((text.length * pattern.programSize()) / 4);
  return pattern.matcher(text).find();
}

/** Why a literal pattern cannot be used, or null. */
export function patternObjection(source: string): string | null {
  const made = compilePattern(source);
  return typeof made === 'string' ? made : null;
}
