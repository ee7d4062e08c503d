import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { readAnswer, sortItems } from '../../../core/model/read-answer.ts';

const schema = z.object({
  failures: z.array(
    z.object({ span: z.string(), confidence: z.enum(['low', 'high']), recovered: z.boolean() }),
  ),
});
const value = { failures: [{ span: 's1', confidence: 'high' as const, recovered: true }] };
const json = JSON.stringify(value);
const python = "{'failures': [{'span': 's1', 'confidence': 'high', 'recovered': True}]}";

describe('an answer that still says what was asked is read', () => {
  it.each([
    ['plain', json],
    ['indented', JSON.stringify(value, null, 2)],
    ['with a byte order mark', `\uFEFF${json}`],
    ['fenced with a language', `\`\`\`json\n${json}\n\`\`\``],
    ['fenced without a language', `\`\`\`\n${json}\n\`\`\``],
    ['prefixed with a sentence', `Sure! Here is what I found:\n${json}`],
    ['followed by a sentence', `${json}\nLet me know if you need more.`],
    ['prose around a fence', `I looked at the log [part 1.\n\`\`\`json\n${json}\n\`\`\`\nThat is all.`],
    ['fence never closed', `\`\`\`json\n${json}`],
    ['Python literals and single quotes', python],
    ['single quotes with an apostrophe inside', python.replace('s1', "it's s1")],
    ['single quotes with an apostrophe and a bracket inside', python.replace('s1', "it's [s1")],
    ['prefixed Python', `Answer: ${python}`],
    ['trailing commas', '{"failures": [{"span": "s1", "confidence": "high", "recovered": true,},],}'],
    ['a comment', `{"failures": [ // only one\n${JSON.stringify(value.failures[0])}]}`],
    ['a raw line break in a string', json.replace('s1', 's\n1')],
    ['JSON in a JSON string', JSON.stringify(json)],
    ['after its thoughts', `<think>maybe {"failures": []}?</think>${json}`],
    ['after a draft', `First idea: {"failures": []}\nBut the tool failed, so:\n${json}`],
    ['brackets inside a string', json.replace('s1', 's}]1{')],
    ['a fence inside a string', `\`\`\`json\n${json.replace('s1', '```x```')}\n\`\`\``],
    ['another object before it', `Given {"type":"object"}: ${json}`],
  ])('%s', (_, text) => {
    const result = readAnswer(text, schema);
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && result.value.failures).toHaveLength(1);
  });
});

describe('an answer that cannot be used says why', () => {
  it.each([
    ['empty', '', 'empty'],
    ['blank', ' \n\t', 'empty'],
    ['only thoughts', '<think>hm', 'empty'],
    ['cut inside a list', json.slice(0, -10), 'cut'],
    ['cut after a whole item', '{"failures": [{"span":"s1","confidence":"high","recovered":true}', 'cut'],
    ['cut inside a fence', `\`\`\`json\n${json.slice(0, -3)}\n\`\`\``, 'cut'],
    ['cut Python', python.slice(0, -2), 'cut'],
    ['cut after a whole draft', `Draft: {"failures": []}\nFinal: ${json.slice(0, -2)}`, 'cut'],
    ['refused', "I'm sorry, but I can't help with that.", 'refused'],
    ['prose', 'The agent did everything right, there is nothing to report.', 'prose'],
    ['wrong type', json.replace('true', '"yes"'), 'wrong-shape'],
    ['unknown word', json.replace('high', 'certain'), 'wrong-shape'],
    ['a list instead of an object', JSON.stringify(value.failures), 'wrong-shape'],
    ['null', 'null', 'wrong-shape'],
    ['an empty object', '{}', 'wrong-shape'],
    ['a bare string', '"no failures"', 'wrong-shape'],
    ['an empty list in prose', 'I found no failures: [] at all', 'prose'],
    ['a key that reaches for the prototype', `{"__proto__": {"failures": []}, "failures": []}`, 'not-json'],
    ['brackets that hold no JSON', 'see {"a" : : {}} there', 'not-json'],
  ])('%s', (_, text, defect) => {
    const result = readAnswer(text, schema);
    expect(result).toMatchObject({ ok: false, defect });
    expect(!result.ok && result.detail).not.toBe('');
  });
});

describe('a schema that takes any list', () => {
  const anyList = z.union([z.array(z.unknown()), z.looseObject({})]);

  it.each(['The tool returned [] and the agent went on.', 'As shown in [1] and [2, 3].', 'It got {} back.'])(
    'does not take a quotation for the answer: %s',
    (text) => {
      expect(readAnswer(text, anyList)).toMatchObject({ ok: false, defect: 'prose' });
    },
  );

  it.each(['[]', '```json\n[]\n```', 'Found: [{"a":1}]'])('takes what is meant as a value: %s', (text) => {
    expect(readAnswer(text, anyList).ok).toBe(true);
  });
});

const harmless = (key: string) => !['__proto__', 'constructor', 'prototype'].includes(key);
const jsonValue = fc
  .jsonValue()
  .filter((value) => !/"(?:__proto__|constructor|prototype)":/.test(JSON.stringify(value)));

describe('laws', () => {
  it('a cut answer never reads as a shorter list, wherever it is cut', () => {
    const long = { failures: Array.from({ length: 4 }, (_, i) => ({ ...value.failures[0], span: `s${i}` })) };
    const text = JSON.stringify(long, null, 1);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: text.length - 1 }),
        fc.constantFrom('', '```json\n', 'So: '),
        (end, before) => {
          expect(readAnswer(before + text.slice(0, end), schema).ok).toBe(false);
        },
      ),
    );
  });

  it('any JSON value survives fences and prose', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string().filter(harmless), jsonValue), (object) => {
        const text = `Here:\n\`\`\`json\n${JSON.stringify(object)}\n\`\`\`\nDone.`;
        const result = readAnswer(text, z.looseObject({}));
        const expected: unknown = JSON.parse(JSON.stringify(object));
        expect(result).toEqual({ ok: true, value: expected });
      }),
    );
  });

  it('a long answer is read, and repaired, like a short one', () => {
    const span = 'x'.repeat(100_000);
    const long = JSON.stringify({ failures: [{ ...value.failures[0], span }] });
    expect(readAnswer(`Here: ${long}`, schema).ok).toBe(true);
    expect(readAnswer(long.replace('}]}', '},]}'), schema).ok).toBe(true);
  });

  it('nothing makes it throw', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('{', '[', '"', "'", ',', ':', '}', ']', '\\', '`', '\n', 'a', '1'),
        }),
        (text) => {
          readAnswer(text, schema);
        },
      ),
    );
    for (const unit of ['[', '{"a":', '"', "'", '```\n', '\\', "{'a':", '[]', '{} ']) {
      expect(readAnswer(unit.repeat(100_000), schema).ok).toBe(false);
    }
    expect(readAnswer(`${'['.repeat(50_000)}'${']'.repeat(50_000)}`, schema).ok).toBe(false);
  });
});

describe('items one by one', () => {
  it('keeps the valid ones and names what is wrong with the others', () => {
    const item = z.object({ n: z.number() });
    expect(sortItems([{ n: 1 }, { n: 'x' }, null, { n: 2 }], item)).toEqual({
      valid: [{ n: 1 }, { n: 2 }],
      invalid: [
        { index: 1, item: { n: 'x' }, reason: expect.stringContaining('at n:') },
        { index: 2, item: null, reason: expect.stringContaining('the top') },
      ],
    });
  });
});
