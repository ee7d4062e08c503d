import { sha256Hex } from '../../core/base/hash.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';

/** Spans and log records of made-up sessions, in the split layout of AgentCore: 100 records each. */

const TRACES = 2;
const SPANS_A_TRACE = 26;
export const SPANS_A_SESSION = TRACES * SPANS_A_TRACE;
/** Each span but the root and the HTTP call has its content in a log record. */
export const CALLS_A_SESSION = TRACES * (SPANS_A_TRACE - 2);
export const RECORDS_A_SESSION = SPANS_A_SESSION + CALLS_A_SESSION;

const hex = (text: string, length: number): string => sha256Hex(text).slice(0, length);
const nano = (step: number): string => `17000000${String(step).padStart(11, '0')}`;
const RESOURCE = { attributes: { 'service.name': 'support', 'aws.log.group.names': '/agents/support' } };
const SCOPE = { name: 'strands.telemetry.tracer', version: '' };

export const sessionName = (session: number): string => `session-${session}`;
/** What the model answered at a call: it stands in the frozen session if and only if the log record arrived. */
export const answerOf = (spanId: string): string => `Answer ${spanId}`;

/** The records of a session in the order of their times; only the roots name it. */
export function madeRecords(session: number): LogEvent[] {
  return Array.from({ length: TRACES }, (_, trace) =>
    traceRecords(session, hex(`${session} ${trace}`, 32)),
  ).flat();
}

function traceRecords(session: number, traceId: string): LogEvent[] {
  const rootId = hex(`${traceId} root`, 16);
  const ofTrace = { resource: RESOURCE, traceId };
  return Array.from({ length: SPANS_A_TRACE }, (_, step) => {
    const isRoot = step === 0;
    const isHttp = step === 1;
    const spanId = isRoot ? rootId : hex(`${traceId} ${step}`, 16);
    const spanEvent = logEvent('aws/spans', {
      ...ofTrace,
      scope: isHttp ? { name: 'http' } : SCOPE,
      spanId,
      ...(isRoot ? {} : { parentSpanId: rootId }),
      name: isRoot ? 'invoke_agent support' : isHttp ? 'POST' : 'chat',
      kind: 'INTERNAL',
      startTimeUnixNano: nano(step * 10),
      endTimeUnixNano: nano(step * 10 + 9),
      attributes: isHttp
        ? { 'http.url': 'https://shop.example', 'http.status_code': 200 }
        : {
            'gen_ai.operation.name': isRoot ? 'invoke_agent' : 'chat',
            'gen_ai.agent.name': 'support',
            ...(isRoot ? { 'session.id': sessionName(session) } : {}),
          },
      status: { code: 'UNSET' },
    });
    if (isRoot || isHttp) return [spanEvent];
    const answer = { message: answerOf(spanId), finish_reason: 'end_turn' };
    const content = logEvent('/agents/support', {
      ...ofTrace,
      scope: SCOPE,
      spanId,
      timeUnixNano: nano(step * 10 + 8),
      attributes: { 'event.name': SCOPE.name },
      body: {
        input: { messages: [{ role: 'user', content: { content: `[{"text":"Question ${step}"}]` } }] },
        output: { messages: [{ role: 'assistant', content: answer }] },
      },
    });
    return [spanEvent, content];
  }).flat();
}

function logEvent(logGroup: string, record: object): LogEvent {
  const message = JSON.stringify(record);
  const id = BigInt(`0x${sha256Hex(message).slice(0, 44)}`)
    .toString()
    .padStart(56, '3');
  return { logGroup, logStream: 'default', id, timestamp: 1_700_000_000_000, message };
}
