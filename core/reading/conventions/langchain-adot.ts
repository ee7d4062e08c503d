import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { Convention, RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { buildAgent, buildInference } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';
import { type ContentEvent, contentEvents } from './events.ts';
import { langchainResult } from './langchain-values.ts';

/**
 * LangChain in AgentCore's split layout, through ADOT: the content is a record `{input: {messages}, output:
 * {messages}}` whose texts are JSON of LangChain's callbacks. Where the span states its kind, the convention of that
 * statement reads it; this one is for the records of OpenInference's instrumentation, which do not.
 */
export const langchainAdot: Convention = {
  id: 'langchain-adot',
  title: 'LangChain through ADOT',
  knownBy: 'scope *.instrumentation.langchain with {input, output} bodies and no span kind of its own',
  from: 'LangChain or LangGraph on AgentCore under ADOT',
  checkedOn: 'AgentCore records of openinference and opentelemetry langchain instrumentations',
  claim: (span, logs) => {
    if (!/instrumentation\.langchain$/.test(span.scope.name)) return 0;
    const a = span.attributes;
    const stated =
      a['openinference.span.kind'] ??
      a['traceloop.span.kind'] ??
      a['llm.request.type'] ??
      a['gen_ai.operation.name'];
    return stated === undefined && contentEvents(span, logs).some(hasSides) ? 70 : 0;
  },
  read: readByContent,
};

function hasSides(event: ContentEvent): boolean {
  return isJsonObject(event.body) && (isJsonObject(event.body.input) || isJsonObject(event.body.output));
}

function readByContent(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const event = contentEvents(span, logs).find(hasSides);
  const body = event !== undefined && isJsonObject(event.body) ? event.body : {};
  const output = unwrapJson(contentOf(body.output), 1).value;
  const input = unwrapJson(contentOf(body.input), 1).value;
  if (isJsonObject(output)) {
    if ('generations' in output) return buildInference(span, logs);
    const result = langchainResult(output);
    if (result.toolCallId !== null)
      return buildTool(span, { ...toolPartsFrom(span, logs), name: result.name });
    const isGraph = hasMessages(input) && (hasMessages(output) || hasMessages(output.outputs));
    // `remaining_steps` marks LangGraph's inner loop, which repeats what the agent run already says.
    if (isGraph && !(isJsonObject(input) && 'remaining_steps' in input)) return buildAgent(span, logs);
  }
  return buildOther(span);
}

function hasMessages(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && Array.isArray(value.messages);
}

function contentOf(side: JsonValue | undefined): JsonValue {
  const [message] = isJsonObject(side) && Array.isArray(side.messages) ? side.messages : [];
  if (!isJsonObject(message)) return null;
  const { content } = message;
  return isJsonObject(content) ? (content.message ?? content.content ?? null) : (content ?? null);
}
