import type { Block, Span, SpanKind, ToolDefinition } from '../session/session.ts';

/**
 * The trajectory: a session as a straight line of steps with every repetition removed. Checks, constraints,
 * rendering and the judge work on this, never on raw spans.
 *
 * One span is one step. `parts` hold only what is new at this step: history that an inference span repeats, a
 * result that the next call carries again, a tool call that both the inference span and its tool span record
 * (the call stands at the inference step, its result at the tool step) appear once.
 */
export interface Part {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly speaker: string | null;
  readonly block: Block;
}

export interface Step {
  /** 0-based place in the trajectory. */
  readonly index: number;
  /** Raw message position where the format has one, else `index`. */
  readonly position: number;
  readonly spanId: string;
  readonly kind: SpanKind;
  readonly agent: string | null;
  readonly parts: readonly Part[];
  readonly span: Span;
}

/** A tool call with its result, wherever the two were recorded. */
export interface ToolExchange {
  readonly name: string;
  readonly arguments: import('../base/json.ts').JsonValue;
  readonly argumentsRaw: string | null;
  readonly toolCallId: string | null;
  /** Step that asked. */
  readonly callStep: number;
  /** Step that brought the result; `null` when none came. */
  readonly resultStep: number | null;
  readonly result: string | null;
  /** Stated by the producer; `null` when it does not say. */
  readonly isError: boolean | null;
}

export interface Trajectory {
  readonly sessionId: string;
  readonly goal: string | null;
  /** The goal where the format states it apart from the messages; `goal` falls back to the first user text. */
  readonly statedGoal: string | null;
  readonly systemPrompt: string | null;
  readonly tools: readonly ToolDefinition[];
  readonly steps: readonly Step[];
  readonly exchanges: readonly ToolExchange[];
  readonly stepBySpan: ReadonlyMap<string, Step>;
}
