import type { Convention } from '../decode/format.ts';
import { modelOf, textAt, usageOf } from './attributes.ts';
import { buildAgent, lastText } from './build.ts';
import { gather } from './gather.ts';
import { openInferenceKind, readOpenInference } from './openinference.ts';

/**
 * Claude Agent SDK through OpenInference: no span a model call; the query's AGENT span lists all the assistant's
 * messages of the run, tool calls among them. It is read as the inference that it stands for, so that the calls
 * are in the trajectory; its sub-agents' spans are agents.
 */
export const claudeAgent: Convention = {
  id: 'claude-agent-sdk',
  title: 'Claude Agent SDK',
  knownBy: 'scope openinference.instrumentation.claude_agent_sdk',
  from: 'openinference-instrumentation-claude-agent-sdk',
  checkedOn: '0.1.7 and 0.1.8',
  claim: (span) => (/instrumentation\.claude_agent_sdk$/.test(span.scope.name) ? 75 : 0),
  read: (span, logs) => {
    if (openInferenceKind(span) !== 'AGENT') return readOpenInference(span, logs);
    const found = gather(span, logs);
    const hasCalls = found.output.some((message) =>
      message.content.some((block) => block.type === 'tool_use'),
    );
    if (!hasCalls) {
      return buildAgent(span, logs, {
        userPrompt: textAt(span.attributes, 'input.value'),
        agentResponse: textAt(span.attributes, 'output.value') ?? lastText(found.output, 'assistant'),
      });
    }
    const usage = usageOf(span.attributes);
    const model = modelOf(span.attributes);
    return {
      span: {
        kind: 'inference',
        input: [...found.input],
        output: [...found.output],
        ...(found.system !== null ? { systemPrompt: found.system } : {}),
        ...(found.tools.length > 0 ? { tools: [...found.tools] } : {}),
        ...(model !== undefined ? { model } : {}),
        ...(usage !== undefined ? { usage } : {}),
      },
      errors: [],
      flags: [...found.flags],
      agent: textAt(span.attributes, 'gen_ai.agent.name', 'agent.name'),
    };
  },
};
