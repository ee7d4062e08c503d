import type { Session } from '../../../core/session/session.ts';
import { inference, message, said, session, tool } from '../../helpers/build-session.ts';

/** A refund that goes wrong at span-4: the amount is not the one that the tool gave. Aliases are s0 to s4. */
export function refundSession(): Session {
  return session([
    said(message('user', 'Refund booking B-17 to my card please.')),
    inference([], [message('assistant', 'I will look up the booking.')]),
    tool('c1', 'get_booking', { id: 'B-17' }, '{"price": 120, "card": "ends in 4411"}'),
    inference([], [message('assistant', 'I have refunded 210 dollars to your card.')]),
    said(message('user', 'Thanks.')),
  ]);
}

export const NOTHING = { failures: [] };

export const FOUND = {
  failures: [
    {
      span: 's3',
      category: 'hallucination-category-hall-misunderstand',
      confidence: 'high',
      quote: 'I have refunded 210 dollars',
      why: 'The tool said 120 at [s2].',
    },
  ],
};

export const EXPLAINED = {
  analysis: 'The amount is wrong and nobody puts it right.',
  criticalSteps: [
    {
      span: 's3',
      category: 'misinterpretation',
      confidence: 'high',
      reason: 'It reads 120 at [s2] as 210.',
      evidence: [{ span: 's2', quote: '"price": 120', note: 'the true price' }],
    },
  ],
  rootCauses: [
    {
      failure: 's3',
      location: 's3',
      causality: 'PRIMARY_FAILURE',
      impact: ['QUALITY_DEGRADATION'],
      timing: 'SILENT_UNDETECTED',
      explanation: 'The agent stated another amount than [s2] gave.',
      fixType: 'SYSTEM_PROMPT_FIX',
      fix: 'Have the agent repeat the amount from the tool result.',
    },
  ],
  completion: 'COMPLETE_FAILURE',
};
