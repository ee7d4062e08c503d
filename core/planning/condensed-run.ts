import { makeStepRenderer } from '../prompting/render-steps.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import type { TokenCounter } from './tokens/counter.ts';

/** The run as a prompt shows it, and the names in it. */
export interface ShownRun {
  readonly text: string;
  /** Alias as rendered → span id, of all spans. */
  readonly aliases: ReadonlyMap<string, string>;
  readonly tokens: number;
}

/** Characters that a far step may take, tried from most to least. */
const FAR = [1_600, 900, 500, 280, 160, 90] as const;

/**
 * Steps near to what is asked in full, the others shortened in their middle until the whole fits. Shortening is
 * marked with the number of characters left out; no step disappears. When even the shortest form does not fit it is
 * returned as it is, and the caller splits.
 */
export function condenseRun(
  trajectory: Trajectory,
  near: ReadonlySet<number>,
  limitTokens: number,
  counter: TokenCounter,
  systemPromptAbove: boolean,
): ShownRun {
  const renderer = makeStepRenderer(trajectory, { systemPromptAbove });
  const rendered = trajectory.steps.map(({ index }) => renderer.render(index));
  const aliases = new Map(trajectory.steps.map((step) => [renderer.aliases.of(step.index), step.spanId]));
  let shown: ShownRun | null = null;
  for (const far of [Number.POSITIVE_INFINITY, ...FAR]) {
    const text = rendered.map((step, index) => (near.has(index) ? step : shorten(step, far))).join('\n');
    if (shown !== null && text === shown.text) continue;
    shown = { text, aliases, tokens: counter.count(text) };
    if (shown.tokens <= limitTokens) return shown;
  }
  return shown ?? { text: '', aliases, tokens: 0 };
}

/** Beginning and end of a text, two to one, with the length of what is left out between them. */
export function shorten(text: string, characters: number): string {
  if (text.length <= characters + 40) return text;
  const head = text.slice(0, Math.ceil((characters * 2) / 3)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(characters / 3)).toWellFormed();
  return `${head} […${text.length - head.length - tail.length} characters left out…] ${tail}`;
}
