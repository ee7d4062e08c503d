import type { TranscriptFormat } from '../decode/format.ts';
import { adkSession } from './adk-session.ts';
import { agentrx } from './agentrx.ts';
import { amp } from './amp.ts';
import { atif } from './atif.ts';
import { autogen } from './autogen.ts';
import { autogenEvents } from './autogen-events.ts';
import { bedrockAgents } from './bedrock-agents.ts';
import { bedrockInvocationLog } from './bedrock-invocation-log.ts';
import { chatCompletions } from './chat-completions.ts';
import { claudeCode } from './claude-code.ts';
import { codex } from './codex.ts';
import { codexRollout } from './codex-rollout.ts';
import { copilotCli } from './copilot-cli.ts';
import { exgentic } from './exgentic.ts';
import { gemini } from './gemini.ts';
import { geminiCli } from './gemini-cli.ts';
import { incidentLog } from './incident-log.ts';
import { inspect } from './inspect.ts';
import { langchainMessages } from './langchain-messages.ts';
import { langfuse } from './langfuse.ts';
import { langgraph } from './langgraph.ts';
import { langsmith } from './langsmith.ts';
import { managedAgentEvents } from './managed-agent-events.ts';
import { markdownConversation } from './markdown-conversation.ts';
import { mast } from './mast.ts';
import { miniSweAgent } from './mini-swe-agent.ts';
import { mlflow } from './mlflow.ts';
import { openaiAgentsTrace } from './openai-agents-trace.ts';
import { openaiResponses } from './openai-responses.ts';
import { opencode } from './opencode.ts';
import { openhands } from './openhands.ts';
import { openhandsSdk } from './openhands-sdk.ts';
import { recordedCalls } from './recorded-calls.ts';
import { rootspan } from './rootspan.ts';
import { smolagentsMemory } from './smolagents-memory.ts';
import { strandsFiles } from './strands-files.ts';
import { strandsSession } from './strands-session.ts';
import { sweAgent } from './swe-agent.ts';
import { tauBench } from './tau-bench.ts';
import { tau2Bench } from './tau2-bench.ts';
import { teamLog } from './team-log.ts';
import { weave } from './weave.ts';
import { whoWhen } from './who-when.ts';

/** Every document format. On equal sureness the earlier one reads the file. */
export const TRANSCRIPTS: readonly TranscriptFormat[] = [
  rootspan,
  strandsSession,
  strandsFiles,
  tauBench,
  sweAgent,
  miniSweAgent,
  openhands,
  openhandsSdk,
  autogenEvents,
  tau2Bench,
  inspect,
  managedAgentEvents,
  agentrx,
  incidentLog,
  markdownConversation,
  mast,
  teamLog,
  atif,
  smolagentsMemory,
  codexRollout,
  opencode,
  copilotCli,
  amp,
  weave,
  whoWhen,
  chatCompletions,
  openaiResponses,
  autogen,
  claudeCode,
  codex,
  exgentic,
  bedrockInvocationLog,
  bedrockAgents,
  adkSession,
  gemini,
  geminiCli,
  openaiAgentsTrace,
  recordedCalls,
  mlflow,
  langchainMessages,
  langgraph,
  langfuse,
  langsmith,
];
