import type { Convention, RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { hasPrefix, textAt } from './attributes.ts';
import { buildAgent, buildInference } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';

/** OpenTelemetry's GenAI conventions, all versions: attributes, the details event, and one event a message. */
export const genai: Convention = {
  id: 'otel-genai',
  title: 'OpenTelemetry GenAI conventions',
  knownBy: 'gen_ai.operation.name, gen_ai.input.messages, or gen_ai.* events',
  from: 'any instrumentation of the OpenTelemetry GenAI conventions; content by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true',
  checkedOn: 'semantic conventions 1.27 to 1.38',
  claim: (span, logs) => {
    const a = span.attributes;
    if (a['gen_ai.operation.name'] !== undefined) return 40;
    if (a['gen_ai.input.messages'] !== undefined || a['gen_ai.output.messages'] !== undefined) return 40;
    if (span.events.some((event) => event.name.startsWith('gen_ai.'))) return 30;
    if (logs.some((log) => String(log.attributes['event.name'] ?? '').startsWith('gen_ai.'))) return 30;
    return hasPrefix(a, 'gen_ai.') &&
      (a['gen_ai.system'] !== undefined || a['gen_ai.request.model'] !== undefined)
      ? 20
      : 0;
  },
  read: readGenai,
};

/** What the span is by `gen_ai.operation.name`, or by the first word of its name, as the conventions demand it. */
export function operationOf(span: RawSpan): 'inference' | 'execute_tool' | 'invoke_agent' | 'other' {
  const operation = textAt(span.attributes, 'gen_ai.operation.name') ?? span.name.split(' ')[0] ?? '';
  switch (operation) {
    case 'chat':
    case 'text_completion':
    case 'completion':
    case 'generate_content':
    case 'responses':
      return 'inference';
    case 'execute_tool':
      return 'execute_tool';
    case 'invoke_agent':
    case 'create_agent':
    case 'invoke_workflow':
    // Strands' multi-agent runs.
    case 'invoke_swarm':
    case 'invoke_graph':
      return 'invoke_agent';
    default:
      break;
  }
  const a = span.attributes;
  if (a['gen_ai.operation.name'] !== undefined) return 'other';
  if (a['gen_ai.tool.name'] !== undefined || a['gen_ai.tool.call.id'] !== undefined) return 'execute_tool';
  return a['gen_ai.request.model'] !== undefined ||
    a['gen_ai.input.messages'] !== undefined ||
    isMessageEvented(span)
    ? 'inference'
    : 'other';
}

function isMessageEvented(span: RawSpan): boolean {
  return span.events.some((event) => /^gen_ai\.(user\.message|choice|client\.inference)/.test(event.name));
}

export function readGenai(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const operation = operationOf(span);
  switch (operation) {
    case 'inference':
      return buildInference(span, logs);
    case 'execute_tool':
      return buildTool(span, toolPartsFrom(span, logs));
    case 'invoke_agent':
      return buildAgent(span, logs);
    default:
      // Records of a span that did not arrive say nothing but their messages.
      return logs.some((log) =>
        /^gen_ai\.(user\.message|choice)/.test(String(log.attributes['event.name'] ?? '')),
      )
        ? buildInference(span, logs)
        : buildOther(span);
  }
}
