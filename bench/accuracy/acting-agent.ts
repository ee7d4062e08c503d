import type { Step } from '../../core/trajectory/trajectory.ts';

/**
 * Who acts at a step in the words of the labels: its agent's name, else, in logs of a single agent, "User" for what
 * the user says and "Assistant" for the rest.
 */
export function actingAgent(step: Step): string {
  if (step.agent !== null) return step.agent;
  return step.kind === 'message' && step.parts.every((part) => part.role === 'user') ? 'User' : 'Assistant';
}
