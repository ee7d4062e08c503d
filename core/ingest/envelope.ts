import * as z from 'zod';
import { gunzipText, InflatedTooLarge } from '../base/gzip.ts';

/** One log event, whatever envelope brought it. */
export interface LogEvent {
  readonly logGroup: string;
  readonly logStream: string;
  /** 56-digit decimal string; empty on control messages. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly message: string;
}

export interface EnvelopeTrouble {
  readonly reason: string;
  /** The bytes as they came, base64. */
  readonly raw: string;
}

export interface Unwrapped {
  readonly events: readonly LogEvent[];
  readonly trouble: readonly EnvelopeTrouble[];
}

const awslogsSchema = z.object({ awslogs: z.object({ data: z.string() }) });
const kinesisSchema = z.object({
  Records: z.array(z.unknown()).min(1),
});

const logEventSchema = z.object({ id: z.string(), timestamp: z.number(), message: z.string() });
const recordSchema = z.object({ kinesis: z.object({ data: z.string() }) });

/** Extra keys may come (`extractedFields`): they are ignored, not refused. */
const payloadSchema = z.object({
  messageType: z.string(),
  logGroup: z.string(),
  logStream: z.string(),
  logEvents: z.array(z.unknown()),
});

/**
 * A subscription carries at most 1 MB compressed and span batches inflate about 8 times; 64 MB is eight times that
 * again. More is a decompression bomb or not from CloudWatch.
 */
export const MAX_INFLATED_BYTES = 64 * 1024 * 1024;

/**
 * Unwraps a CloudWatch Logs subscription event, direct or through Kinesis. An envelope that cannot be read is
 * trouble to quarantine, never an exception: it would fail the batch, be retried twice and be lost.
 */
export async function unwrapLogEvents(
  event: unknown,
  maxBytes: number = MAX_INFLATED_BYTES,
): Promise<Unwrapped> {
  const direct = awslogsSchema.safeParse(event);
  if (direct.success) return unwrapPayload(direct.data.awslogs.data, maxBytes);
  const kinesis = kinesisSchema.safeParse(event);
  if (kinesis.success && kinesis.data.Records.some((record) => recordSchema.safeParse(record).success)) {
    const parts = await Promise.all(
      kinesis.data.Records.map((record): Promise<Unwrapped> | Unwrapped => {
        const parsed = recordSchema.safeParse(record);
        return parsed.success
          ? unwrapPayload(parsed.data.kinesis.data, maxBytes)
          : unreadable('a Kinesis record without data', record);
      }),
    );
    return { events: parts.flatMap((part) => part.events), trouble: parts.flatMap((part) => part.trouble) };
  }
  return unreadable(
    'not a CloudWatch Logs subscription event: neither awslogs.data nor Records[].kinesis.data',
    event,
  );
}

function unreadable(reason: string, value: unknown): Unwrapped {
  const raw = toBase64(new TextEncoder().encode(JSON.stringify(value) ?? 'undefined'));
  return { events: [], trouble: [{ reason, raw }] };
}

/** The payload of one envelope: base64 of gzipped (through Kinesis perhaps plain) JSON text. */
export async function unwrapPayload(data: string, maxBytes: number = MAX_INFLATED_BYTES): Promise<Unwrapped> {
  const failed = (reason: string): Unwrapped => ({ events: [], trouble: [{ reason, raw: data }] });
  const bytes = fromBase64(data);
  if (bytes === null) return failed('payload is not base64');
  let text: string;
  try {
    // Through Kinesis a producer may send plain JSON: gzip is known by its two magic bytes.
    text =
      bytes[0] === 0x1f && bytes[1] === 0x8b
        ? await gunzipText(bytes, maxBytes)
        : new TextDecoder().decode(bytes);
  } catch (error) {
    return failed(
      error instanceof InflatedTooLarge ? `payload ${error.message}` : 'payload is not gzipped UTF-8 text',
    );
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return failed('decompressed payload is not JSON');
  }
  const payload = payloadSchema.safeParse(json);
  if (!payload.success)
    return failed(`payload has not the shape of a subscription: ${z.prettifyError(payload.error)}`);
  const { messageType, logGroup, logStream, logEvents } = payload.data;
  // A health check from CloudWatch: success, nothing to store.
  if (messageType === 'CONTROL_MESSAGE') return { events: [], trouble: [] };
  if (messageType !== 'DATA_MESSAGE') return failed(`unknown messageType "${messageType.slice(0, 40)}"`);
  const events: LogEvent[] = [];
  const trouble: EnvelopeTrouble[] = [];
  for (const item of logEvents) {
    const parsed = logEventSchema.safeParse(item);
    if (parsed.success) events.push({ logGroup, logStream, ...parsed.data });
    else trouble.push(...unreadable('a log event without id, timestamp or message', item).trouble);
  }
  return { events, trouble };
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  // 32,768 arguments is well below every engine's limit for one call.
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
