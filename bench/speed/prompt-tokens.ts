import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { measurePromptTokens } from '../corpus/prompt-tokens.ts';
import { readCorpora } from '../corpus/read-corpus.ts';
import type { SpeedSection } from './section.ts';

export const promptTokensSection: SpeedSection = {
  id: 'prompt-tokens',
  title: 'Prompt tokens against the same spans as indented Strands JSON',
  needsCorpus: true,
  run({ corpusPath }) {
    const rows = measurePromptTokens(readCorpora(corpusPath), makeTokenCounter());
    return {
      figures: rows.flatMap(({ dataset, ours, strandsJson, share }) => [
        { name: `${dataset}: rendering`, value: ours, unit: 'tokens', better: 'lower' as const },
        { name: `${dataset}: Strands JSON`, value: strandsJson, unit: 'tokens', better: 'same' as const },
        { name: `${dataset}: share`, value: share * 100, unit: '%', better: 'lower' as const },
      ]),
    };
  },
};
