import type { SpanError } from '../../session/session.ts';
import type { Convention, RawLog, RawSpan, SpanContent } from '../decode/format.ts';
import { numberAt, textAt, valueAt } from './attributes.ts';
import { buildAgent, buildInference } from './build.ts';
import { buildOther } from './build-other.ts';
import { buildTool, toolPartsFrom } from './build-tool.ts';

/**
 * Claude Code's own telemetry: spans `claude_code.interaction`, `.llm_request`, `.tool`, or, without tracing, only
 * log records of these names that belong to no trace. Prompts and tool details are off unless switched on. (docs)
 */
export const claudeCode: Convention = {
  id: 'claude-code',
  title: 'Claude Code telemetry',
  knownBy: 'scope com.anthropic.claude_code* or names claude_code.*',
  from: 'CLAUDE_CODE_ENABLE_TELEMETRY=1 with an OTLP exporter; content by OTEL_LOG_USER_PROMPTS=1 and OTEL_LOG_TOOL_DETAILS=1',
  checkedOn: 'its monitoring documentation (2026-11)',
  claim: (span) =>
    /^com\.anthropic\.claude_code/.test(span.scope.name) || span.name.startsWith('claude_code.') ? 80 : 0,
  read: (span, logs) => {
    const a = span.attributes;
    switch (span.name.replace(/^claude_code\./, '')) {
      case 'interaction':
        return buildAgent(
          span,
          logs,
          { userPrompt: shown(textAt(a, 'user_prompt', 'prompt')) },
          { agent: 'Claude Code' },
        );
      case 'user_prompt':
        return readPrompt(span);
      case 'llm_request':
      case 'api_request':
      case 'api_error':
        return buildInference(span, logs, { errors: requestErrors(span) });
      case 'tool':
      case 'tool_result':
        return readTool(span, logs);
      default:
        return buildOther(span);
    }
  },
};

/** `<REDACTED>` stands where prompt logging is off. */
function shown(text: string | null): string | null {
  return text === '<REDACTED>' ? null : text;
}

function readPrompt(span: RawSpan): SpanContent {
  const text = textAt(span.attributes, 'prompt');
  const isShown = shown(text) !== null;
  return {
    span: {
      kind: 'message',
      message: { role: 'user', content: isShown && text !== null ? [{ type: 'text', text }] : [] },
    },
    errors: [],
    flags: isShown ? [] : ['content-redacted'],
    agent: null,
  };
}

function requestErrors(span: RawSpan): SpanError[] {
  const a = span.attributes;
  const message = textAt(a, 'error', 'error.message');
  const failed = message !== null || String(a.success ?? 'true') === 'false';
  if (!failed) return [];
  const code = numberAt(a, 'status_code', 'http.status_code');
  return [
    {
      source: code === null ? 'error-type' : 'http',
      message: message ?? 'the request failed',
      ...(code === null ? {} : { code }),
    },
  ];
}

function readTool(span: RawSpan, logs: readonly RawLog[]): SpanContent {
  const a = span.attributes;
  const parts = toolPartsFrom(span, logs);
  const decision = textAt(a, 'decision', 'decision_type');
  const failed = String(a.success ?? 'true') === 'false' && decision !== 'reject';
  const message = textAt(a, 'error');
  const errors: SpanError[] = failed
    ? [{ source: 'tool-status', message: message ?? 'the tool reported success=false' }]
    : [];
  const result = parts.result ?? (failed && message !== null ? message : undefined);
  const full = valueAt(a, 'tool_input', 'tool_parameters');
  return buildTool(
    span,
    { ...parts, arguments: full ?? parts.arguments, result, status: failed ? 'error' : null },
    { errors, agent: 'Claude Code' },
  );
}
