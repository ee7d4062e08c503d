import type { JsonValue } from '../../core/base/json.ts';
import {
  type Block,
  type Session,
  type Span,
  type SpanError,
  sessionSpans,
} from '../../core/session/session.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';

/** What is counted of a file twice: by a script over its raw text and in what the reader made of it. */
export interface Counts {
  readonly sessions: number;
  /** Different texts of people and models; a history that each call repeats counts once. */
  readonly messages: number;
  /** Different calls, by id, else by name and arguments. */
  readonly toolCalls: number;
  /** Different results, by the id of their call, else by their text. */
  readonly toolResults: number;
  /** Tool results that failed, and other spans with a stated error. */
  readonly errors: number;
  readonly goal: string | null;
  readonly agents: readonly string[];
  readonly models: readonly string[];
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/**
 * A file in a format and a script of a few lines that counts it without any reader. One `fixture.ts` in each folder of
 * `test/fixtures/formats`, which exports `fixtures`.
 */
export interface FormatFixture {
  /** File beside the `fixture.ts`. */
  readonly file: string;
  /** Format id that must read it. */
  readonly format: string;
  readonly count: (text: string) => Counts;
}

/** The same figures from sessions as read. */
export function countSessions(sessions: readonly Session[]): Counts {
  const messages = new Set<string>();
  const calls = new Set<string>();
  const results = new Set<string>();
  const failures = new Set<string>();
  const agents = new Set<string>();
  const models = new Set<string>();
  let [inputTokens, outputTokens] = [0, 0];
  for (const [at, session] of sessions.entries()) {
    const key = (...parts: JsonValue[]): string => JSON.stringify([at, ...parts]);
    for (const span of sessionSpans(session)) {
      for (const text of saidIn(span)) if (text !== '') messages.add(key(text));
      for (const block of blocksOf(span)) {
        if (block.type === 'tool_use') calls.add(key(block.toolCallId ?? [block.name, block.arguments]));
        if (block.type === 'tool_result') {
          results.add(key(block.toolCallId ?? block.content));
          if (block.isError === true) failures.add(key(block.toolCallId ?? block.content));
        }
      }
      if (span.kind === 'execute_tool') {
        const { toolCall, toolResult } = span;
        const id = toolCall.toolCallId ?? toolResult?.toolCallId ?? null;
        calls.add(key(id ?? [toolCall.name, toolCall.arguments]));
        if (toolResult !== null) results.add(key(id ?? toolResult.content));
        if (toolResult?.isError === true || span.errors.length > 0)
          failures.add(key(id ?? toolResult?.content ?? span.spanId));
      } else if (blocksOf(span).some(isFailedResult) ? span.errors.some(isOfCall) : span.errors.length > 0)
        failures.add(key('span', span.spanId));
      if (span.agent !== null) agents.add(span.agent);
      if (span.kind === 'inference') {
        if (span.model !== undefined) models.add(span.model);
        inputTokens += span.usage?.inputTokens ?? 0;
        outputTokens += span.usage?.outputTokens ?? 0;
      }
    }
  }
  const [first] = sessions;
  return {
    sessions: sessions.length,
    messages: messages.size,
    toolCalls: calls.size,
    toolResults: results.size,
    errors: failures.size,
    goal: first === undefined ? null : toTrajectory(first).goal,
    agents: [...agents].sort(),
    models: [...models].sort(),
    inputTokens,
    outputTokens,
  };
}

/** Text of each user's and assistant's message. */
function saidIn(span: Span): string[] {
  if (span.kind === 'invoke_agent') return [span.userPrompt ?? '', span.agentResponse ?? ''];
  return messagesOf(span).flatMap(({ role, content }) =>
    role === 'user' || role === 'assistant'
      ? [content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')]
      : [],
  );
}

/** An error that is not that of a result which the span was given. */
const isOfCall = ({ source }: SpanError): boolean => source === 'error-type' || source === 'http';

const isFailedResult = (block: Block): boolean => block.type === 'tool_result' && block.isError === true;

const blocksOf = (span: Span): Block[] => messagesOf(span).flatMap(({ content }) => content);

function messagesOf(span: Span) {
  if (span.kind === 'inference') return [...span.input, ...span.output];
  return span.kind === 'message' ? [span.message] : [];
}
