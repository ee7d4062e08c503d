import type { Container } from '../format.ts';
import { attributeBag } from './attribute-bag.ts';
import { flatRecords } from './flat-records.ts';
import { otlpJson } from './otlp-json.ts';
import { spanList } from './span-list.ts';

/** Every way in which telemetry is packed, in the order the registry should try them on equal sureness. */
export const CONTAINERS: readonly Container[] = [otlpJson, flatRecords, spanList, attributeBag];
