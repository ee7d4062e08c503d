import type { JsonValue } from '../../base/json.ts';
import { toWellFormed } from './decode-json.ts';

/** Bytes of an OpenTelemetry trace id and span id. */
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;

/** Lower-case hex of a trace id given as hex, base64 (protobuf JSON) or in X-Ray's `1-<time>-<rest>` form. */
export function readTraceId(value: JsonValue | undefined): string | null {
  return readId(value, TRACE_ID_BYTES);
}

/** Lower-case hex of a span id given as hex or base64. Ids in other alphabets stay as they are. */
export function readSpanId(value: JsonValue | undefined): string | null {
  return readId(value, SPAN_ID_BYTES);
}

/** `null` for what stands for "none": absent, empty, all zeros. Idempotent. */
function readId(value: JsonValue | undefined, bytes: number): string | null {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return null;
  // Python's SDK and MLflow write ids as `0x…`.
  const text = toWellFormed(value.trim().replace(/^0x(?=[0-9a-f]{16,32}$)/i, ''));
  if (text === '' || /^0+$/.test(text)) return null;
  const xray = /^1-([0-9a-fA-F]{8})-([0-9a-fA-F]{24})$/.exec(text);
  if (xray) return `${xray[1]}${xray[2]}`.toLowerCase();
  if (/^[0-9a-fA-F]+$/.test(text) && text.length === bytes * 2) return text.toLowerCase();
  return base64ToHex(text, bytes) ?? text;
}

/** Only padded base64 of exactly the right number of bytes counts: any other text could be an id of its own kind. */
function base64ToHex(text: string, bytes: number): string | null {
  const length = Math.ceil(bytes / 3) * 4;
  if (text.length !== length || !/^[A-Za-z0-9+/_-]+={1,2}$/.test(text)) return null;
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    if (binary.length !== bytes) return null;
    const hex = Array.from(binary, (char) => char.charCodeAt(0).toString(16).padStart(2, '0')).join('');
    return /^0+$/.test(hex) ? null : hex;
  } catch {
    return null;
  }
}
