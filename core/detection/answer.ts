import type { AnswerSchema } from '../model/port.ts';

/**
 * What detection asks for. Static and closed, so that a provider compiles it once. The category is a plain string
 * because the taxonomy can be replaced, and because one unknown id must not cost the whole answer: `salvage.ts`
 * checks each item.
 */
export const DETECTION_ANSWER: AnswerSchema = {
  name: 'report_failures',
  description: 'The failures found in the run, one entry for each pair of span and category.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['failures'],
    properties: {
      failures: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['span', 'category', 'confidence', 'quote', 'why', 'recovered', 'recoveredBy'],
          properties: {
            span: { type: 'string', description: 'Id of the span, as in the run.' },
            category: { type: 'string', description: 'Category id from the list.' },
            confidence: { type: 'string', enum: ['low', 'medium', 'high'] },
            quote: { type: 'string', description: 'Copied from the span, at most 200 characters.' },
            why: { type: 'string', description: 'What the quote shows, in one sentence.' },
            recovered: { type: 'string', enum: ['yes', 'no', 'unknown'] },
            recoveredBy: { type: 'string', description: 'Id of the span that put it right; else empty.' },
          },
        },
      },
    },
  },
};
