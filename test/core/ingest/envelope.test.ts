import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBase64, unwrapLogEvents } from '../../../core/ingest/envelope.ts';
import { awslogs, kinesis, logEvent, pack, payload } from '../../helpers/log-events.ts';

const events = [logEvent('one'), logEvent('two')];
const data = (value: string) => ({ awslogs: { data: value } });

describe('a subscription event', () => {
  it('gives its log events with the place they came from', async () => {
    expect(await unwrapLogEvents(awslogs(events))).toEqual({ events, trouble: [] });
  });

  it('through Kinesis, all records together', async () => {
    expect(await unwrapLogEvents(kinesis([events[0]!], [events[1]!]))).toEqual({ events, trouble: [] });
  });

  it('through Kinesis also when a producer does not compress', async () => {
    const plain = Buffer.from(JSON.stringify(payload(events))).toString('base64');
    expect(await unwrapLogEvents({ Records: [{ kinesis: { data: plain } }] })).toEqual({
      events,
      trouble: [],
    });
  });

  it('may have keys that nobody announced', async () => {
    const more = { ...payload(events), extractedFields: { a: 1 }, policyLevel: 'ACCOUNT' };
    expect((await unwrapLogEvents({ ...data(pack(more)), extra: true })).events).toEqual(events);
  });

  it('of a health check is success with nothing to store', async () => {
    const check = {
      messageType: 'CONTROL_MESSAGE',
      owner: 'CloudwatchLogs',
      logGroup: '',
      logStream: '',
      subscriptionFilters: [],
      logEvents: [{ id: '', timestamp: 1, message: 'CWL CONTROL MESSAGE: Checking health of destination.' }],
    };
    expect(await unwrapLogEvents(data(pack(check)))).toEqual({ events: [], trouble: [] });
    expect(await unwrapLogEvents({ Records: [{ kinesis: { data: pack(check) } }] })).toEqual({
      events: [],
      trouble: [],
    });
  });
});

describe('an envelope that cannot be read', () => {
  const cut = pack(payload(events)).slice(0, 40);
  const latin1 = gzipSync(Buffer.from([0x7b, 0xe9, 0x7d])).toString('base64');
  it.each([
    ['is not base64', data('%%%'), /not base64/],
    ['is base64 of nothing readable', data(toBase64(Uint8Array.from([1, 2, 3]))), /not JSON/],
    ['is cut off', data(cut), /not gzipped/],
    ['is not UTF-8', data(latin1), /not gzipped UTF-8/],
    ['unpacks to no JSON', data(pack('{"messageType":')), /not JSON/],
    ['unpacks to another shape', data(pack({ messageType: 'DATA_MESSAGE' })), /logGroup/],
    ['unpacks to null', data(pack('null')), /shape/],
    ['has a type that nobody knows', data(pack(payload(events, 'NEW_MESSAGE'))), /NEW_MESSAGE/],
    ['is of another service', { Records: [{ s3: {} }] }, /neither awslogs/],
    ['is empty', {}, /neither awslogs/],
    ['is nothing', undefined, /neither awslogs/],
  ])('that %s is trouble with a reason and the bytes as they came', async (_what, event, reason) => {
    const { events: found, trouble } = await unwrapLogEvents(event);
    expect(found).toEqual([]);
    expect(trouble).toHaveLength(1);
    expect(trouble[0]?.reason).toMatch(reason);
    const raw =
      typeof event === 'object' && 'awslogs' in event
        ? event.awslogs.data
        : toBase64(new TextEncoder().encode(JSON.stringify(event) ?? 'undefined'));
    expect(trouble[0]?.raw).toBe(raw);
  });

  it('beside others in a Kinesis batch does not hide them', async () => {
    const batch = kinesis(events) as { Records: object[] };
    batch.Records.push({ kinesis: { data: '%%%' } });
    const found = await unwrapLogEvents(batch);
    expect(found.events).toEqual(events);
    expect(found.trouble.map(({ raw }) => raw)).toEqual(['%%%']);
  });

  it('that unpacks beyond the cap is named as such, and not unpacked further', async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024, 0x20)).toString('base64');
    const { trouble } = await unwrapLogEvents(data(bomb), 1024 * 1024);
    expect(trouble[0]?.reason).toBe('payload unpacks to more than 1048576 bytes');
    expect(trouble[0]?.raw).toBe(bomb);
  });

  it('is never an exception, whatever comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.jsonValue(),
          fc.string().map(data),
          fc.jsonValue().map((value) => data(pack(value))),
        ),
        async (event) => {
          const { events: found, trouble } = await unwrapLogEvents(event);
          expect(found.length === 0 ? trouble.length : 1).toBe(1);
        },
      ),
    );
  });
});
