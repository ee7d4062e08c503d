import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject, JsonValue } from '../../core/base/json.ts';
import { assembleSessions } from '../../core/reading/assembly/assemble.ts';
import { parseJson } from '../../core/reading/decode/decode-json.ts';
import type { RawRecord } from '../../core/reading/decode/format.ts';
import { type Unpacked, unpackTelemetry } from '../../core/reading/envelopes/index.ts';
import {
  type AgentSpan,
  type InferenceSpan,
  type Session,
  type Span,
  sessionSchema,
  sessionSpans,
  type ToolSpan,
} from '../../core/session/session.ts';

/** The parsed telemetry fixture of that name, big integers kept. */
export function fixture(name: string): JsonValue {
  const file = path.resolve(import.meta.dirname, '../fixtures/telemetry', `${name}.json`);
  return parsed(readFileSync(file, 'utf8'));
}

export function parsed(text: string): JsonValue {
  const decoded = parseJson(text);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.value;
}

/** Records of a document, by the envelope that is surest of it. */
export function unpack(document: JsonValue): Unpacked {
  const unpacked = unpackTelemetry(document);
  if (unpacked === null) throw new Error('no envelope recognises the document');
  return unpacked;
}

export function recordsOf(...documents: JsonValue[]): RawRecord[] {
  return documents.flatMap((document) => [...unpack(document).records]);
}

/** Sessions of the documents together, checked against the schema of the normal form. */
export function sessionsOf(...documents: JsonValue[]): Session[] {
  return assembled(recordsOf(...documents));
}

export function assembled(records: readonly RawRecord[]): Session[] {
  const { sessions } = assembleSessions(records);
  for (const session of sessions) sessionSchema.parse(session);
  return [...sessions];
}

export function onlySession(...documents: JsonValue[]): Session {
  const sessions = sessionsOf(...documents);
  if (sessions.length !== 1)
    throw new Error(`expected one session, found ${sessions.map((s) => s.sessionId).join(', ')}`);
  return sessions[0]!;
}

export const inferences = (session: Session): InferenceSpan[] =>
  ofKind(session, 'inference') as InferenceSpan[];
export const tools = (session: Session): ToolSpan[] => ofKind(session, 'execute_tool') as ToolSpan[];
export const agents = (session: Session): AgentSpan[] => ofKind(session, 'invoke_agent') as AgentSpan[];

function ofKind(session: Session, kind: Span['kind']): Span[] {
  return sessionSpans(session).filter((span) => span.kind === kind);
}

export function spanById(session: Session, spanId: string): Span {
  const found = sessionSpans(session).find((span) => span.spanId === spanId);
  if (found === undefined) throw new Error(`no span ${spanId}`);
  return found;
}

const EPOCH = 1_790_000_000_000_000_000n;

/** Nanoseconds of a moment `ms` after the start of the tests' time. */
export const at = (ms: number): string => (EPOCH + BigInt(Math.round(ms)) * 1_000_000n).toString();

/** A flat `aws/spans` record; times in milliseconds. */
export function flatSpan(
  spanId: string,
  options: {
    parent?: string;
    trace?: string;
    name?: string;
    scope?: string;
    kind?: string;
    start?: number | null;
    end?: number | null;
    status?: string;
    attributes?: JsonObject;
    resource?: JsonObject;
    events?: JsonObject[];
  } = {},
): JsonObject {
  const { start = 0, end = Math.max(1000, start ?? 0) } = options;
  return {
    resource: { attributes: options.resource ?? { 'service.name': 'svc' } },
    scope: { name: options.scope ?? 'test.scope', version: '' },
    traceId: options.trace ?? 'trace-1',
    spanId,
    ...(options.parent === undefined ? {} : { parentSpanId: options.parent }),
    name: options.name ?? spanId,
    kind: options.kind ?? 'INTERNAL',
    startTimeUnixNano: start === null ? null : at(start),
    endTimeUnixNano: end === null ? null : at(end),
    attributes: options.attributes ?? {},
    events: options.events ?? [],
    status: { code: options.status ?? 'UNSET' },
  };
}

/** Attributes of a model call in the current conventions. */
export function chat(input: JsonValue, output: JsonValue, more: JsonObject = {}): JsonObject {
  return {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm-1',
    'gen_ai.input.messages': JSON.stringify(input),
    'gen_ai.output.messages': JSON.stringify(output),
    ...more,
  };
}

export function toolRun(
  name: string,
  args: JsonValue | undefined,
  result: JsonValue | undefined,
  more: JsonObject = {},
): JsonObject {
  return {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    ...(args === undefined
      ? {}
      : { 'gen_ai.tool.call.arguments': typeof args === 'string' ? args : JSON.stringify(args) }),
    ...(result === undefined
      ? {}
      : { 'gen_ai.tool.call.result': typeof result === 'string' ? result : JSON.stringify(result) }),
    ...more,
  };
}

export const user = (content: string) => ({ role: 'user', parts: [{ type: 'text', content }] });

export const answer = (content: string) => ({
  role: 'assistant',
  parts: [{ type: 'text', content }],
  finish_reason: 'stop',
});

/** An answer that asks for a tool run. */
export const asks = (id: string, name: string, args: JsonObject) => ({
  role: 'assistant',
  parts: [{ type: 'tool_call', id, name, arguments: args }],
});
