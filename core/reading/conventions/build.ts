import type { Message, SpanError, SpanFlag, ToolDefinition } from '../../session/session.ts';
import type { RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { agentOf, modelOf, textAt, usageOf, valueAt, wordsOf } from './attributes.ts';
import { plainText } from './events.ts';
import { type Gathered, gather } from './gather.ts';

/** Builders shared by the conventions: a convention decides what a span is and where its content stands, these make it. */

export interface Extras {
  readonly agent?: string | null;
  readonly model?: string | undefined;
  readonly responseId?: string | null;
  readonly finishReasons?: readonly string[];
  readonly errors?: readonly SpanError[];
  readonly flags?: Iterable<SpanFlag>;
}

export function buildInference(
  span: RawSpan,
  logs: readonly RawLog[],
  extras: Extras & Partial<Omit<Gathered, 'flags' | 'finishReasons' | 'response'>> = {},
): SpanContent {
  const found = gather(span, logs);
  const a = span.attributes;
  const system = extras.system ?? found.system;
  const tools = extras.tools && extras.tools.length > 0 ? extras.tools : found.tools;
  const model = extras.model ?? modelOf(a) ?? found.response?.model ?? undefined;
  const responseId =
    extras.responseId ??
    textAt(a, 'gen_ai.response.id', 'ai.response.id', 'llm.response.id') ??
    found.response?.responseId ??
    null;
  const finish = [extras.finishReasons ?? [], found.finishReasons, completionFinish(a)].find(
    (list) => list.length > 0,
  );
  const usage = usageOf(a) ?? found.response?.usage;
  return {
    span: {
      kind: 'inference',
      input: [...(extras.input ?? found.input)],
      output: [...(extras.output ?? found.output)],
      ...(system !== null && system !== undefined ? { systemPrompt: system } : {}),
      ...(tools.length > 0 ? { tools: [...tools] } : {}),
      ...(model !== undefined ? { model } : {}),
      ...(responseId !== null ? { responseId } : {}),
      ...(finish !== undefined ? { finishReasons: finish.map((word) => word.toLowerCase()) } : {}),
      ...(usage !== undefined ? { usage } : {}),
    },
    errors: [...(extras.errors ?? []), ...(found.response?.errors ?? [])],
    flags: [...new Set([...found.flags, ...(extras.flags ?? [])])],
    agent: extras.agent ?? agentOf(a),
  };
}

function completionFinish(attributes: RawSpan['attributes']): string[] {
  return wordsOf(
    valueAt(
      attributes,
      'gen_ai.completion.0.finish_reason',
      'ai.response.finishReason',
      'llm.response.finish_reason',
    ),
  );
}

export interface AgentParts {
  readonly userPrompt?: string | null | undefined;
  readonly agentResponse?: string | null | undefined;
  readonly tools?: readonly ToolDefinition[] | undefined;
  readonly system?: string | null | undefined;
}

export function buildAgent(
  span: RawSpan,
  logs: readonly RawLog[],
  parts: AgentParts = {},
  extras: Extras = {},
): SpanContent {
  const found = gather(span, logs);
  const tools = parts.tools && parts.tools.length > 0 ? parts.tools : found.tools;
  return {
    span: {
      kind: 'invoke_agent',
      userPrompt: parts.userPrompt ?? lastText(found.input, 'user'),
      agentResponse: parts.agentResponse ?? lastText(found.output, 'assistant'),
      availableTools: [...tools],
      systemPrompt: parts.system ?? found.system,
    },
    errors: extras.errors ?? [],
    flags: [...new Set([...found.flags, ...(extras.flags ?? [])])],
    agent:
      extras.agent ??
      agentOf(span.attributes) ??
      /^(?:invoke_agent|create_agent)\s+(.+)$/.exec(span.name)?.[1] ??
      null,
  };
}

export function lastText(messages: readonly Message[], role: Message['role']): string | null {
  const texts = messages.filter((message) => message.role === role).map(plainText);
  return texts.findLast((text) => text !== '') ?? null;
}
