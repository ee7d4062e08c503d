/** The first ones are written session by session, the others when all sessions are there. */
export const EACH = ['text', 'json', 'ndjson', 'md', 'github', 'strands', 'otel'] as const;
export const WHOLE = ['html', 'junit', 'sarif', 'strands-cases', 'promptfoo'] as const;
export const FORMATS = [...EACH, ...WHOLE] as const;
export type Format = (typeof FORMATS)[number];
