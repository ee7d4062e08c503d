let state = 1;

export const reseed = (seed: number): void => {
  state = seed;
};

/** 0 to below `limit`, the same sequence in each run (Lehmer's generator, modulus 2^31 - 1). */
export function randomInt(limit: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return state % limit;
}
