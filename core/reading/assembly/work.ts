import type { Block, InferenceSpan, Message, SpanError } from '../../session/session.ts';
import type { RawLog, RawSpan, SpanContentByKind } from '../decode/format.ts';
import type { TreeNode } from './tree.ts';

/** A span while the session is put together. `content` may be replaced by a better reading. */
export interface Work extends TreeNode {
  readonly raw: RawSpan;
  readonly logs: readonly RawLog[];
  readonly errors: SpanError[];
  agent: string | null;
  content: SpanContentByKind;
}

export type InferenceContent = Extract<SpanContentByKind, { kind: 'inference' }>;
export type ToolContent = Extract<SpanContentByKind, { kind: 'execute_tool' }>;
export type ToolUse = Extract<Block, { type: 'tool_use' }>;
export type ToolResult = Extract<Block, { type: 'tool_result' }>;

export function isInference(work: Work): work is Work & { content: InferenceContent } {
  return work.content.kind === 'inference';
}

export function isTool(work: Work): work is Work & { content: ToolContent } {
  return work.content.kind === 'execute_tool';
}

export function blocksOf(messages: readonly Message[]): Block[] {
  return messages.flatMap((message) => message.content);
}

/** Adds a fact once. */
export function addError(work: Work, error: SpanError): void {
  const known = work.errors.some(
    (other) =>
      other.source === error.source &&
      other.type === error.type &&
      other.message === error.message &&
      other.code === error.code,
  );
  if (!known) work.errors.push(error);
}

export type Usage = NonNullable<InferenceSpan['usage']>;
