import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanError } from '../../session/session.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { Convention, RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { hasPrefix, textAt, valueAt } from './attributes.ts';
import { buildAgent, buildInference } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';
import { operationOf } from './genai.ts';
import { readMessages } from './messages.ts';
import { readToolDefinitions } from './tool-definitions.ts';

/**
 * Google Agent Development Kit. Statuses are always UNSET; errors stand in the response. `call_llm` has the
 * content, its child `generate_content` only the numbers: one call, merged in assembly.
 */
export const googleAdk: Convention = {
  id: 'google-adk',
  title: 'Google ADK',
  knownBy: 'scope gcp.vertex.agent or gcp.vertex.agent.* attributes',
  from: 'ADK’s own tracer; content by ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true',
  checkedOn: 'gcp.vertex.agent 2.5.0',
  claim: (span) => {
    if (span.scope.name === 'gcp.vertex.agent') return 80;
    return hasPrefix(span.attributes, 'gcp.vertex.agent.') ? 70 : 0;
  },
  read: (span, logs) => {
    const a = span.attributes;
    const operation = operationOf(span);
    const isTool = operation === 'execute_tool' || a['gcp.vertex.agent.tool_call_args'] !== undefined;
    if (isTool) {
      const fallback = toolPartsFrom(span, logs);
      const result = filled(a['gcp.vertex.agent.tool_response']);
      return buildTool(span, {
        ...fallback,
        arguments: filled(a['gcp.vertex.agent.tool_call_args']) ?? fallback.arguments,
        result: result ?? fallback.result,
      });
    }
    if (span.name.startsWith('call_llm') || filled(a['gcp.vertex.agent.llm_request']) !== undefined) {
      return readCallLlm(span, logs);
    }
    if (operation === 'inference') return buildInference(span, logs);
    if (operation === 'invoke_agent' || span.name.startsWith('agent_run')) {
      const named = /^agent_run \[(.{1,200})\]$/.exec(span.name)?.[1];
      return buildAgent(span, logs, {}, { agent: textAt(a, 'gen_ai.agent.name') ?? named ?? null });
    }
    return buildOther(span);
  },
};

/** Content capture switched off leaves `{}` or `<elided>` in the attributes. */
function filled(value: JsonValue | undefined): JsonValue | undefined {
  if (value === undefined || value === null || value === '' || value === '{}' || value === '<elided>')
    return undefined;
  return value;
}

function readCallLlm(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const a = span.attributes;
  const request = object(filled(valueAt(a, 'gcp.vertex.agent.llm_request')));
  const response = object(filled(valueAt(a, 'gcp.vertex.agent.llm_response')));
  const config = isJsonObject(request.config) ? request.config : {};
  const input = readMessages(request.contents, 'user');
  const output = readMessages(response.content ?? undefined, 'assistant');
  const system = readMessages(config.system_instruction ?? undefined, 'system');
  const finish = typeof response.finish_reason === 'string' ? [response.finish_reason] : [];
  const errors: SpanError[] = [];
  if (typeof response.error_code === 'string' && response.error_code !== '') {
    const message = typeof response.error_message === 'string' ? response.error_message : response.error_code;
    errors.push({ source: 'error-type', type: response.error_code, message });
  }
  const systemText = system.messages
    .flatMap((message) => message.content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n\n');
  return buildInference(span, logs, {
    ...(input.messages.length > 0 ? { input: input.messages } : {}),
    ...(output.messages.length > 0 ? { output: output.messages } : {}),
    ...(systemText !== '' ? { system: systemText } : {}),
    tools: readToolDefinitions(config.tools ?? undefined),
    finishReasons: finish,
    errors,
    flags: [...input.flags, ...output.flags],
  });
}

function object(value: JsonValue | undefined): JsonObject {
  const { value: decoded } = unwrapJson(value ?? null);
  return isJsonObject(decoded) ? decoded : {};
}
