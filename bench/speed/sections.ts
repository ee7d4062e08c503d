import { lambdaSteps } from '../../scripts/lambda-bundles.ts';
import { chunkedDiagnosisSection } from './chunked-diagnosis.ts';
import { coldImportsSection } from './cold-imports.ts';
import { ingestSection } from './ingest.ts';
import { planningSection } from './planning.ts';
import { promptTokensSection } from './prompt-tokens.ts';
import type { SpeedSection } from './section.ts';
import { stateMachineSection } from './state-machine.ts';
import { tokenRateSection } from './token-rate.ts';

/** In the order of the table. All together stay under ten minutes on two cores. */
export const SPEED_SECTIONS: readonly SpeedSection[] = [
  tokenRateSection,
  planningSection([1_000, 3_000, 10_000, 30_000, 100_000], 3),
  promptTokensSection,
  coldImportsSection(lambdaSteps(), 5),
  ingestSection([1_000, 3_000, 10_000]),
  chunkedDiagnosisSection({ spans: [30, 60, 120, 240, 480, 960], latencyMs: 200 }),
  stateMachineSection({ spans: 400, contextTokens: [200_000, 24_000, 16_000, 12_000, 9_000], runs: 5 }),
];
