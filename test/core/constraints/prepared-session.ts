import { runChecks } from '../../../core/checks/registry.ts';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../../../core/diagnosis/options.ts';
import type { Prepared } from '../../../core/diagnosis/stages.ts';
import { chunkSettings } from '../../../core/planning/chunk-settings.ts';
import { planChunks } from '../../../core/planning/plan-chunks.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import type { Session } from '../../../core/session/session.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import { inference, message, said, session, tool, use } from '../../helpers/build-session.ts';

export const counter = makeTokenCounter();

/** What Preflight gives for a session, at depth deep unless said otherwise. */
export function preparedSession(of: Session, options: Partial<DiagnosisOptions> = {}): Prepared {
  const trajectory = toTrajectory(of);
  const settings = chunkSettings({ contextTokens: 200_000, maxOutputTokens: 8_000, tokenFactor: 1 }, 3_000);
  return {
    session: of,
    sessionHash: 'a'.repeat(64),
    options: { ...DEFAULT_OPTIONS, depth: 'deep', ...options },
    modelSpec: 'scripted',
    checks: runChecks(trajectory),
    plan: planChunks(trajectory, counter, settings),
    notAnalysed: null,
  };
}

const OPENING = {
  systemPrompt: 'Look at an order before you refund it. Never refund more than its total.',
  tools: [
    { name: 'get_order', parameters: { type: 'object', properties: { id: { type: 'string' } } } },
    { name: 'refund', parameters: { type: 'object', properties: { amount: { type: 'number' } } } },
  ],
};

/** A refund of 50 on an order of 30, promised and confirmed in words. span-2 is the refund's call. */
export function refundSession(): Session {
  return session(
    [
      inference(
        [message('user', 'Refund order W77, please.')],
        [message('assistant', use('c1', 'get_order', { id: 'W77' }))],
        OPENING,
      ),
      tool('c1', 'get_order', { id: 'W77' }, '{"id":"W77","total":30}'),
      inference([], [message('assistant', use('c2', 'refund', { id: 'W77', amount: 50 }))]),
      tool('c2', 'refund', { id: 'W77', amount: 50 }, 'ok'),
      said(message('assistant', 'I refunded 30 to your card.')),
    ],
    { goal: 'Refund order W77, please.' },
  );
}
