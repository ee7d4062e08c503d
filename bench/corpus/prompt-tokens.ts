import { chunkSettings } from '../../core/planning/chunk-settings.ts';
import { renderWhole } from '../../core/planning/render-chunk.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import type { Corpus } from './read-corpus.ts';
import { strandsJson } from './strands-json.ts';

export interface PromptTokens {
  readonly dataset: string;
  readonly sessions: number;
  readonly ours: number;
  readonly strandsJson: number;
  /** Ours of the reference's, 0–1. */
  readonly share: number;
}

/** Tokens of each data set as we put it into a prompt, against indented JSON in the Strands shape. */
export function measurePromptTokens(corpora: readonly Corpus[], counter: TokenCounter): PromptTokens[] {
  const settings = chunkSettings({ contextTokens: 200_000, maxOutputTokens: 4096, tokenFactor: 1 }, 0);
  return corpora.map(({ name, sessions }) => {
    let ours = 0;
    let theirs = 0;
    for (const session of sessions) {
      ours += counter.count(renderWhole(toTrajectory(session), settings).text);
      theirs += counter.count(strandsJson(session));
    }
    return { dataset: name, sessions: sessions.length, ours, strandsJson: theirs, share: ours / theirs };
  });
}
