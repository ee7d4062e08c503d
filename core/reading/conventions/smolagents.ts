import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { Convention } from '../decode/format.ts';
import { textAt, valueAt } from './attributes.ts';
import { buildAgent } from './build.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';
import { openInferenceKind, readOpenInference } from './openinference.ts';

/** Hugging Face smolagents through OpenInference: a tool's input is `{args, kwargs, sanitize_inputs_outputs}`. */
export const smolagents: Convention = {
  id: 'smolagents',
  title: 'smolagents',
  knownBy: 'scope openinference.instrumentation.smolagents',
  from: 'openinference-instrumentation-smolagents',
  checkedOn: '0.1.31',
  claim: (span) => (/instrumentation\.smolagents$/.test(span.scope.name) ? 75 : 0),
  read: (span, logs) => {
    const a = span.attributes;
    const kind = openInferenceKind(span);
    const { value: input } = unwrapJson(valueAt(a, 'input.value') ?? null, 1);
    if (kind === 'TOOL') {
      const parts = toolPartsFrom(span, logs);
      return buildTool(span, {
        ...parts,
        arguments: namedArguments(input, a['tool.parameters']) ?? parts.arguments,
      });
    }
    if (kind === 'AGENT') {
      const task = isJsonObject(input) && typeof input.task === 'string' ? input.task : null;
      const tools = valueAt(a, 'smolagents.tools_names');
      const names = Array.isArray(tools) ? tools.filter((name) => typeof name === 'string') : [];
      return buildAgent(
        span,
        logs,
        { userPrompt: task, tools: names.map((name) => ({ name })) },
        { agent: textAt(a, 'gen_ai.agent.name', 'agent.name') ?? span.name.replace(/\.run$/, '') },
      );
    }
    return readOpenInference(span, logs);
  },
};

/** Positional arguments get the names of the tool's parameters, in their order. */
function namedArguments(input: JsonValue, parameters: JsonValue | undefined): JsonValue | null {
  if (!isJsonObject(input) || !('kwargs' in input || 'args' in input)) return null;
  const { value: schema } = unwrapJson(parameters ?? null, 1);
  const names = isJsonObject(schema) ? Object.keys(schema) : [];
  const positional = Array.isArray(input.args) ? input.args : [];
  const named = positional.map((value, i) => [names[i] ?? `arg${i}`, value] as const);
  return { ...Object.fromEntries(named), ...(isJsonObject(input.kwargs) ? input.kwargs : {}) };
}
