import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { Convention, RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { textAt, valueAt } from './attributes.ts';
import { buildAgent, buildInference, lastText } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';
import { operationOf } from './genai.ts';
import { readMessages } from './messages.ts';
import { readToolDefinitions } from './tool-definitions.ts';

/** Pydantic AI (Logfire). Version 1 wrote messages as `events` / `all_messages_events`, later ones follow the conventions. */
export const pydanticAi: Convention = {
  id: 'pydantic-ai',
  title: 'Pydantic AI',
  knownBy: 'scope pydantic-ai',
  from: '`Agent.instrument_all()` or `logfire.instrument_pydantic_ai()`',
  checkedOn: 'pydantic-ai 2.9.1 and the events of version 1',
  claim: (span) => (/^(pydantic[-_]ai|logfire\.pydantic[-_]ai)$/.test(span.scope.name) ? 75 : 0),
  read: (span, logs) => {
    const a = span.attributes;
    const operation = operationOf(span);
    if (operation === 'execute_tool' || /^running tool(?!s)/.test(span.name)) {
      const parts = toolPartsFrom(span, logs);
      return buildTool(span, {
        ...parts,
        arguments: parts.arguments ?? valueAt(a, 'tool_arguments'),
        result: parts.result ?? valueAt(a, 'tool_response'),
      });
    }
    if (operation === 'inference') return readCall(span, logs);
    if (operation === 'invoke_agent' || a.agent_name !== undefined || a.final_result !== undefined) {
      const all = valueAt(a, 'pydantic_ai.all_messages', 'all_messages', 'all_messages_events');
      const { messages } = readMessages(all, 'user');
      const system = messages
        .find((message) => message.role === 'system')
        ?.content.find((block) => block.type === 'text');
      return buildAgent(
        span,
        logs,
        {
          userPrompt: lastText(messages, 'user'),
          agentResponse: textAt(a, 'final_result') ?? lastText(messages, 'assistant'),
          system: system?.type === 'text' ? system.text : null,
        },
        { agent: textAt(a, 'gen_ai.agent.name', 'agent_name') },
      );
    }
    return buildOther(span);
  },
};

function readCall(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const a = span.attributes;
  const { value: parameters } = unwrapJson(a.model_request_parameters ?? null, 1);
  const fromRequest = readToolDefinitions(
    isJsonObject(parameters) ? (parameters.function_tools ?? undefined) : undefined,
  );
  const definitions = readToolDefinitions(a['gen_ai.tool.definitions']);
  const events = unwrapJson(a.events ?? null, 1).value;
  const legacy = Array.isArray(events) ? splitEvents(events) : null;
  return buildInference(span, logs, {
    tools: definitions.length > 0 ? definitions : fromRequest,
    ...(legacy !== null
      ? {
          input: readMessages(legacy.input, 'user').messages,
          output: readMessages(legacy.output, 'assistant').messages,
        }
      : {}),
  });
}

function splitEvents(events: readonly JsonValue[]): { input: JsonValue[]; output: JsonValue[] } {
  const isChoice = (event: JsonValue) => isJsonObject(event) && event['event.name'] === 'gen_ai.choice';
  return {
    input: events.filter((event) => !isChoice(event)),
    output: events.filter(isChoice).map((event) => (isJsonObject(event) ? (event.message ?? event) : event)),
  };
}
