import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { safeLine } from '../escape.ts';

/** Where something happened, in words: the step's number, who acted, what. */
export function placeOf(diagnosis: Diagnosis, spanId: string): string {
  const span = diagnosis.spans.find((entry) => entry.spanId === spanId);
  if (span === undefined) return `span ${safeLine(spanId, 60)}`;
  // In logs of group chats a message is named after its speaker.
  const named = span.agent !== null && span.name.startsWith(span.agent);
  const who = span.agent === null || named ? '' : `${safeLine(span.agent, 40)}, `;
  return `step ${span.position} · ${who}${safeLine(span.name, 50)}`;
}
