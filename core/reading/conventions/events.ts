import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Message } from '../../session/session.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { RawLog, RawSpan } from '../decode/format.ts';
import { compareTimes } from '../decode/times.ts';

/** A span event or a log record of the span: one thing in two layouts. */
export interface ContentEvent {
  readonly name: string;
  readonly timeUnixNano: string | null;
  readonly attributes: Readonly<Record<string, JsonValue>>;
  readonly body: JsonValue;
}

/** Events of the span and its log records, in time order; the span's own come first at the same time. */
export function contentEvents(span: RawSpan, logs: readonly RawLog[]): ContentEvent[] {
  const ofSpan = span.events.map((event) => ({
    name: event.name || String(event.attributes['event.name'] ?? ''),
    timeUnixNano: event.timeUnixNano,
    attributes: event.attributes,
    body: event.body ?? null,
  }));
  const joined = logs.map((log) => ({
    name: String(log.attributes['event.name'] ?? log.attributes.event_name ?? ''),
    timeUnixNano: log.timeUnixNano,
    attributes: log.attributes,
    body: log.body,
  }));
  return [...ofSpan, ...joined]
    .map((event, index) => ({ event, index }))
    .sort((a, b) => compareTimes(a.event.timeUnixNano, b.event.timeUnixNano) || a.index - b.index)
    .map(({ event }) => event);
}

/** The message of an event: in the body, or in attributes with its parts as JSON text. */
export function eventMessage(event: ContentEvent): JsonObject {
  const source: JsonObject = isJsonObject(event.body) ? event.body : { ...event.attributes };
  if (!isJsonObject(event.body) && typeof event.body === 'string') source.content = event.body;
  const out: JsonObject = {};
  const message = unwrapJson(source.message ?? null, 1).value;
  if (isJsonObject(message)) Object.assign(out, message);
  else if (message !== null && message !== '') out.content = source.message ?? '';
  for (const key of ['role', 'content', 'parts', 'tool_calls', 'name', 'finish_reason']) {
    const value = source[key];
    if (value !== undefined && value !== null && out[key] === undefined) {
      out[key] = typeof value === 'string' && key !== 'content' ? unwrapJson(value).value : value;
    }
  }
  const id = source.id ?? source.tool_call_id;
  if (id !== undefined && id !== null) out.tool_call_id = id;
  return out;
}

/** The words of a message, without calls and results. */
export function plainText(message: Message): string {
  return message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
