import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { writeAnswerSchema } from '../../../core/model/answer-schema.ts';

describe('the schema that a model is sent', () => {
  it('is closed, all-required and free of keywords that servers refuse', () => {
    const schema = z.object({
      type: z.enum(['a', 'b']).describe('which'),
      items: z.array(z.object({ n: z.int().min(1).max(9), text: z.string().min(1).max(10) })).max(5),
      note: z.string().nullable(),
    });
    expect(writeAnswerSchema('x', 'an x', schema)).toEqual({
      name: 'x',
      description: 'an x',
      schema: {
        type: 'object',
        additionalProperties: false,
        required: ['type', 'items', 'note'],
        properties: {
          type: { type: 'string', enum: ['a', 'b'], description: 'which' },
          items: {
            type: 'array',
            items: {
              type: 'object',
              additionalProperties: false,
              required: ['n', 'text'],
              properties: { n: { type: 'integer' }, text: { type: 'string' } },
            },
          },
          note: { type: ['string', 'null'] },
        },
      },
    });
  });

  it('refuses optional properties and recursion, which are mistakes of ours', () => {
    expect(() => writeAnswerSchema('x', 'x', z.object({ a: z.string().optional() }))).toThrow(
      'make a required',
    );
    const tree: z.ZodType = z.object({
      get children() {
        return z.array(tree);
      },
    });
    expect(() => writeAnswerSchema('x', 'x', tree)).toThrow('refers to itself');
  });
});
