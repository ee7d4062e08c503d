import type { Clock } from '../base/clock.ts';
import { gunzipText, gzipJson } from '../base/gzip.ts';
import { sha256Hex } from '../base/hash.ts';
import { QUARANTINE_PREFIX, quarantineKey } from '../ports/object-keys.ts';
import type { ObjectStore } from '../ports/ports.ts';
import { type EnvelopeTrouble, type LogEvent, toBase64 } from './envelope.ts';

/** What could not be read, as it came, with the reason. */
export interface Quarantined {
  readonly id: string;
  readonly reason: string;
  /** The log event that it was; `null` when not even the envelope could be read. */
  readonly event: Omit<LogEvent, 'message'> | null;
  /** The bytes as they came, base64: of the message, or of the envelope's payload. */
  readonly raw: string;
  /** ISO times. */
  readonly quarantinedAt: string;
  readonly resolvedAt: string | null;
}

/** Raw bytes of a payload that inflates to 64 MB, as base64 in JSON. */
const MAX_ITEM_BYTES = 128 * 1024 * 1024;

/** Keeps it under an id made of its content; returns the id. Keeping it again changes nothing. */
export async function quarantine(
  trouble: { readonly reason: string; readonly event: LogEvent } | EnvelopeTrouble,
  deps: { readonly objects: ObjectStore; readonly clock: Clock },
): Promise<string> {
  const event = 'event' in trouble ? withoutMessage(trouble.event) : null;
  const raw = 'event' in trouble ? toBase64(new TextEncoder().encode(trouble.event.message)) : trouble.raw;
  const id = sha256Hex(`${event?.id}\n${raw}`);
  const quarantinedAt = new Date(deps.clock.now()).toISOString();
  const item: Quarantined = { id, reason: trouble.reason, event, raw, quarantinedAt, resolvedAt: null };
  await deps.objects.putIfAbsent(quarantineKey(id), await gzipJson(item));
  return id;
}

export async function* listQuarantined(objects: ObjectStore): AsyncIterable<Quarantined> {
  for await (const key of objects.list(QUARANTINE_PREFIX)) {
    const bytes = await objects.get(key);
    if (bytes !== null) yield JSON.parse(await gunzipText(bytes, MAX_ITEM_BYTES)) as Quarantined;
  }
}

function withoutMessage({ message: _, ...event }: LogEvent): Omit<LogEvent, 'message'> {
  return event;
}

/** The message as it came; of an envelope's payload its compressed bytes, which are no text. */
export function textOf(raw: string): string {
  return new TextDecoder().decode(Uint8Array.from(atob(raw), (char) => char.charCodeAt(0)));
}
