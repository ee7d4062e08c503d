/** Merges sequences, each of which is newest first, into one. Asks each for no more than it gives out, and one. */
export async function* newestFirst<T>(
  sources: readonly AsyncGenerator<T>[],
  keyOf: (item: T) => string,
): AsyncGenerator<T> {
  const open = await Promise.all(sources.map(async (source) => ({ source, next: await source.next() })));
  for (;;) {
    let best: (typeof open)[number] | null = null;
    for (const entry of open) {
      if (entry.next.done === true) continue;
      if (best === null || best.next.done === true || keyOf(entry.next.value) > keyOf(best.next.value))
        best = entry;
    }
    if (best === null || best.next.done === true) return;
    yield best.next.value;
    best.next = await best.source.next();
  }
}
