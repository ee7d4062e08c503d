/** The spans that an answer may speak of: those that were shown, under the short names they were shown with. */
export interface KnownSpans {
  /** Alias as rendered → span id. */
  readonly aliases: ReadonlyMap<string, string>;
}

export type ResolvedSpan =
  | { readonly spanId: string; readonly how: 'exact' | 'repaired' }
  | { readonly spanId: null; readonly reason: string };

const DECORATION = /^(?:span|step|id|message)?[\s:#=@[\]()<>"'`]+|[\s[\]()<>"'`.,;:]+$/giu;
/** A prefix shorter than this says nothing about a hexadecimal span id. */
const MIN_PREFIX = 6;
const MAX_ID = 300;
const HEX = /^[0-9a-f]+$/u;

/**
 * Ties what a model called a span to a span that it was shown. A near miss (decoration, letter case, a bare number
 * for an alias, the beginning of a long id) is repaired when exactly one span fits; anything else is unknown.
 */
export function resolveSpan(said: string, known: KnownSpans): ResolvedSpan {
  const exact = known.aliases.get(said);
  if (exact !== undefined) return { spanId: exact, how: 'exact' };
  const ids = new Set(known.aliases.values());
  if (ids.has(said)) return { spanId: said, how: 'exact' };

  const bare = said.slice(0, MAX_ID).replace(DECORATION, '').toLowerCase();
  if (bare === '') return { spanId: null, reason: 'no span id given' };
  const matches = (test: (alias: string, id: string) => boolean): string[] => [
    ...new Set([...known.aliases].filter(([alias, id]) => test(alias, id)).map(([, id]) => id)),
  ];
  const rules: readonly ((alias: string, id: string) => boolean)[] = [
    (alias, id) => alias.toLowerCase() === bare || id.toLowerCase() === bare,
    (alias) => /^\d+$/u.test(bare) && alias.toLowerCase().replace(/^[a-z]+/u, '') === bare,
    (alias, id) =>
      bare.split(/[\s,:|/]+/u).some((word) => word === alias.toLowerCase() || word === id.toLowerCase()),
    // Only of hexadecimal ids: `message-1` may begin `message-12` and is yet another message.
    (_, id) => bare.length >= MIN_PREFIX && HEX.test(bare) && HEX.test(id) && id.startsWith(bare),
  ];
  for (const rule of rules) {
    const found = matches(rule);
    if (found.length === 1 && found[0] !== undefined) return { spanId: found[0], how: 'repaired' };
    if (found.length > 1) return { spanId: null, reason: `span id fits ${found.length} spans` };
  }
  return { spanId: null, reason: 'span id was not among the spans shown' };
}
