import { type Session, type Span, type SpanFlag, sessionSpans, type Unread } from '../session/session.ts';
import { assembleSessions } from './assembly/assemble.ts';
import { isSplitLayout } from './assembly/content.ts';
import { statedSessionId } from './assembly/ids.ts';
import { isTelling } from './assembly/records.ts';
import { foreignSchema } from './conventions/foreign.ts';
import { conventionFor } from './conventions/index.ts';
import type { RawLog, RawRecord, RawSpan } from './decode/format.ts';
import { settingsFor } from './doctor-settings.ts';

export type DoctorCode =
  | 'spans-without-logs'
  | 'logs-without-spans'
  | 'no-session-id'
  | 'content-off'
  | 'content-redacted'
  | 'content-truncated'
  | 'content-lost'
  | 'no-tool-definitions'
  | 'no-hierarchy'
  | 'unknown-scope'
  | 'foreign-schema'
  | 'in-progress'
  | 'no-agent-content'
  | 'unreadable-records';

export interface DoctorFinding {
  readonly code: DoctorCode;
  /** `blocks`: no diagnosis is possible without it. `weakens`: some questions cannot be answered. */
  readonly severity: 'blocks' | 'weakens';
  /** What is missing and how often, in a sentence. */
  readonly found: string;
  /** What to set or deliver. */
  readonly advice: string;
}

export interface TelemetryExam {
  readonly records: { readonly spans: number; readonly logs: number; readonly unread: number };
  readonly sessions: number;
  /** What is there, as counts: convention ids, and kinds of spans after assembly. */
  readonly conventions: Readonly<Record<string, number>>;
  readonly kinds: Readonly<Record<string, number>>;
  readonly findings: readonly DoctorFinding[];
}

/** Says what given telemetry has for a diagnosis, what is missing, and which producer setting brings it. */
export function examineTelemetry(
  records: readonly RawRecord[],
  unread: readonly Unread[] = [],
): TelemetryExam {
  const spans = records.filter((record) => record.type === 'span');
  const logs = records.filter((record) => record.type === 'log');
  const { sessions, unread: unassembled } = assembleSessions(records);
  const all = sessions.flatMap(sessionSpans);
  const logsBySpan = Map.groupBy(logs, (log) => `${log.traceId} ${log.spanId}`);
  const conventionOf = (span: RawSpan): string =>
    conventionFor(span, logsBySpan.get(`${span.traceId} ${span.spanId}`) ?? []).id;
  const conventions = countBy(spans, conventionOf);
  const main =
    Object.entries(conventions)
      .filter(([id]) => !SILENT.has(id))
      .sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
  const lost = [...unread, ...unassembled];
  const findings = [
    splitWithoutLogs(spans, logs),
    logsWithoutSpans(spans, logs),
    noSessionId(records, sessions, main),
    ...contentFindings(all, main),
    noTools(all, main),
    noHierarchy(all),
    unknownScopes(spans, conventionOf),
    foreignSchemas(spans),
    noAgentContent(all, records, lost, namesOfScopes(spans)),
    unreadable(lost),
  ].filter((finding) => finding !== null);
  return {
    records: {
      spans: spans.length,
      logs: logs.length,
      unread: lost.reduce((sum, entry) => sum + entry.count, 0),
    },
    sessions: sessions.length,
    conventions,
    kinds: countBy(all, (span) => span.kind),
    findings,
  };
}

/** Conventions that carry no agent content: nothing to set there. */
const SILENT = new Set(['plain', 'foreign', 'xray']);

function splitWithoutLogs(spans: readonly RawSpan[], logs: readonly RawLog[]): DoctorFinding | null {
  const split = spans.filter((span) => isSplitLayout(span) && !SILENT.has(conventionFor(span, []).id));
  if (split.length === 0) return null;
  const told = new Set(logs.filter(isTelling).map((log) => `${log.traceId} ${log.spanId}`));
  const missing = split.filter((span) => !told.has(`${span.traceId} ${span.spanId}`));
  if (missing.length === 0) return null;
  const groups = [...new Set(missing.flatMap((span) => span.resource['aws.log.group.names'] ?? []))]
    .map(String)
    .sort()
    .slice(0, 3);
  return {
    code: 'spans-without-logs',
    severity: missing.length === split.length ? 'blocks' : 'weakens',
    found: `${missing.length} of ${split.length} agent spans in split layout came without their log records, which hold prompts, arguments and results`,
    advice: `read the log group ${groups.join(', ')} too (stream otel-rt-logs): subscribe it, or give its records together with these spans`,
  };
}

function logsWithoutSpans(spans: readonly RawSpan[], logs: readonly RawLog[]): DoctorFinding | null {
  const known = new Set(spans.map((span) => `${span.traceId} ${span.spanId}`));
  const telling = logs.filter((log) => isTelling(log) && log.spanId !== null);
  const orphans = telling.filter((log) => !known.has(`${log.traceId} ${log.spanId}`));
  if (orphans.length === 0) return null;
  return {
    code: 'logs-without-spans',
    severity: 'weakens',
    found: `${orphans.length} of ${telling.length} content records belong to spans that are not here: no names, times, statuses or hierarchy for them`,
    advice:
      'read the log group aws/spans too (CloudWatch Transaction Search must be on): subscribe it, or give its records together with these',
  };
}

function noSessionId(
  records: readonly RawRecord[],
  sessions: readonly Session[],
  convention: string,
): DoctorFinding | null {
  const traceIds = new Set(records.flatMap((record) => record.traceId ?? []));
  const nameless = sessions.filter(
    (session) =>
      traceIds.has(session.sessionId) &&
      !records.some((record) => statedSessionId(record)?.value === session.sessionId),
  );
  if (nameless.length === 0) return null;
  return {
    code: 'no-session-id',
    severity: 'weakens',
    found: `${nameless.length} of ${sessions.length} sessions are named by nobody: each trace (or chain of traces with one history) is taken as a session of its own`,
    advice: settingsFor(convention).sessionId,
  };
}

function contentFindings(spans: readonly Span[], convention: string): DoctorFinding[] {
  const steps = spans.filter((span) => span.kind === 'inference' || span.kind === 'execute_tool');
  const findings: DoctorFinding[] = [];
  const add = (flag: SpanFlag, code: DoctorCode, what: string, advice: string): void => {
    const count = spans.filter((span) => span.flags.includes(flag)).length;
    if (count === 0) return;
    const severity = count >= steps.length && code === 'content-off' ? 'blocks' : 'weakens';
    findings.push({ code, severity, found: `${count} of ${spans.length} spans ${what}`, advice });
  };
  const { content } = settingsFor(convention);
  add(
    'content-absent',
    'content-off',
    'have no content: prompts, answers, arguments and results are not recorded',
    content,
  );
  add(
    'content-redacted',
    'content-redacted',
    'have a redaction mark in place of content',
    `${content}; if the redaction is wanted, only errors and structure can be diagnosed`,
  );
  add(
    'content-truncated',
    'content-truncated',
    'have content that was cut',
    'raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT at the producer',
  );
  add(
    'content-lost',
    'content-lost',
    'lost content at the exporter or are written in a schema that is not read',
    'raise OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT at the producer, or export in the OpenTelemetry GenAI conventions',
  );
  add(
    'in-progress',
    'in-progress',
    'are still open',
    'wait for the completed spans (CloudWatch shows them 2 to 3 minutes after the run) and look again',
  );
  return findings;
}

function noTools(spans: readonly Span[], convention: string): DoctorFinding | null {
  const usesTools = spans.some(
    (span) =>
      span.kind === 'execute_tool' ||
      (span.kind === 'inference' && span.output.some((m) => m.content.some((b) => b.type === 'tool_use'))),
  );
  const defined = spans.some(
    (span) =>
      (span.kind === 'inference' && (span.tools ?? []).some((tool) => tool.parameters !== undefined)) ||
      (span.kind === 'invoke_agent' && span.availableTools.some((tool) => tool.parameters !== undefined)),
  );
  if (!usesTools || defined) return null;
  return {
    code: 'no-tool-definitions',
    severity: 'weakens',
    found:
      'tools are called, but no span carries their definitions with parameters: invented tools and wrong arguments cannot be told',
    advice: `record gen_ai.tool.definitions (OpenTelemetry GenAI ≥ 1.38) or llm.tools.N.tool.json_schema on the model calls (read as ${convention || 'unknown'})`,
  };
}

function noHierarchy(spans: readonly Span[]): DoctorFinding | null {
  const orphans = spans.filter((span) => span.flags.includes('missing-parent')).length;
  // The root alone is missing in nearly all real exports and costs nothing.
  if (orphans < 2) return null;
  return {
    code: 'no-hierarchy',
    severity: 'weakens',
    found: `${orphans} of ${spans.length} spans have a parent that is not here; they hang under the first span of their trace`,
    advice:
      'export all spans of a trace (no tail sampling or filter on parents) and propagate the trace context between services',
  };
}

function unknownScopes(
  spans: readonly RawSpan[],
  conventionOf: (span: RawSpan) => string,
): DoctorFinding | null {
  const strange = spans.filter(
    (span) =>
      conventionOf(span) === 'plain' &&
      /(llm|agent|gen_?ai|openai|anthropic|bedrock-runtime|langchain|llama|crew|mcp)/i.test(span.scope.name),
  );
  if (strange.length === 0) return null;
  const names = namesOfScopes(strange);
  return {
    code: 'unknown-scope',
    severity: 'weakens',
    found: `${strange.length} spans of ${names} look like an agent's, but carry no attributes that are read; they are kept as plain spans`,
    advice:
      'switch the instrumentation to the OpenTelemetry GenAI conventions or OpenInference, or send us such a span',
  };
}

const namesOfScopes = (spans: readonly RawSpan[]): string =>
  [...new Set(spans.map((span) => span.scope.name || '(unnamed)'))].sort().slice(0, 5).join(', ');

function foreignSchemas(spans: readonly RawSpan[]): DoctorFinding | null {
  const names = spans.flatMap((span) =>
    SILENT.has(conventionFor(span, []).id) ? (foreignSchema(span) ?? []) : [],
  );
  if (names.length === 0) return null;
  return {
    code: 'foreign-schema',
    severity: 'blocks',
    found: `${names.length} spans are written in the schema of ${[...new Set(names)].sort().join(', ')}, which is not read`,
    advice:
      'export them in the OpenTelemetry GenAI conventions or OpenInference (most vendors have a setting for it)',
  };
}

function noAgentContent(
  spans: readonly Span[],
  records: readonly RawRecord[],
  lost: readonly Unread[],
  scopes: string,
): DoctorFinding | null {
  if (spans.some((span) => span.kind !== 'other') || (records.length === 0 && lost.length > 0)) return null;
  return {
    code: 'no-agent-content',
    severity: 'blocks',
    found:
      records.length === 0
        ? 'there are no records'
        : `none of the ${records.length} records is a step of an agent${scopes === '' ? '' : `; their scopes: ${scopes}`}`,
    advice:
      'check the log group and the time range; agent spans are in aws/spans, their content may be in /aws/bedrock-agentcore/runtimes/…' +
      (scopes === ''
        ? ''
        : '; if one of these scopes is your agent, `rootspan formats` lists what its instrumentation must write'),
  };
}

function unreadable(lost: readonly Unread[]): DoctorFinding | null {
  if (lost.length === 0) return null;
  const count = lost.reduce((sum, entry) => sum + entry.count, 0);
  const reasons = lost.slice(0, 5).map((entry) => `${entry.reason} (${entry.count})`);
  return {
    code: 'unreadable-records',
    severity: 'weakens',
    found: `${count} records could not be read: ${reasons.join('; ')}`,
    advice: 'look at them with `rootspan quarantine show`, or in the file',
  };
}

function countBy<T>(items: readonly T[], key: (item: T) => string): Record<string, number> {
  const out: Record<string, number> = {};
  for (const item of items) out[key(item)] = (out[key(item)] ?? 0) + 1;
  return out;
}
