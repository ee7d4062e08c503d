import type { RawLog, RawRecord, RawSpan } from '../decode/format.ts';
import { compareTimes } from '../decode/times.ts';
import { type StatedId, statedSessionId } from './ids.ts';

/** What the choice of a session needs of a span; parents come before their children. */
export interface PlacedSpan {
  readonly spanId: string;
  readonly raw: RawSpan;
  readonly logs: readonly RawLog[];
  readonly parentSpanId: string | null;
  /** As its producer states it; another than `parentSpanId` when that one never came. */
  readonly statedParent: string | null;
}

/**
 * The session of each span of one trace, whatever order its records came in; `null` for those that have none.
 *
 * A span's session is the nearest id at or above it, by the best-ranked key on the way: a framework's own id below a
 * session's is no other session. An id of a lesser key takes the one better id below it, which is the same session's. A
 * single further id of the same key that stands only below another is that session's second name (the Claude CLI sets
 * its own in mid-stream); two or more are sessions of their own.
 * Spans without any inherit from the trace only when the spans of the trace know a single session: a queue worker's trace
 * has many, and must not mix them. Lines that belong to no span count only where no span names a session.
 */
export function sessionsOfSpans<Placed extends PlacedSpan>(
  spans: readonly Placed[],
  loose: readonly RawLog[],
): Map<Placed, StatedId | null> {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  // Hung elsewhere for want of its own parent, a span is not below what it hangs on.
  const parentOf = (span: Placed): Placed | undefined =>
    span.statedParent === null || span.statedParent !== span.parentSpanId
      ? undefined
      : byId.get(span.statedParent);
  const stated = new Map(spans.map((span) => [span, idOf([span.raw, ...span.logs])]));

  const above = new Map<Placed, StatedId | null>();
  for (const span of spans) {
    const parent = parentOf(span);
    above.set(
      span,
      better(stated.get(span) ?? null, parent === undefined ? null : (above.get(parent) ?? null)),
    );
  }
  const below = new Map<Placed, StatedId | 'many'>();
  for (const span of spans.toReversed()) {
    const mine = join(below.get(span), stated.get(span) ?? undefined);
    if (mine === undefined) continue;
    below.set(span, mine);
    const parent = parentOf(span);
    const both = parent === undefined ? undefined : join(below.get(parent), mine);
    if (parent !== undefined && both !== undefined) below.set(parent, both);
  }
  const firstNames = firstNamesOf(spans, above, parentOf);
  const found = new Map<Placed, StatedId | null>();
  for (const span of spans) {
    const near = above.get(span) ?? null;
    const id = near === null ? null : (firstNames.get(near.value) ?? near);
    const under = below.get(span);
    const isLesser = id !== null && under !== undefined && under !== 'many' && under.rank < id.rank;
    found.set(span, isLesser ? under : id);
  }
  const known = new Map([...found.values()].flatMap((id) => (id === null ? [] : [[id.value, id] as const])));
  const [only] = known.values();
  const inherited = known.size === 0 ? idOf(loose) : known.size === 1 ? (only ?? null) : null;
  for (const [span, id] of found) if (id === null) found.set(span, inherited);
  return found;
}

/** By a second name of a session, its first. */
function firstNamesOf<Placed extends PlacedSpan>(
  spans: readonly Placed[],
  above: ReadonlyMap<Placed, StatedId | null>,
  parentOf: (span: Placed) => Placed | undefined,
): Map<string, StatedId> {
  const outer = new Map<string, Map<string, StatedId>>();
  const free = new Set<string>();
  for (const span of spans) {
    const parent = parentOf(span);
    const [id, over] = [above.get(span) ?? null, parent === undefined ? null : (above.get(parent) ?? null)];
    if (id === null || id.value === over?.value) continue;
    if (over === null || over.rank !== id.rank) free.add(id.value);
    else outer.set(id.value, (outer.get(id.value) ?? new Map<string, StatedId>()).set(over.value, over));
  }
  const inner = Map.groupBy(
    [...outer].flatMap(([value, over]) => {
      const [first, ...more] = over.values();
      return first === undefined || more.length > 0 || free.has(value) ? [] : [{ value, first }];
    }),
    ({ first }) => first.value,
  );
  return new Map(
    [...inner.values()].flatMap((list) =>
      list.length === 1 ? list.map(({ value, first }) => [value, first] as const) : [],
    ),
  );
}

/** The nearer one, unless the other has the better key. */
const better = (near: StatedId | null, far: StatedId | null): StatedId | null =>
  near === null || (far !== null && far.rank < near.rank) ? far : near;

/** The one id of the best rank, or that there are several. */
function join(
  a: StatedId | 'many' | undefined,
  b: StatedId | 'many' | undefined,
): StatedId | 'many' | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  if (a === 'many' || b === 'many') return 'many';
  if (a.rank !== b.rank) return a.rank < b.rank ? a : b;
  return a.value === b.value ? a : 'many';
}

/** Of several records: the best-ranked, then the earliest, then the smaller text. */
function idOf(records: readonly RawRecord[]): StatedId | null {
  let best: { id: StatedId; time: string | null } | null = null;
  for (const record of records) {
    const id = statedSessionId(record);
    if (id === null) continue;
    const time = record.type === 'span' ? record.startTimeUnixNano : record.timeUnixNano;
    const order =
      best === null
        ? -1
        : id.rank - best.id.rank || compareTimes(time, best.time) || (id.value < best.id.value ? -1 : 1);
    if (order < 0) best = { id, time };
  }
  return best === null ? null : (best as { id: StatedId }).id;
}
