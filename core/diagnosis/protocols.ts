/** How the judge goes about it, after AgentRx: step and category in one answer, or one after the other. */
export const PROTOCOLS = ['all-at-once', 'step-then-category', 'category-then-step'] as const;
export type Protocol = (typeof PROTOCOLS)[number];
