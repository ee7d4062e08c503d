import type { ModelRequest } from '../../core/model/port.ts';

/** A small request; the tests change what they are about. */
export function sampleRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    purpose: 'analyze-chunks',
    promptVersion: 'detect-1',
    user: [{ text: 'What went wrong in this session?' }],
    answer: {
      name: 'verdict',
      description: 'one verdict',
      schema: {
        type: 'object',
        properties: { ok: { type: 'boolean' } },
        required: ['ok'],
        additionalProperties: false,
      },
    },
    maxOutputTokens: 500,
    ...changes,
  };
}
