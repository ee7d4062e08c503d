import type { JsonObject } from '../../base/json.ts';
import { CRITICAL_CATEGORIES } from '../../vocabulary/critical-categories.ts';

/**
 * The judge's part of an answer. A list instead of one nullable step: the first entry is the critical step, the
 * others the next likeliest, and an empty list says that there is none.
 */
export const CRITICAL_STEPS_SCHEMA: JsonObject = {
  type: 'array',
  description:
    'The critical step first, then up to three other candidates, likeliest first. Empty if there is none.',
  items: {
    type: 'object',
    additionalProperties: false,
    required: ['span', 'category', 'confidence', 'reason', 'evidence'],
    properties: {
      span: { type: 'string', description: 'Id of the span, as in the run.' },
      category: { type: 'string', enum: [...CRITICAL_CATEGORIES] },
      confidence: { type: 'string', enum: ['low', 'medium', 'high'] },
      reason: {
        type: 'string',
        description: 'Why this step lost the run and why the criteria hold.',
      },
      evidence: {
        type: 'array',
        description: 'Up to four spans that prove it.',
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['span', 'quote', 'note'],
          properties: {
            span: { type: 'string' },
            quote: { type: 'string', description: 'Copied from the span, at most 200 characters.' },
            note: { type: 'string' },
          },
        },
      },
    },
  },
};
