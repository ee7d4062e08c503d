import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LogEvent } from '../../../core/ingest/envelope.ts';
import { joinCutLines } from '../../../core/reading/decode/cut-lines.ts';
import { logEvent } from '../../helpers/log-events.ts';

const line = JSON.stringify({ traceId: 'a', spanId: 'b', name: 'x', text: '} and { "brackets" [' });
const halves = (text: string, at: number): LogEvent[] => [
  logEvent(text.slice(0, at)),
  logEvent(text.slice(at)),
];
const texts = (events: readonly LogEvent[]): string[] => joinCutLines(events).map(({ message }) => message);

describe('a stdout line over the limit, cut into two events of one stream', () => {
  it('is one again, wherever it was cut, with the id of its first half', () => {
    for (let at = 1; at < line.length - 1; at += 1) {
      const [first, second] = halves(line, at);
      // A half that parses alone is a line of its own: here only the number-like and empty ends could.
      expect(joinCutLines([first!, second!])).toEqual([{ ...first, message: line }]);
    }
  });

  it('is one again at the real length, and in three pieces', () => {
    const long = JSON.stringify({ text: '}{'.repeat(300_000) });
    const pieces = [0, 1, 2].map((n) =>
      logEvent(long.slice(n * 262_119, n === 2 ? undefined : (n + 1) * 262_119)),
    );
    expect(texts(pieces)).toEqual([long]);
    // Brackets at both ends of the cut.
    const tricky = JSON.stringify({ text: '}{'.repeat(70_000) });
    const at = tricky.indexOf('}{', 131_000) + 1;
    expect(texts(halves(tricky, at))).toEqual([tricky]);
  });

  it.each<[string, LogEvent[]]>([
    ['of different streams', [logEvent(line.slice(0, 9)), logEvent(line.slice(9), { logStream: 'other' })]],
    ['of different groups', [logEvent(line.slice(0, 9)), logEvent(line.slice(9), { logGroup: 'other' })]],
    ['that are not adjacent', [logEvent(line.slice(0, 9)), logEvent('{}'), logEvent(line.slice(9))]],
    ['in the wrong order', halves(line, 9).toReversed()],
    ['of which the second parses alone', [logEvent('{"a":'), logEvent('1'), logEvent('}')]],
    ['of which the whole does not parse', [logEvent('{"a":'), logEvent('"b"]')]],
    ['that are whole', [logEvent('{"a":1}'), logEvent('{"b":2}')]],
    ['of plain text', [logEvent('Traceback:'), logEvent('  line 1')]],
  ])('pieces %s stay as they are', (_what, events) => {
    expect(joinCutLines(events)).toEqual(events);
  });

  it('no other event is changed, lost or moved', () => {
    const whole = fc.jsonValue().map((value) => JSON.stringify({ value }));
    const text = fc.oneof(
      whole,
      fc.string().map((plain) => `log ${plain}`),
    );
    fc.assert(
      fc.property(
        fc.array(text),
        fc.nat(),
        fc.integer({ min: 1, max: line.length - 2 }),
        (lines, at, cut) => {
          const position = at % (lines.length + 1);
          const before = lines.slice(0, position).map((message) => logEvent(message));
          const after = lines.slice(position).map((message) => logEvent(message));
          expect(texts([...before, ...halves(line, cut), ...after])).toEqual([
            ...lines.slice(0, position),
            line,
            ...lines.slice(position),
          ]);
        },
      ),
    );
  });
});
