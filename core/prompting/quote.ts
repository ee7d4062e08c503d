const squeeze = (value: string): string => value.replace(/\s+/gu, '');

/**
 * Tells whether a quote stands in a text, white space aside (prompts write JSON without any, models put it back). A quote shortened with an ellipsis is looked for piece
 * by piece, in order.
 */
export function makeQuoteCheck(shown: string): (quote: string) => boolean {
  const text = squeeze(shown);
  return (quote) => {
    const pieces = squeeze(quote)
      .split(/…|\.\.\./u)
      .filter((piece) => piece !== '');
    if (pieces.length === 0) return false;
    let from = 0;
    for (const piece of pieces) {
      const at = text.indexOf(piece, from);
      if (at < 0) return false;
      from = at + piece.length;
    }
    return true;
  };
}

const BRACKETED = /\[@?([^[\]\s]{1,200})\]/gu;

/** A model's sentences speak of [s12]; what is kept speaks of span ids, since aliases end with the prompt. */
export function aliasesToIds(text: string, aliases: ReadonlyMap<string, string>): string {
  return text.replace(BRACKETED, (whole, name: string) => {
    const id = aliases.get(name);
    return id === undefined ? whole : `[${id}]`;
  });
}

/** The way back, for handing earlier findings to a prompt. */
export function idsToAliases(text: string, aliasOf: ReadonlyMap<string, string>): string {
  return text.replace(BRACKETED, (whole, id: string) => {
    const alias = aliasOf.get(id);
    return alias === undefined ? whole : `[${alias}]`;
  });
}
