import { canonicalJson } from '../base/hash.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import type { AgentText } from './prompt-v2.ts';

/** Longest description and instructions that a prompt shows of an agent: far beyond what public agents have. */
const MAX_DESCRIPTION = 2_000;
const MAX_POLICY = 60_000;

/**
 * Instructions and tools, the same text for every session of an agent: tools in the order of their names, one a
 * line, since telemetry lists them in any order.
 */
export function agentText(trajectory: Trajectory): AgentText {
  const tools = trajectory.tools
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description, parameters }) => {
      const about = (description ?? '').replace(/\s+/g, ' ').slice(0, MAX_DESCRIPTION);
      return `${JSON.stringify(name)} ${about} ${parameters === undefined ? '(arguments not recorded)' : canonicalJson(parameters)}`;
    });
  const policy = trajectory.systemPrompt ?? '';
  return {
    policy:
      policy.length > MAX_POLICY
        ? `${policy.slice(0, MAX_POLICY)} [… cut, ${policy.length} characters in all]`
        : policy,
    tools: tools.join('\n'),
  };
}
