import { isJsonObject } from '../../base/json.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { Convention, RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { hasPrefix, textAt, valueAt } from './attributes.ts';
import { buildAgent, buildInference } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';

/** OpenInference (Arize), which many instrumentations speak. */
export const openinference: Convention = {
  id: 'openinference',
  title: 'OpenInference',
  knownBy: 'openinference.span.kind',
  from: 'any openinference-instrumentation-* package',
  checkedOn: 'google_adk 0.1.6, langchain, openai_agents 2.0.0 and others',
  claim: (span) => {
    if (typeof span.attributes['openinference.span.kind'] === 'string') return 60;
    return hasPrefix(span.attributes, 'llm.input_messages.') ? 50 : 0;
  },
  read: readOpenInference,
};

export function openInferenceKind(span: RawSpan): string {
  return (textAt(span.attributes, 'openinference.span.kind') ?? '').toUpperCase();
}

export function readOpenInference(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  switch (openInferenceKind(span)) {
    case 'LLM':
    case '':
      return buildInference(span, logs, { responseId: responseId(span) });
    case 'TOOL':
      return buildTool(span, toolPartsFrom(span, logs));
    case 'AGENT':
      return buildAgent(span, logs);
    default:
      // CHAIN, RETRIEVER, EMBEDDING, RERANKER, GUARDRAIL, EVALUATOR: parts of a step, not steps of an agent.
      return buildOther(span);
  }
}

/** The provider's answer stands whole in `output.value`; its id tells two recordings of one call. */
function responseId(span: RawSpan): string | null {
  const { value } = unwrapJson(valueAt(span.attributes, 'output.value') ?? null, 1);
  return isJsonObject(value) && typeof value.id === 'string' && /^(resp_|chatcmpl-|msg_)/.test(value.id)
    ? value.id
    : null;
}
