/** Hits among n, with the Wilson score interval at 95 %. */
export interface Rate {
  readonly hits: number;
  readonly n: number;
  /** hits / n; 0 for n = 0. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** Normal quantile for a two-sided 95 % interval. */
const Z = 1.959963984540054;

/** `hits` may be a sum of probabilities (the expectation of a random predictor). For n = 0 the interval is [0, 1]. */
export function rateOf(hits: number, n: number): Rate {
  if (n === 0) return { hits, n, share: 0, low: 0, high: 1 };
  const p = hits / n;
  const centre = p + (Z * Z) / (2 * n);
  const spread = Z * Math.sqrt((p * (1 - p)) / n + (Z * Z) / (4 * n * n));
  const scale = 1 + (Z * Z) / n;
  return {
    hits,
    n,
    share: p,
    low: Math.max(0, (centre - spread) / scale),
    high: Math.min(1, (centre + spread) / scale),
  };
}
