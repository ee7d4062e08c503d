/** A straight line through points by least squares. */
export interface Line {
  readonly slope: number;
  readonly intercept: number;
}

/** RangeError for fewer than two different x: there is no line through a single point. */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): Line {
  const mean = (pick: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [meanX, meanY] = [mean(([x]) => x), mean(([, y]) => y)];
  const spread = mean(([x]) => (x - meanX) ** 2);
  if (points.length < 2 || spread === 0) throw new RangeError('a line needs points at two different x');
  const slope = mean(([x, y]) => (x - meanX) * (y - meanY)) / spread;
  return { slope, intercept: meanY - slope * meanX };
}

/** Exponent k of y ~ x^k, fitted on logarithms: 1 is linear, 2 quadratic. x and y are above 0. */
export function growthExponent(points: readonly (readonly [x: number, y: number])[]): number {
  return fitLine(points.map(([x, y]) => [Math.log(x), Math.log(y)] as const)).slope;
}
