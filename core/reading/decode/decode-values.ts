import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isForbiddenKey, sanitiseJson, toWellFormed } from './decode-json.ts';
import type { RawSpan } from './format.ts';
import { readLong } from './times.ts';

/** Attributes as a map without a prototype; forbidden keys are left out. */
export type Attributes = Record<string, JsonValue>;

export function emptyAttributes(): Attributes {
  return Object.create(null) as Attributes;
}

/**
 * Reads attributes given as a plain object or as OTLP's `[{key, value: {stringValue: …}}]`. Anything else is empty.
 */
export function readAttributes(value: JsonValue | undefined): Attributes {
  const out = emptyAttributes();
  if (Array.isArray(value)) {
    for (const pair of value) {
      if (!isJsonObject(pair) || typeof pair.key !== 'string' || isForbiddenKey(pair.key)) continue;
      out[toWellFormed(pair.key)] = sanitiseJson(readTypedValue(pair.value ?? null));
    }
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      if (!isForbiddenKey(key)) out[toWellFormed(key)] = sanitiseJson(readTypedValue(item));
    }
  }
  return out;
}

/** The plain value of an OTLP AnyValue, in both spellings of protobuf JSON. Plain values pass unchanged. */
export function readTypedValue(value: JsonValue, depth = 0): JsonValue {
  if (!isJsonObject(value) || depth > 100) return value;
  const long = readLong(value);
  if (long !== null) return toNumber(long.toString());
  const keys = Object.keys(value);
  if (keys.length !== 1) return value;
  const [key] = keys;
  const inner = value[key ?? ''] ?? null;
  switch (key) {
    case 'stringValue':
    case 'string_value':
    case 'boolValue':
    case 'bool_value':
    case 'bytesValue':
    case 'bytes_value':
      return inner;
    case 'intValue':
    case 'int_value':
    case 'doubleValue':
    case 'double_value':
      return toNumber(inner);
    case 'arrayValue':
    case 'array_value': {
      const values = isJsonObject(inner) ? inner.values : inner;
      return Array.isArray(values) ? values.map((item) => readTypedValue(item, depth + 1)) : [];
    }
    case 'kvlistValue':
    case 'kvlist_value': {
      const values = isJsonObject(inner) ? inner.values : inner;
      const out: JsonObject = {};
      for (const pair of Array.isArray(values) ? values : []) {
        if (isJsonObject(pair) && typeof pair.key === 'string' && !isForbiddenKey(pair.key)) {
          out[pair.key] = readTypedValue(pair.value ?? null, depth + 1);
        }
      }
      return out;
    }
    default:
      return value;
  }
}

/** A number, or the text when a double cannot hold it exactly (int64 arrives as text for that reason). */
function toNumber(value: JsonValue): JsonValue {
  const long = readLong(value);
  if (long !== null) return toNumber(long.toString());
  if (typeof value !== 'string') return value;
  const number = Number(value);
  if (!Number.isFinite(number)) return value;
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? value : number;
}

const KINDS = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'];

/** `INTERNAL`, `SERVER`, `CLIENT`, … from OTLP's number, `SPAN_KIND_CLIENT`, `SpanKind.CLIENT` or the bare name. */
export function readKind(value: JsonValue | undefined): string | null {
  if (typeof value === 'number') return KINDS[value] ?? null;
  if (typeof value !== 'string') return null;
  if (/^\d$/.test(value)) return KINDS[Number(value)] ?? null;
  const name = value.toUpperCase().replace(/^SPAN_?KIND[_.]/, '');
  return KINDS.includes(name) ? name : null;
}

/** Status from `{code, message}` with the code as number (2 = error) or name in any vendor's spelling, or a bare name. */
export function readStatus(value: JsonValue | undefined): RawSpan['status'] {
  const status = isJsonObject(value) ? value : { code: value ?? null };
  const code = status.code ?? status.status_code ?? null;
  const message = status.message ?? status.description ?? null;
  return {
    code: statusCode(code),
    message: typeof message === 'string' && message !== '' ? toWellFormed(message) : null,
  };
}

function statusCode(code: JsonValue): 'ok' | 'error' | 'unset' {
  if (code === 2 || code === '2') return 'error';
  if (code === 1 || code === '1') return 'ok';
  if (typeof code !== 'string') return 'unset';
  const name = code.toUpperCase().replace(/^STATUS_?CODE[_.]/, '');
  return name === 'ERROR' ? 'error' : name === 'OK' ? 'ok' : 'unset';
}
