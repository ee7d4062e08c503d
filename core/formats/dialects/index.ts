import type { Dialect } from '../format.ts';

/** Every dialect of span content. The highest claim on a span reads it. */
export const DIALECTS: readonly Dialect[] = [];
