import { isJsonObject, type JsonValue } from '../../base/json.ts';

/** Nanoseconds since the epoch have at most 20 digits until the year 5138. */
const MAX_DIGITS = 20;

const ISO_TIME =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d{1,9})\d{0,9})? ?(?:Z|UTC|([+-]\d\d):?(\d\d))?$/i;

/**
 * Nanoseconds since the epoch as decimal text, from a field that holds nanoseconds (`…UnixNano` of OTLP) as number
 * or text, or an ISO 8601 date. Numbers beyond 2^53 that a plain parser already rounded keep its rounding. `null`
 * for absent, zero and unreadable times.
 */
export function readUnixNano(value: JsonValue | undefined): string | null {
  return readTime(value, () => 1n);
}

/**
 * The same from a field whose unit the producer does not fix: seconds, milliseconds, microseconds or nanoseconds
 * since the epoch, told apart by their size (good from 1973 to 5138).
 */
export function toUnixNano(value: JsonValue | undefined): string | null {
  return readTime(value, (whole) =>
    whole < 10n ** 11n ? 10n ** 9n : whole < 10n ** 14n ? 10n ** 6n : whole < 10n ** 17n ? 1000n : 1n,
  );
}

/**
 * A date without a zone is UTC, as loggers and databases write it: it must not move with the zone of the machine
 * that reads it. Fractions stay exact, since steps of one millisecond are ordered by their microseconds.
 */
function readTime(value: JsonValue | undefined, unitOf: (whole: bigint) => bigint): string | null {
  const long = readLong(value);
  if (long !== null) return readNumber(long.toString(), unitOf);
  if (typeof value === 'number') return readNumber(Number.isFinite(value) ? decimalOf(value) : '', unitOf);
  if (typeof value !== 'string' || value.length > 40) return null;
  const iso = ISO_TIME.exec(value);
  if (iso === null)
    return readNumber(/^[\d.]+e\+?\d+$/i.test(value) ? decimalOf(Number(value)) : value, unitOf);
  const [, date = '', minutes = '', seconds = ':00', fraction = '', hours, zoneMinutes = '00'] = iso;
  const zone = hours === undefined ? 'Z' : `${hours}:${zoneMinutes}`;
  const milliseconds = Date.parse(`${date}T${minutes}${seconds}${zone}`);
  if (Number.isNaN(milliseconds) || milliseconds <= 0) return null;
  return (BigInt(milliseconds) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))).toString();
}

/** An int64 in the two halves that JavaScript's protobuf libraries write: `{low, high, unsigned?}`. */
export function readLong(value: JsonValue | undefined): bigint | null {
  if (!isJsonObject(value)) return null;
  const { low, high } = value;
  if (!Number.isInteger(low) || !Number.isInteger(high)) return null;
  const bits = (BigInt(Number(high)) << 32n) | (BigInt(Number(low)) & 0xffffffffn);
  return value.unsigned === true ? BigInt.asUintN(64, bits) : BigInt.asIntN(64, bits);
}

/** A double of seconds since the epoch is exact to the microsecond, not further. */
const decimalOf = (value: number): string =>
  Number.isInteger(value) ? (value >= 0 && value < 1e21 ? BigInt(value).toString() : '') : value.toFixed(6);

function readNumber(text: string, unitOf: (whole: bigint) => bigint): string | null {
  const parts = /^(\d{1,40})(?:\.(\d{1,20}))?$/.exec(text);
  if (parts === null) return null;
  const whole = BigInt(parts[1] ?? '');
  const unit = unitOf(whole);
  const digits = unit.toString().length - 1;
  const nanoseconds = whole * unit + BigInt((parts[2] ?? '').slice(0, digits).padEnd(digits, '0') || '0');
  const out = nanoseconds.toString();
  return nanoseconds === 0n || out.length > MAX_DIGITS ? null : out;
}

/** Compares decimal nanoseconds; absent times come last. */
export function compareTimes(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a.length - b.length || (a < b ? -1 : 1);
}
