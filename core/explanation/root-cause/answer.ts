import type { AnswerSchema } from '../../model/port.ts';
import { CRITICAL_STEPS_SCHEMA } from '../critical-step/answer.ts';

export const CAUSALITIES = ['PRIMARY_FAILURE', 'SECONDARY_FAILURE', 'TERTIARY_FAILURE', 'UNCLEAR'] as const;
export const IMPACTS = [
  'TASK_TERMINATION',
  'QUALITY_DEGRADATION',
  'INCORRECT_PATH',
  'STATE_CORRUPTION',
  'NO_PROPAGATION',
  'UNCLEAR',
] as const;
export const TIMINGS = [
  'IMMEDIATELY_AT_OCCURRENCE',
  'SEVERAL_STEPS_LATER',
  'ONLY_AT_TASK_END',
  'SILENT_UNDETECTED',
] as const;
export const COMPLETIONS = ['COMPLETE_SUCCESS', 'PARTIAL_SUCCESS', 'COMPLETE_FAILURE', 'UNKNOWN'] as const;
export const FIX_TYPES = ['SYSTEM_PROMPT_FIX', 'TOOL_DESCRIPTION_FIX', 'OTHERS'] as const;

/** Static and closed. Judge and root causes come in one answer at standard depth: the run is sent once. */
export const EXPLAIN_ANSWER: AnswerSchema = {
  name: 'explain_failures',
  description: 'The critical step of the run and one root cause for each failure.',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['analysis', 'criticalSteps', 'rootCauses', 'completion'],
    properties: {
      analysis: {
        type: 'string',
        description: 'Each failure and whether it was recovered, at most 200 words.',
      },
      criticalSteps: CRITICAL_STEPS_SCHEMA,
      rootCauses: {
        type: 'array',
        items: {
          type: 'object',
          additionalProperties: false,
          required: [
            'failure',
            'category',
            'location',
            'causality',
            'impact',
            'timing',
            'explanation',
            'fixType',
            'fix',
          ],
          properties: {
            failure: { type: 'string', description: 'Id of the failing span.' },
            category: { type: 'string', description: 'Category id of the failure, as in the list.' },
            location: { type: 'string', description: 'Id of the span where the cause lies.' },
            causality: { type: 'string', enum: [...CAUSALITIES] },
            impact: { type: 'array', items: { type: 'string', enum: [...IMPACTS] } },
            timing: { type: 'string', enum: [...TIMINGS] },
            explanation: { type: 'string' },
            fixType: { type: 'string', enum: [...FIX_TYPES] },
            fix: { type: 'string' },
          },
        },
      },
      completion: { type: 'string', enum: [...COMPLETIONS] },
    },
  },
};
