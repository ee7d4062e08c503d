import { gzipSync } from 'node:zlib';
import { sha256Hex } from '../../core/base/hash.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';

/** Log events and the envelopes that CloudWatch puts around them, small and of the real shape. */

export const GROUP = 'aws/spans';

/** A log event whose id (56 decimal digits) derives from its text, so that "delivered again" is the same event. */
export function logEvent(message: string | object, where: Partial<LogEvent> = {}): LogEvent {
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const id = BigInt(`0x${sha256Hex(text).slice(0, 44)}`)
    .toString()
    .padStart(56, '3');
  return { logGroup: GROUP, logStream: 'default', id, timestamp: 1_700_000_000_000, message: text, ...where };
}

/** The decoded payload of a subscription. */
export function payload(events: readonly LogEvent[], type = 'DATA_MESSAGE'): object {
  return {
    messageType: type,
    owner: '123456789012',
    logGroup: events[0]?.logGroup ?? '',
    logStream: events[0]?.logStream ?? '',
    subscriptionFilters: ['rootspan'],
    logEvents: events.map(({ id, timestamp, message }) => ({ id, timestamp, message })),
  };
}

export const pack = (value: unknown): string =>
  gzipSync(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');

export const awslogs = (events: readonly LogEvent[]): object => ({
  awslogs: { data: pack(payload(events)) },
});

export const kinesis = (...batches: readonly (readonly LogEvent[])[]): object => ({
  Records: batches.map((events) => ({
    eventSource: 'aws:kinesis',
    kinesis: { partitionKey: 'p', data: pack(payload(events)) },
  })),
});

/** One envelope holds the events of one stream. */
export function envelopes(events: readonly LogEvent[]): object[] {
  const streams = Map.groupBy(events, (event) => `${event.logGroup}\n${event.logStream}`);
  return [...streams.values()].map(awslogs);
}
