import { afterEach, describe, expect, it } from 'vitest';
import { readUnixNano, toUnixNano } from '../../../core/reading/decode/times.ts';
import { readSessions } from '../../../core/reading/registry.ts';

const zone = process.env.TZ;
afterEach(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

describe('a date', () => {
  it.each([
    ['2026-03-14T10:00:00Z', '1773482400000000000'],
    ['2026-03-14T10:00:00.000001Z', '1773482400000001000'],
    ['2026-03-14T12:00:00.123456789+02:00', '1773482400123456789'],
    ['2026-03-14T12:00:00.5+0200', '1773482400500000000'],
    ['2026-03-14T10:00Z', '1773482400000000000'],
    ['2026-03-14 10:00:00', '1773482400000000000'],
    ['2026-03-14 10:00:00,250', '1773482400250000000'],
    ['2026-03-14 10:00:00 UTC', '1773482400000000000'],
    ['yesterday', null],
    ['2026-14-44T10:00:00Z', null],
    ['1969-12-31T23:59:59Z', null],
    ['', null],
    [null, null],
    [undefined, null],
  ])('%j is %j nanoseconds, whichever field holds it', (value, expected) => {
    expect(toUnixNano(value)).toBe(expected);
    expect(readUnixNano(value)).toBe(expected);
  });

  it.each(['America/New_York', 'Asia/Kolkata', 'UTC'])('without a zone is UTC on a machine in %s', (name) => {
    process.env.TZ = name;
    expect(toUnixNano('2026-03-14T10:00:00.000123')).toBe('1773482400000123000');
    expect(readUnixNano('2026-03-14T10:00:00.000123')).toBe('1773482400000123000');
  });

  it('of a span keeps its microseconds and its instant in every zone', () => {
    process.env.TZ = 'America/New_York';
    const document = [
      {
        trace_id: 'a'.repeat(32),
        span_id: 'b'.repeat(16),
        name: 'chat',
        start_time: '2026-03-14T10:00:00.000123',
        end_time: 1773482401.5,
        attributes: { 'gen_ai.operation.name': 'chat' },
      },
    ];
    const [session] = readSessions({ document, source: 'spans.json' }).sessions;
    expect(session?.traces[0]?.spans[0]).toMatchObject({
      startTimeUnixNano: '1773482400000123000',
      endTimeUnixNano: '1773482401500000000',
    });
  });
});

describe('a number', () => {
  it.each([
    [1773482400, '1773482400000000000'],
    [1773482400.5, '1773482400500000000'],
    ['1773482400.000001', '1773482400000001000'],
    [1773482400123, '1773482400123000000'],
    [1773482400123.25, '1773482400123250000'],
    [1773482400123456, '1773482400123456000'],
    ['1773482400123456789', '1773482400123456789'],
    [0, null],
    [-5, null],
    [Number.NaN, null],
    ['9'.repeat(30), null],
  ])('%j has the unit that its size tells: %j', (value, expected) => {
    expect(toUnixNano(value)).toBe(expected);
  });

  it.each([
    [1763423912171, '1763423912171'],
    ['1763423912171758991', '1763423912171758991'],
    ['0001763423912171758991', '1763423912171758991'],
    ['1.763423912e18', '1763423912000000000'],
    [0, null],
    ['soon', null],
  ])('%j in a field of nanoseconds is %j', (value, expected) => {
    expect(readUnixNano(value)).toBe(expected);
  });
});
