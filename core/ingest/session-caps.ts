import { statedSessionId } from '../reading/assembly/ids.ts';
import type { RawRecord } from '../reading/decode/format.ts';

/** One log event is a span or an export of a few; one that names a hundred sessions is somebody's text, or an attack. */
const MAX_SESSIONS_AN_EVENT = 50;
/** A delivery inflates to some thousand records. */
const MAX_SESSIONS_A_DELIVERY = 1000;

/**
 * Bounds how many sessions one log event and one delivery may speak of, because each may cost a diagnosis. What is over
 * the cap is quarantined, and read without a cap when somebody asks for it by its id.
 */
export class SessionCaps {
  readonly #anEvent: number;
  readonly #aDelivery: number;
  readonly #seen = new Set<string>();

  constructor(anEvent: number = MAX_SESSIONS_AN_EVENT, aDelivery: number = MAX_SESSIONS_A_DELIVERY) {
    this.#anEvent = anEvent;
    this.#aDelivery = aDelivery;
  }

  /** The reason why a log event is too much, or `null`, in which case it is counted. */
  refuse(
    arrivals: readonly { readonly traceId: string; readonly records: readonly RawRecord[] }[],
  ): string | null {
    const named = new Set(arrivals.flatMap(sessionsOf));
    if (named.size > this.#anEvent)
      return `too-many-sessions: one log event speaks of ${named.size} sessions, at most ${this.#anEvent} are taken`;
    const fresh = [...named].filter((id) => !this.#seen.has(id));
    if (this.#seen.size + fresh.length > this.#aDelivery)
      return `too-many-sessions: a delivery speaks of more than ${this.#aDelivery} sessions`;
    for (const id of fresh) this.#seen.add(id);
    return null;
  }
}

/** Those that its records name, or the trace itself. */
function sessionsOf({
  traceId,
  records,
}: {
  readonly traceId: string;
  readonly records: readonly RawRecord[];
}): string[] {
  const named = records.flatMap((record) => statedSessionId(record)?.value ?? []);
  return named.length === 0 ? [traceId] : named;
}
