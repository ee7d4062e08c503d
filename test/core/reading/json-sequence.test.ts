import { expect, it } from 'vitest';
import { jsonSequence } from '../../../core/reading/decode/json-sequence.ts';
import { readSessions } from '../../../core/reading/registry.ts';

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
const values = (text: string): unknown[] =>
  jsonSequence(text.split('\n'), isJson)
    .filter(isJson)
    .map((part) => JSON.parse(part));

it('values printed over several lines are found among text and among each other', () => {
  const printed = [{ a: { b: ['}', '{"'] } }, { c: [] }, [1, { d: 2 }]];
  const text = printed.map((value) => JSON.stringify(value, null, 2)).join('\n[INFO] {next}\n');
  expect(values(text)).toEqual(printed);
});

it('a value that breaks off costs itself and not the one after it', () => {
  const cut = JSON.stringify({ a: { b: 1 } }, null, 2)
    .split('\n')
    .slice(0, 3)
    .join('\n');
  expect(values(`${cut}\n${JSON.stringify({ c: { d: 2 } }, null, 2)}`)).toEqual([{ c: { d: 2 } }]);
});

it('a text of openings without an end is given up, not searched again for each line', () => {
  const lines = Array.from({ length: 20_000 }, () => '{"a": [');
  let parsed = 0;
  jsonSequence(lines, (text) => {
    parsed += 1;
    return isJson(text);
  });
  expect(parsed).toBeLessThan(10);
});

it("what JavaScript's console exporter prints is refused by name, with what to do", () => {
  const text = `{
  resource: {
    attributes: { 'service.name': 'x' }
  },
  instrumentationScope: { name: 'x', version: undefined },
  traceId: '${'ab'.repeat(16)}',
  id: '${'cd'.repeat(8)}',
  attributes: [Object]
}`;
  expect(() => readSessions({ text, source: 'out.txt' })).toThrow(
    /ConsoleSpanExporter for JavaScript.*OTLP\/JSON/s,
  );
});

it("a line of Java's exporter is one resource's spans without the request around it", () => {
  const span = {
    traceId: 'ab'.repeat(16),
    spanId: 'cd'.repeat(8),
    name: 'chat m',
    startTimeUnixNano: '1770000000000000000',
    attributes: [{ key: 'gen_ai.operation.name', value: { stringValue: 'chat' } }],
  };
  const text = JSON.stringify({
    resource: { attributes: [] },
    scopeSpans: [{ scope: { name: 's' }, spans: [span] }],
  });
  expect(readSessions({ text, source: 'java.jsonl' }).sessions).toMatchObject([
    { format: 'otlp-json', traces: [{ spans: [{ kind: 'inference' }] }] },
  ]);
});
