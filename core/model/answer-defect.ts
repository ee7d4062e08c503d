import { ModelOutputInvalidError } from '../errors/errors.ts';
import type { CallRecord } from './call-record.ts';
import type { ModelAnswer } from './port.ts';

/**
 * What is wrong with an answer.
 * `cut`: it ended before it was complete. `blocked`: a guardrail or filter stopped it. `malformed`: the model's
 * service says so itself, or sent a shape nobody knows. The others are read from the text.
 */
export type AnswerDefect =
  | 'empty'
  | 'refused'
  | 'prose'
  | 'not-json'
  | 'cut'
  | 'wrong-shape'
  | 'blocked'
  | 'malformed';

/** Longest piece of a model's own text that errors and repair prompts carry, in UTF-16 units. */
const SHOWN = 4000;

/** A ModelOutputInvalidError (same `name`) that says what was wrong, and what was paid for it. */
export class UnusableAnswerError extends ModelOutputInvalidError {
  readonly defect: AnswerDefect;
  /** Detail for people and for the repair call. */
  readonly detail: string;
  /** The model's text, its middle cut; may be empty. */
  readonly text: string;
  /** The answer as far as there was one: it was paid for. Absent when the service reported no usage. */
  readonly answer: Omit<ModelAnswer, 'text'> | undefined;
  /** Filled by `askForJson`: every call made, for the bill. */
  readonly calls: readonly CallRecord[];

  constructor(
    defect: AnswerDefect,
    detail: string,
    parts: {
      text?: string;
      answer?: Omit<ModelAnswer, 'text'> | undefined;
      calls?: readonly CallRecord[];
      cause?: unknown;
    } = {},
  ) {
    super(
      `the model's answer cannot be used (${defect}): ${detail}`,
      parts.cause === undefined ? undefined : { cause: parts.cause },
    );
    this.defect = defect;
    this.detail = detail;
    this.text = cutMiddle(parts.text ?? '', SHOWN);
    this.answer = parts.answer;
    this.calls = parts.calls ?? [];
  }
}

/** Keeps head and tail: an answer's faults are mostly at its ends. */
export function cutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor(length / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters cut …]\n${text.slice(-half)}`;
}
