import type { Usage } from './port.ts';

/** One model call, for provenance and the bill. */
export interface CallRecord {
  readonly purpose: string;
  readonly promptVersion: string;
  readonly requestHash: string;
  readonly model: string;
  readonly outputMode: string;
  readonly cached: boolean;
  readonly durationMs: number;
  readonly usage: Usage;
}
