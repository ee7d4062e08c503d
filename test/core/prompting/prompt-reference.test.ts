import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { referToPrompt } from '../../../core/prompting/prompt-reference.ts';

const NOTE = /^the system prompt above with characters (\d+) to (\d+) replaced by$/;

/** What a reader does with the note. */
function apply(prompt: string, note: string, replacement: string | null): string {
  if (replacement === null) return prompt;
  const [, from, to] = NOTE.exec(note)!.map(Number);
  const points = [...prompt];
  return points.slice(0, from).join('') + replacement + points.slice(to).join('');
}

describe('a system prompt told as a change of another', () => {
  const text = fc
    .string({ unit: fc.constantFrom('a', 'b', '😀', '😁', ' '), minLength: 150, maxLength: 300 })
    .map((s) => s.trim());

  test('can be put together again', () => {
    let told = 0;
    fc.assert(
      fc.property(
        text,
        text,
        text,
        fc.string({ maxLength: 8 }),
        fc.string({ maxLength: 8 }),
        (head, tail, odd, a, b) => {
          const prompt = `x${head}${a}${tail}y`;
          const other = a === '' ? odd : `x${head}${b}${tail}y`;
          const reference = referToPrompt(other, prompt);
          if (reference === null) return;
          told++;
          expect(apply(prompt, reference.note, reference.replacement)).toBe(other);
        },
      ),
      { numRuns: 2000 },
    );
    expect(told).toBeGreaterThan(200);
  });

  test('a clock in the prompt costs the clock, another prompt is written out', () => {
    const at = (time: string) => `${'Follow the policy. '.repeat(30)}It is ${time} now.`;
    expect(referToPrompt(at('10:31'), at('09:07'))?.replacement).toBe('10:31');
    expect(referToPrompt(at('09:07'), at('09:07'))?.replacement).toBeNull();
    expect(referToPrompt('You are the reviewer.', at('09:07'))).toBeNull();
  });
});
