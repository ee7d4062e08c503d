import type { RawRecord } from '../decode/format.ts';

/**
 * Where producers name the session, first present wins. A trace without any of these is a session by its trace id.
 * `sessionId` stands on plain application lines.
 */
export const SESSION_ID_KEYS = [
  'session.id',
  'gen_ai.conversation.id',
  'langfuse.session.id',
  'gcp.vertex.agent.session_id',
  'ai.telemetry.metadata.sessionId',
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'langsmith.metadata.session_id',
  'langsmith.metadata.thread_id',
  'langsmith.trace.session_id',
  'sessionId',
] as const;

export interface StatedId {
  /** Place in the precedence list; resource attributes come after all of it. */
  readonly rank: number;
  readonly value: string;
}

/** The session that a record itself names. */
export function statedSessionId(record: RawRecord): StatedId | null {
  for (const [source, offset] of [
    [record.attributes, 0],
    [record.resource, SESSION_ID_KEYS.length],
  ] as const) {
    for (const [index, key] of SESSION_ID_KEYS.entries()) {
      const value = source[key];
      if ((typeof value === 'string' && value.trim() !== '') || typeof value === 'number') {
        return { rank: index + offset, value: String(value) };
      }
    }
  }
  return null;
}
