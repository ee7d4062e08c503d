/** What to set at the producer so that a diagnosis has what it needs. Names and values are the producers' own. (docs) */
interface Settings {
  readonly content: string;
  readonly sessionId: string;
}

const OPENINFERENCE: Settings = {
  content:
    'unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS, OPENINFERENCE_HIDE_INPUT_MESSAGES and OPENINFERENCE_HIDE_OUTPUT_MESSAGES (or TraceConfig(hide_inputs=False, hide_outputs=False))',
  sessionId:
    'wrap the run in `with using_session(session_id)` (openinference.instrumentation), which sets session.id',
};

const GENAI: Settings = {
  content: 'set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true in the environment of the agent',
  sessionId:
    'set the span attribute session.id or gen_ai.conversation.id, best by OpenTelemetry baggage so that every span has it',
};

const SETTINGS: Readonly<Record<string, Settings>> = {
  strands: {
    content:
      'start the agent with `opentelemetry-instrument` (ADOT), and let the log group that receives its records be read too',
    sessionId:
      'pass Agent(trace_attributes={"session.id": …}); on AgentCore invoke with a runtimeSessionId, which reaches the spans by baggage',
  },
  'botocore-bedrock': GENAI,
  'otel-genai': GENAI,
  openinference: OPENINFERENCE,
  'openai-agents': OPENINFERENCE,
  smolagents: OPENINFERENCE,
  'claude-agent-sdk': OPENINFERENCE,
  'langchain-adot': OPENINFERENCE,
  traceloop: {
    content: 'set TRACELOOP_TRACE_CONTENT=true (the default is on; it was switched off)',
    sessionId:
      'call Traceloop.set_association_properties({"session_id": …}) at the start of each conversation',
  },
  'google-adk': {
    content: 'set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true in the environment of the agent',
    sessionId: 'run the agent with a session service: ADK then writes gcp.vertex.agent.session_id',
  },
  'vercel-ai': {
    content: 'pass experimental_telemetry: { isEnabled: true, recordInputs: true, recordOutputs: true }',
    sessionId: 'pass experimental_telemetry: { metadata: { sessionId } }',
  },
  'pydantic-ai': {
    content: 'pass InstrumentationSettings(include_content=True) to the agent',
    sessionId: 'pass a conversation id to the run, which sets gen_ai.conversation.id',
  },
  openlit: {
    content: 'call openlit.init(capture_message_content=True)',
    sessionId: GENAI.sessionId,
  },
  'claude-code': {
    content: 'set OTEL_LOG_USER_PROMPTS=1 and OTEL_LOG_TOOL_DETAILS=1',
    sessionId: 'leave OTEL_METRICS_INCLUDE_SESSION_ID and the session.id attribute on',
  },
};

export function settingsFor(dialectId: string): Settings {
  return SETTINGS[dialectId] ?? GENAI;
}
