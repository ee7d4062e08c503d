/**
 * Where a quote stands in a text, as [start, end), whatever the white space: quotes are taken from compact JSON or from
 * texts whose lines were folded. `null` when it does not stand there. Linear in the text.
 */
export function findQuote(text: string, quote: string): readonly [number, number] | null {
  const direct = text.indexOf(quote);
  if (quote !== '' && direct !== -1) return [direct, direct + quote.length];
  const wanted = quote.replace(/\s+/gu, '');
  if (wanted === '') return null;
  const places: number[] = [];
  let dense = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (/\s/u.test(char)) continue;
    dense += char;
    places.push(at);
  }
  const found = dense.indexOf(wanted);
  if (found === -1) return null;
  const start = places[found];
  const end = places[found + wanted.length - 1];
  return start === undefined || end === undefined ? null : [start, end + 1];
}

/** The verbatim part of a failure's evidence: checks write `note — "quote"`, a model the quote alone. */
export function quoteIn(evidence: string): string {
  const cut = evidence.indexOf(' — "');
  return cut !== -1 && evidence.endsWith('"') ? evidence.slice(cut + 4, -1) : evidence;
}
