import type { Convention } from '../decode/format.ts';
import { hasPrefix, textAt } from './attributes.ts';
import { buildAgent, buildInference } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';
import { readGenai } from './genai.ts';

/** Traceloop / OpenLLMetry. Newer versions also follow the GenAI conventions; these attributes then decide. */
export const traceloop: Convention = {
  id: 'traceloop',
  title: 'Traceloop OpenLLMetry',
  knownBy: 'traceloop.span.kind, llm.request.type or gen_ai.prompt.N.*',
  from: '`Traceloop.init()`, or one of the opentelemetry-instrumentation-* packages of OpenLLMetry',
  checkedOn: 'langchain 0.48.1 and 0.62.1, openai 0.33.9, bedrock 0.9.2',
  claim: (span) => {
    const a = span.attributes;
    if (a['traceloop.span.kind'] !== undefined) return 65;
    if (a['llm.request.type'] !== undefined) return 55;
    return hasPrefix(a, 'gen_ai.prompt.') || hasPrefix(a, 'gen_ai.completion.') ? 45 : 0;
  },
  read: (span, logs) => {
    const a = span.attributes;
    if (a['gen_ai.operation.name'] !== undefined) return readGenai(span, logs);
    switch (textAt(a, 'traceloop.span.kind')) {
      case 'tool':
        return buildTool(span, { ...toolPartsFrom(span, logs), name: textAt(a, 'traceloop.entity.name') });
      case 'agent':
      case 'workflow':
        return buildAgent(span, logs, {}, { agent: textAt(a, 'gen_ai.agent.name', 'traceloop.entity.name') });
      case 'task':
        return buildOther(span);
      default:
        break;
    }
    const type = textAt(a, 'llm.request.type');
    return type === 'embedding' || type === 'rerank' ? buildOther(span) : buildInference(span, logs);
  },
};
