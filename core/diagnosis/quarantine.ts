import type { JsonValue } from '../base/json.ts';
import type { Quarantined } from './schema.ts';

const LIMIT = 2000;

/** Keeps what could not be used, with the reason, cut to 2,000 characters with a mark. */
export function quarantine(stage: Quarantined['stage'], reason: string, content: JsonValue): Quarantined {
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  return { stage, reason, content: cutText(text, LIMIT) };
}

/** At most `limit` code points of the text; what was cut is said. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const points = Array.from(text.slice(0, limit * 2));
  if (points.length <= limit && text.length <= limit * 2) return text;
  return `${points.slice(0, limit).join('')}… [cut, ${text.length} characters in all]`;
}
