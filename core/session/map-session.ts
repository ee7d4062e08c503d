import type { JsonValue } from '../base/json.ts';
import type { Block, Message, Session, Span, ToolDefinition } from './session.ts';

export type MapText = (text: string) => string;
/** For a text that stands under a name: an attribute, a field of arguments. */
export type MapKeyed = (key: string, value: string) => string;

/**
 * The session with every text that a person or program wrote passed through a function, in the order of the session.
 * Ids, times, numbers and the shape stay.
 */
export function mapSession(session: Session, text: MapText, keyed: MapKeyed): Session {
  const optional = (value: string | null): string | null => (value === null ? null : text(value));
  const json = (value: JsonValue): JsonValue => mapJson(value, text, keyed);
  const texts = (list: readonly string[]): string[] => list.map(text);

  const block = (value: Block): Block => {
    switch (value.type) {
      case 'text':
      case 'reasoning':
        return { ...value, text: text(value.text) };
      case 'tool_use':
        return { ...value, ...call(value) };
      case 'tool_result':
        return { ...value, content: text(value.content) };
      case 'media':
        return { ...value, mediaType: text(value.mediaType) };
    }
  };
  const call = <T extends { name: string; arguments: JsonValue; argumentsRaw?: string | undefined }>(
    value: T,
  ) => ({
    name: text(value.name),
    arguments: json(value.arguments),
    ...(value.argumentsRaw === undefined ? {} : { argumentsRaw: text(value.argumentsRaw) }),
  });
  const message = (value: Message): Message => ({
    ...value,
    ...(value.name === undefined ? {} : { name: text(value.name) }),
    content: value.content.map(block),
  });
  const tool = (value: ToolDefinition): ToolDefinition => ({
    ...value,
    name: text(value.name),
    ...(value.description === undefined ? {} : { description: text(value.description) }),
    ...(value.parameters === undefined ? {} : { parameters: json(value.parameters) }),
  });
  const span = (value: Span): Span => {
    const base = {
      name: text(value.name),
      agent: optional(value.agent),
      errors: value.errors.map((error) => ({
        ...error,
        ...(error.type === undefined ? {} : { type: text(error.type) }),
        message: text(error.message),
      })),
    };
    switch (value.kind) {
      case 'inference':
        return {
          ...value,
          ...base,
          input: value.input.map(message),
          output: value.output.map(message),
          ...(value.systemPrompt === undefined ? {} : { systemPrompt: text(value.systemPrompt) }),
          ...(value.tools === undefined ? {} : { tools: value.tools.map(tool) }),
          ...(value.model === undefined ? {} : { model: text(value.model) }),
          ...(value.finishReasons === undefined ? {} : { finishReasons: texts(value.finishReasons) }),
        };
      case 'execute_tool':
        return {
          ...value,
          ...base,
          toolCall: { ...value.toolCall, ...call(value.toolCall) },
          toolResult:
            value.toolResult === null
              ? null
              : { ...value.toolResult, content: text(value.toolResult.content) },
        };
      case 'invoke_agent':
        return {
          ...value,
          ...base,
          userPrompt: optional(value.userPrompt),
          agentResponse: optional(value.agentResponse),
          systemPrompt: optional(value.systemPrompt),
          availableTools: value.availableTools.map(tool),
        };
      case 'message':
        return { ...value, ...base, message: message(value.message) };
      case 'other':
        return {
          ...value,
          ...base,
          attributes: Object.fromEntries(
            Object.entries(value.attributes).map(([key, item]) => [
              text(key),
              typeof item === 'string' ? keyed(key, item) : item,
            ]),
          ),
        };
    }
  };
  return {
    ...session,
    goal: optional(session.goal),
    agent: optional(session.agent),
    service: optional(session.service),
    traces: session.traces.map((trace) => ({ ...trace, spans: trace.spans.map(span) })),
    unread: session.unread.map((entry) => ({
      ...entry,
      where: text(entry.where),
      reason: text(entry.reason),
    })),
  };
}

function mapJson(value: JsonValue, text: MapText, keyed: MapKeyed): JsonValue {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapJson(item, text, keyed));
  // `{"name": "DB_PASSWORD", "value": "…"}`, as environments of envelopes and functions are written.
  const label = value.name ?? value.Name ?? value.key ?? value.Key;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = /^value$/i.test(key) && typeof label === 'string' ? label : key;
      return [text(key), typeof item === 'string' ? keyed(name, item) : mapJson(item, text, keyed)];
    }),
  );
}
