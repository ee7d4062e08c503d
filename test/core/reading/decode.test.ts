import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/base/json.ts';
import { readSpanId, readTraceId } from '../../../core/reading/decode/decode-ids.ts';
import {
  parseJson,
  parseLooseJson,
  sanitiseJson,
  unwrapJson,
} from '../../../core/reading/decode/decode-json.ts';
import { decodeLogEventMessage } from '../../../core/reading/decode/decode-log-event.ts';
import { mediaBlock, textWithoutMedia } from '../../../core/reading/decode/decode-media.ts';
import { readKind, readStatus, readTypedValue } from '../../../core/reading/decode/decode-values.ts';
import { compareTimes, readUnixNano } from '../../../core/reading/decode/times.ts';

const value = (text: string): JsonValue => {
  const decoded = parseJson(text);
  if (!decoded.ok) throw new Error(decoded.reason);
  return decoded.value;
};

describe('parseJson', () => {
  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (input) => {
        const text = JSON.stringify(input);
        fc.pre(
          !/__proto__|constructor|prototype|\d{16}/.test(text) &&
            text.isWellFormed() &&
            !/\\u[dD][89a-fA-F]/.test(text),
        );
        expect(value(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('never throws, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
        parseJson(text);
        parseLooseJson(text);
        unwrapJson(text);
        decodeLogEventMessage(text);
      }),
    );
  });

  it('keeps integers beyond 2^53 digit by digit, and leaves other numbers numbers', () => {
    expect(
      value('{"t":1763423912171758991,"f":123.75,"n":9007199254740991,"m":-9223372036854775808}'),
    ).toEqual({
      t: '1763423912171758991',
      f: 123.75,
      n: 9007199254740991,
      m: '-9223372036854775808',
    });
  });

  it('drops keys that reach prototypes, also in escaped spelling', () => {
    const decoded = parseJson(
      '{"a":1,"__proto__":{"x":1},"\\u005f_proto__":{"y":1},"b":{"constructor":{"prototype":{}}}}',
    );
    expect(decoded).toMatchObject({ ok: true, note: 'changed' });
    expect(decoded.ok && JSON.stringify(decoded.value)).toBe('{"a":1,"b":{}}');
    expect(Object.getPrototypeOf(decoded.ok ? decoded.value : null)).toBe(Object.prototype);
  });

  it('replaces lone surrogates in values and keys, whether escaped or raw', () => {
    expect(value('{"k\\ud83e":"cut \\ud83e"}')).toEqual({ 'k\ufffd': 'cut \ufffd' });
    expect(value('["a\ud83e"]')).toEqual(['a\ufffd']);
    expect(value('["\\ud83e\\udd16"]')).toEqual(['🤖']);
  });

  it('refuses depth beyond the bound instead of overflowing the stack', () => {
    expect(parseJson(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toMatchObject({ ok: false });
    expect(parseLooseJson('[{"a":'.repeat(50_000))).toMatchObject({ ok: false });
    let deep: JsonValue = 'x';
    for (let i = 0; i < 5000; i += 1) deep = [deep];
    expect(JSON.stringify(sanitiseJson(deep))).toContain('nested too deeply');
  });
});

describe('parseLooseJson', () => {
  it.each([
    [
      'Python repr',
      "{'expression': '1', 'deep': None, 'yes': True}",
      { expression: '1', deep: null, yes: true },
    ],
    [
      'NaN and infinities',
      '{"score": NaN, "max": Infinity, "min": -Infinity}',
      { score: 'NaN', max: 'Infinity', min: '-Infinity' },
    ],
    ['raw control characters', '{"cmd":"git commit -m \n x\ty"}', { cmd: 'git commit -m \n x\ty' }],
  ])('%s', (_, text, expected) => {
    expect(parseLooseJson(text)).toEqual({ ok: true, value: expected, note: 'repaired' });
  });

  it('says that a text was cut', () => {
    expect(parseLooseJson('{"a": [1, 2, {"b": "half a wo')).toMatchObject({ ok: true, note: 'truncated' });
  });

  it.each([
    '[INFO] all is well',
    '{name}, hello',
    'plain words',
    'datetime.datetime(2020, 1, 1)',
    '{"a":1} and more',
  ])('does not invent structure in prose: %s', (text) => {
    expect(parseLooseJson(text).ok).toBe(false);
    expect(unwrapJson(text)).toMatchObject({ value: text, levels: 0 });
  });
});

describe('unwrapJson', () => {
  it('takes off at most three layers', () => {
    const layers = (n: number): string => {
      let text = '{"city":"X"}';
      for (let i = 1; i < n; i += 1) text = JSON.stringify(text);
      return text;
    };
    expect(unwrapJson(layers(3))).toEqual({ value: { city: 'X' }, note: 'exact', levels: 3 });
    expect(unwrapJson(layers(4))).toMatchObject({ value: '{"city":"X"}', levels: 3 });
  });

  it('leaves numbers, words and booleans in text alone', () => {
    for (const text of ['42', 'true', 'null', 'NaN', ''])
      expect(unwrapJson(text)).toMatchObject({ value: text, levels: 0 });
  });
});

describe('ids', () => {
  it('hex and base64 of the same bytes are one id, and reading is idempotent', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        fc.pre(bytes.some((byte) => byte !== 0));
        const hex = Buffer.from(bytes).toString('hex');
        expect(readTraceId(Buffer.from(bytes).toString('base64'))).toBe(hex);
        expect(readTraceId(hex.toUpperCase())).toBe(hex);
        const span = Buffer.from(bytes.slice(0, 8));
        fc.pre(span.some((byte) => byte !== 0));
        expect(readSpanId(span.toString('base64'))).toBe(span.toString('hex'));
        expect(readSpanId(readSpanId(span.toString('base64')) ?? '')).toBe(span.toString('hex'));
      }),
    );
  });

  it.each([
    ['1-5759e988-bd862e3fe1be46a994272793', '5759e988bd862e3fe1be46a994272793'],
    ['00000000000000000000000000000000', null],
    ['', null],
    ['adot-trace-1', 'adot-trace-1'],
  ])('trace id %s', (given, expected) => {
    expect(readTraceId(given)).toBe(expected);
  });
});

describe('times, kinds, statuses and typed values', () => {
  it.each([
    ['1763423912171758991', '1763423912171758991'],
    [1763423912171, '1763423912171'],
    ['2025-11-17T23:58:37.517Z', '1763423917517000000'],
    ['2025-11-17 23:58:37.517', '1763423917517000000'],
    [null, null],
    [0, null],
    ['soon', null],
  ] as const)('time %s', (given, expected) => {
    expect(readUnixNano(given)).toBe(expected);
  });

  it('orders times as numbers, absent ones last', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 20n }),
        fc.bigInt({ min: 1n, max: 10n ** 20n }),
        (a, b) => {
          expect(Math.sign(compareTimes(String(a), String(b)))).toBe(a < b ? -1 : a > b ? 1 : 0);
          expect(compareTimes(null, String(a))).toBe(1);
        },
      ),
    );
  });

  it('reads kinds and statuses as number or name', () => {
    expect(['SPAN_KIND_CLIENT', 3, 'CLIENT', 'SpanKind.CLIENT', '3'].map(readKind)).toEqual(
      Array(5).fill('CLIENT'),
    );
    expect(
      [{ code: 2 }, { code: 'ERROR' }, { code: 'STATUS_CODE_ERROR' }, 'ERROR'].map((s) => readStatus(s).code),
    ).toEqual(Array(4).fill('error'));
    expect(readStatus({})).toEqual({ code: 'unset', message: null });
  });

  it('reads typed values in both spellings', () => {
    const typed = {
      kvlistValue: {
        values: [
          { key: 'a', value: { arrayValue: { values: [{ intValue: '7' }, { bool_value: true }] } } },
          { key: '__proto__', value: { intValue: 1 } },
          { key: 'big', value: { intValue: '9223372036854775807' } },
        ],
      },
    };
    expect(readTypedValue(typed)).toEqual({ a: [7, true], big: '9223372036854775807' });
  });
});

describe('media', () => {
  it('a run of 30 million letters is read to its end, whether it is base64 or not', () => {
    const letters = 'a'.repeat(30_000_000);
    expect(textWithoutMedia(letters)).toBe(letters);
    expect(textWithoutMedia(`so: ${'aB1/'.repeat(7_500_000)}= end`)).toMatch(
      /^so: \[application\/octet-stream, 22500000 bytes, sha256 [0-9a-f]{16}\] end$/,
    );
    expect(mediaBlock('image/png', `data:${letters}`).byteLength).toBe(0);
  });

  it('a data URI is replaced with its head, and what stands before and after stays', () => {
    const picture = 'iVBORw0KGgo1'.repeat(100);
    const text = `{"a":"data:image/png;base64,${picture}==","b":"data:;base64,${picture}"} x`;
    expect(textWithoutMedia(text)).toMatch(
      /^\{"a":"\[image\/png, 900 bytes, sha256 \w{16}\]","b":"\[application\/octet-stream, 900 bytes, sha256 \w{16}\]"\} x$/,
    );
  });

  const picture = Buffer.from(Array.from({ length: 30_000 }, (_, i) => (i * 7919) % 256)).toString('base64');

  it('a picture becomes its size and digest', () => {
    const block = mediaBlock('image/png', `data:image/jpeg;base64,${picture}`);
    expect(block).toMatchObject({ type: 'media', mediaType: 'image/jpeg', byteLength: 30_000 });
    expect(block.digest).toBe(mediaBlock('x', picture).digest);
  });

  it('base64 inside a text is replaced, words are not', () => {
    const text = textWithoutMedia(`before ${picture} after ${'lorem '.repeat(400)}`);
    expect(text).toMatch(
      /^before \[application\/octet-stream, 30000 bytes, sha256 [0-9a-f]{16}\] after lorem/,
    );
    const long = 'a'.repeat(5000);
    expect(textWithoutMedia(long)).toBe(long);
  });
});

describe('decodeLogEventMessage', () => {
  const record = '{"traceId":"t","spanId":"s","name":"n","startTimeUnixNano":1,"attributes":{}}';
  it.each([
    ['a flat span record', record],
    ['a wrapped record', `{"timestamp":"x","raw_otel_json":${record}}`],
    ['OTLP', `{"resourceSpans":[{"scopeSpans":[{"spans":[${record}]}]}]}`],
    ['an application line', '{"level":"INFO","message":"started","sessionId":"s-1"}'],
  ])('reads %s', (_, message) => {
    expect(decodeLogEventMessage(message)).toHaveLength(1);
  });

  it.each([
    ['not-json', 'INFO server started'],
    ['not-json', `2026-01-01T00:00:00Z INFO exporter: ${record}`],
    ['cut-json', record.slice(0, 40)],
    ['bad-json', '{"id":"1","details":{"input":"{"Comment": "x"}"}}'],
    ['not-telemetry', '{"_aws":{"CloudWatchMetrics":[]},"Latency":3}'],
    ['not-json', ''],
  ])('says why not: %s', (code, message) => {
    const unread = decodeLogEventMessage(message);
    expect(unread).toMatchObject({ count: 1, reason: expect.stringMatching(new RegExp(`^${code}: `)) });
  });
});
