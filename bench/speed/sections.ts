import { planningSection } from './planning.ts';
import { promptTokensSection } from './prompt-tokens.ts';
import type { SpeedSection } from './section.ts';
import { tokenRateSection } from './token-rate.ts';

export const SPEED_SECTIONS: readonly SpeedSection[] = [
  tokenRateSection,
  planningSection,
  promptTokensSection,
];
