/** `3/4 (75.0 %)`. */
export function share(part: number, whole: number): string {
  return whole === 0 ? '0/0' : `${part}/${whole} (${((100 * part) / whole).toFixed(1)} %)`;
}
