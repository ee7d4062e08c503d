import type { Container } from '../format.ts';

/** Every way in which telemetry is packed, in the order the registry should try them on equal sureness. */
export const CONTAINERS: readonly Container[] = [];
