import type { Convention, RawLog, RawSpan } from '../decode/format.ts';
import { botocoreBedrock } from './botocore-bedrock.ts';
import { claudeAgent } from './claude-agent.ts';
import { claudeCode } from './claude-code.ts';
import { foreign, plain } from './foreign.ts';
import { genai } from './genai.ts';
import { googleAdk } from './google-adk.ts';
import { langchainAdot } from './langchain-adot.ts';
import { openaiAgents } from './openai-agents.ts';
import { openinference } from './openinference.ts';
import { openlit } from './openlit.ts';
import { pydanticAi } from './pydantic-ai.ts';
import { smolagents } from './smolagents.ts';
import { strands } from './strands.ts';
import { traceloop } from './traceloop.ts';
import { vercelAi } from './vercel-ai.ts';
import { xray } from './xray.ts';

/**
 * Every convention of span content. The highest claim on a span reads it; the bands are: 70–80 the producer's own
 * scope, 45–65 attributes of a schema, 20–40 the general conventions, below that no agent content.
 */
export const CONVENTIONS: readonly Convention[] = [
  strands,
  botocoreBedrock,
  googleAdk,
  vercelAi,
  claudeCode,
  claudeAgent,
  openaiAgents,
  smolagents,
  pydanticAi,
  langchainAdot,
  traceloop,
  openlit,
  openinference,
  genai,
  xray,
  foreign,
  plain,
];

/** The convention that reads a span. `plain` claims every span, so there is always one. */
export function conventionFor(span: RawSpan, logs: readonly RawLog[]): Convention {
  let best = plain;
  let claim = 0;
  for (const convention of CONVENTIONS) {
    const certainty = convention.claim(span, logs);
    if (certainty > claim) {
      best = convention;
      claim = certainty;
    }
  }
  return best;
}
