import type { Convention } from '../decode/format.ts';
import { textAt } from './attributes.ts';
import { buildTool } from './build-tool.ts';
import { readOpenInference } from './openinference.ts';

/** OpenAI Agents SDK through OpenInference: a hand-over is a TOOL span that names the two agents. */
export const openaiAgents: Convention = {
  id: 'openai-agents',
  title: 'OpenAI Agents SDK',
  knownBy:
    'scope openinference.instrumentation.openai_agents (or opentelemetry.instrumentation.openai_agents)',
  from: 'openinference-instrumentation-openai-agents',
  checkedOn: '1.4.0 and 2.0.0',
  claim: (span) =>
    /instrumentation\.openai_agents$/.test(span.scope.name) &&
    span.attributes['openinference.span.kind'] !== undefined
      ? 75
      : 0,
  read: (span, logs) => {
    const target = /^handoff to (.{1,200})$/.exec(span.name)?.[1];
    if (target === undefined) return readOpenInference(span, logs);
    const from = textAt(span.attributes, 'input.value');
    const result = textAt(span.attributes, 'output.value');
    const name = `transfer_to_${target.replaceAll(/\s+/g, '_')}`;
    return buildTool(span, { name, arguments: {}, result: result ?? undefined }, { agent: from });
  },
};
