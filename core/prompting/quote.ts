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

/** One name in brackets, or several: [s12], [@s12, s14]. */
const BRACKETED = /\[([^[\]\n]{1,400})\]/gu;
const NAME = /[^\s,;@][^\s,;]{0,200}/gu;

/** Writes names in brackets anew where all of them are known: a bracket may hold other things. */
function rename(text: string, names: ReadonlyMap<string, string>): string {
  return text.replace(BRACKETED, (whole, inside: string) => {
    const found = (inside.match(NAME) ?? []).map((name) => names.get(name));
    return found.length === 0 || found.includes(undefined)
      ? whole
      : found.map((name) => `[${name}]`).join('');
  });
}

/** A model's sentences speak of [s12]; what is kept speaks of span ids, since aliases end with the prompt. */
export function aliasesToIds(text: string, aliases: ReadonlyMap<string, string>): string {
  return rename(text, aliases);
}

/** The way back, for handing earlier findings to a prompt: in the ids of that prompt, also of spans it does not show. */
export function idsToAliases(text: string, aliasOf: ReadonlyMap<string, string>): string {
  return rename(text, aliasOf);
}
