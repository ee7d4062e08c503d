import { type FormatLine, listFormats } from './registry.ts';

/**
 * Words by which a product shows in what it writes, and the ids of the formats of it that are read. Only for advice on a
 * file that no reader knows: nothing is read by them.
 */
const PRODUCTS: readonly (readonly [word: RegExp, ids: readonly string[]])[] = [
  [/\bstrands/i, ['strands-session', 'strands-files', 'strands']],
  [/langfuse/i, ['langfuse']],
  [/langsmith|\bls_(?:provider|model)/i, ['langsmith']],
  [/langgraph/i, ['langgraph', 'openinference']],
  [/langchain/i, ['langchain-messages', 'langgraph', 'openinference']],
  [/agentcore|aws\/spans|aws\.local\.service/i, ['aws-flat']],
  [/bedrock/i, ['bedrock-agents', 'bedrock-invocation-log', 'botocore-bedrock']],
  [/openinference|\bphoenix\b|\barize\b/i, ['phoenix', 'openinference']],
  [/traceloop|openllmetry/i, ['traceloop']],
  [/pydantic[_ -]?ai|logfire/i, ['logfire', 'pydantic-ai']],
  [/\bmlflow/i, ['mlflow']],
  [/\bweave\b|wandb/i, ['weave']],
  [/autogen|magentic/i, ['autogen-events', 'autogen', 'incident-log']],
  [/openhands/i, ['openhands-sdk', 'openhands']],
  [/mini[_-]?swe/i, ['mini-swe-agent']],
  [/swe[_-]?agent/i, ['swe-agent', 'mini-swe-agent']],
  [/inspect[_ ]ai/i, ['inspect']],
  [/smolagents/i, ['smolagents-memory', 'smolagents']],
  [/\bcodex\b/i, ['codex-rollout', 'codex']],
  [/claude[_ -]?(?:code|agent)/i, ['claude-code', 'claude-agent-sdk']],
  [/gemini/i, ['gemini-cli', 'gemini', 'adk-session']],
  [/google[._-]adk/i, ['adk-session', 'google-adk']],
  [/\bcopilot\b/i, ['copilot-cli', 'atif']],
  [/\bopencode\b/i, ['opencode']],
  [/openai[._-]agents/i, ['openai-agents-trace', 'openai-agents']],
  [/\btau2/i, ['tau2-bench']],
  [/\bai\.(?:operationId|toolCall)|vercel/i, ['vercel-ai']],
];

/** Where a file says what wrote it. */
const HEAD = 64 * 1024;

/** The formats of the products that a text names at its beginning, in the order of `listFormats`. */
export function suggestExports(text: string): readonly FormatLine[] {
  const head = text.slice(0, HEAD);
  const ids = new Set(PRODUCTS.flatMap(([word, formats]) => (word.test(head) ? formats : [])));
  return listFormats().filter(({ id }) => ids.has(id));
}

/** Every format that a suggestion may name. */
export const suggestedIds = (): readonly string[] => PRODUCTS.flatMap(([, ids]) => ids);
