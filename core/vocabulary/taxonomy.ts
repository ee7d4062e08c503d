/**
 * The failure taxonomy: 33 leaves in 10 parents, plus `other`. An id is `<parent>-category-<leaf>`.
 * Ids are those of the Strands Evals detectors, byte for byte, so that results move both ways; the
 * definitions are ours.
 */
export const TAXONOMY_VERSION = '1';

export interface CategoryDefinition {
  readonly id: string;
  readonly parent: string;
  readonly meaning: string;
}

export const TAXONOMY = [
  {
    id: 'execution-error-category-authentication',
    parent: 'execution-error',
    meaning: 'access refused: 401/403, bad or expired credential, missing permission',
  },
  {
    id: 'execution-error-category-resource-not-found',
    parent: 'execution-error',
    meaning: 'the thing addressed does not exist: 404, no such file, unknown id',
  },
  {
    id: 'execution-error-category-service-errors',
    parent: 'execution-error',
    meaning: 'the upstream failed: 5xx, outage, internal error',
  },
  {
    id: 'execution-error-category-rate-limiting',
    parent: 'execution-error',
    meaning: 'too many requests, quota used up: 429',
  },
  {
    id: 'execution-error-category-formatting',
    parent: 'execution-error',
    meaning: 'output that breaks the required syntax or structure (cut JSON, bad SQL)',
  },
  { id: 'execution-error-category-timeout', parent: 'execution-error', meaning: 'a time limit ran out' },
  {
    id: 'execution-error-category-resource-exhaustion',
    parent: 'execution-error',
    meaning: 'memory, disk, CPU or another capacity ran out',
  },
  {
    id: 'execution-error-category-environment',
    parent: 'execution-error',
    meaning: 'set-up missing or wrong: variable, configuration file, permission of the host',
  },
  {
    id: 'execution-error-category-tool-schema',
    parent: 'execution-error',
    meaning: "arguments or results that do not match the tool's schema",
  },
  {
    id: 'task-instruction-category-non-compliance',
    parent: 'task-instruction',
    meaning: 'an explicit instruction of user, policy or system prompt was not followed',
  },
  {
    id: 'task-instruction-category-problem-id',
    parent: 'task-instruction',
    meaning: 'right goal, wrong idea of how to reach it',
  },
  {
    id: 'incorrect-actions-category-tool-selection',
    parent: 'incorrect-actions',
    meaning: 'a wrong existing tool was used though a better one was available',
  },
  {
    id: 'incorrect-actions-category-poor-information-retrieval',
    parent: 'incorrect-actions',
    meaning: 'right tool, poor query or parameters',
  },
  {
    id: 'incorrect-actions-category-clarification',
    parent: 'incorrect-actions',
    meaning: 'went ahead though needed information was missing or ambiguous',
  },
  {
    id: 'incorrect-actions-category-inappropriate-info-request',
    parent: 'incorrect-actions',
    meaning: 'asked the user for what a tool could give, or for what the task does not need',
  },
  {
    id: 'context-handling-error-category-context-handling-failures',
    parent: 'context-handling-error',
    meaning: 'recent context lost, or the conversation restarted',
  },
  {
    id: 'hallucination-category-hall-capabilities',
    parent: 'hallucination',
    meaning: 'claims or calls a capability or tool that does not exist',
  },
  {
    id: 'hallucination-category-hall-misunderstand',
    parent: 'hallucination',
    meaning: 'misreads a valid tool result',
  },
  {
    id: 'hallucination-category-hall-usage',
    parent: 'hallucination',
    meaning: 'claims to have used a tool that was not used',
  },
  {
    id: 'hallucination-category-hall-history',
    parent: 'hallucination',
    meaning: 'refers to something never said',
  },
  {
    id: 'hallucination-category-hall-params',
    parent: 'hallucination',
    meaning: 'parameter values that contradict what is established',
  },
  {
    id: 'hallucination-category-fabricate-tool-outputs',
    parent: 'hallucination',
    meaning: "invents a tool's result",
  },
  {
    id: 'repetitive-behavior-category-repetition-tool',
    parent: 'repetitive-behavior',
    meaning: 'the same call with the same arguments again, unjustified',
  },
  {
    id: 'repetitive-behavior-category-repetition-info',
    parent: 'repetitive-behavior',
    meaning: 'asks the user again for what was given',
  },
  {
    id: 'repetitive-behavior-category-step-repetition',
    parent: 'repetitive-behavior',
    meaning: 'repeats workflow steps without progress',
  },
  {
    id: 'orchestration-related-errors-category-reasoning-mismatch',
    parent: 'orchestration-related-errors',
    meaning: 'does other than what it said it would',
  },
  {
    id: 'orchestration-related-errors-category-goal-deviation',
    parent: 'orchestration-related-errors',
    meaning: "drifts from the user's objective",
  },
  {
    id: 'orchestration-related-errors-category-premature-termination',
    parent: 'orchestration-related-errors',
    meaning: 'ends before the necessary steps are done',
  },
  {
    id: 'orchestration-related-errors-category-unaware-termination',
    parent: 'orchestration-related-errors',
    meaning: 'does not notice that it is done, or goes on past the end',
  },
  {
    id: 'llm-output-category-nonsensical',
    parent: 'llm-output',
    meaning: 'leaks internals or placeholders, malformed or endless output',
  },
  {
    id: 'configuration-mismatch-category-tool-definition',
    parent: 'configuration-mismatch',
    meaning: 'the tool does not do what its definition says',
  },
  {
    id: 'coding-use-case-specific-failure-types-category-edge-case-oversights',
    parent: 'coding-use-case-specific-failure-types',
    meaning: 'generated code misses boundary or unusual inputs',
  },
  {
    id: 'coding-use-case-specific-failure-types-category-dependency-issues',
    parent: 'coding-use-case-specific-failure-types',
    meaning: 'generated code mishandles imports or libraries',
  },
  { id: 'other', parent: 'other', meaning: 'a failure that none of the above describes' },
] as const satisfies readonly CategoryDefinition[];

export type CategoryId = (typeof TAXONOMY)[number]['id'];

export const CATEGORY_IDS: readonly CategoryId[] = TAXONOMY.map((entry) => entry.id);
