/**
 * Text of broken JSON as JSON text, by best effort: single and curly quotes, raw line breaks and control characters,
 * Python and JavaScript literals (NaN and infinities become strings), tuples, bare keys and words, comments, commas
 * too many, or too few after numbers and brackets, quotes inside quotes where what follows shows that they end nothing,
 * closing brackets too many at the end, a text cut off anywhere, whose brackets are closed, and JSON lines, which become
 * a list. `null` when it is none of that. Evaluates nothing, never throws.
 *
 * Ours and not a library's because the text is hostile: jsonrepair 3.15 takes 190 s for 50,000 characters of
 * `"http://a"http://a"…` and more than a minute for 200,000 of `{`. Here every character is read once, with a bounded
 * look ahead.
 */
export function repairJson(text: string): string | null {
  const mender = new Mender(text);
  const values = mender.values();
  if (values === 0) return null;
  return values === 1 ? mender.out.join('') : `[${mender.out.join('')}]`;
}

/** As deep as the readers go (core/reading/decode/decode-json.ts). */
const MAX_DEPTH = 200;
/** White space looked through to see whether a quote ends its string. */
const LOOK_AHEAD = 64;

const SPACE = /(?:[\s\uFEFF]|\/\/[^\n]{0,2000}\n|\/\*[^*]{0,2000}\*\/){1,1000}/y;
const WORD = /[\p{L}\p{N}_$+-][\p{L}\p{N}_$.+-]{0,300}/uy;
const NUMBER = /^-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,10})?$/;
const CLOSING_QUOTES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '\u201c': '\u201d"',
  '\u2018': "\u2019'",
};
const LITERALS: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['True', 'true'],
  ['false', 'false'],
  ['False', 'false'],
  ['null', 'null'],
  ['None', 'null'],
  ['undefined', 'null'],
]);

class Mender {
  readonly out: string[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** How many values the text is: one, or objects and lists one after the other (JSON lines). 0 when it is none. */
  values(): number {
    for (let count = 0; ; count += 1) {
      if (count > 0) {
        if (this.#isAtEnd() || /^[\s}\])]{1,50}$/.test(this.#text.slice(this.#at, this.#at + 51)))
          return count;
        if (!'{['.includes(this.#text[this.#at] ?? '') || !/[}\]]$/.test(this.out.at(-1) ?? '')) return 0;
        this.out.push(',');
      }
      if (!this.value(0)) return 0;
    }
  }

  #isAtEnd(): boolean {
    this.#skipSpace();
    return this.#at >= this.#text.length;
  }

  /** Reads one value; `false` when none stands here. */
  value(depth: number): boolean {
    this.#skipSpace();
    const unit = this.#text[this.#at];
    if (unit === undefined || depth > MAX_DEPTH) return false;
    if (unit === '{') return this.#list('{', '}', '{}', () => this.#member(depth));
    if (unit === '[') return this.#list('[', ']', '[]', () => this.value(depth + 1));
    if (unit === '(') return this.#list('(', ')', '[]', () => this.value(depth + 1));
    if (unit in CLOSING_QUOTES) return this.#string(CLOSING_QUOTES[unit] ?? '', ',:]})');
    return this.#word();
  }

  #list(open: string, close: string, brackets: string, item: () => boolean): boolean {
    this.#at += open.length;
    this.out.push(brackets[0] ?? '');
    for (let first = true; ; first = false) {
      this.#skipSpace();
      while (this.#text[this.#at] === ',') {
        this.#at += 1;
        this.#skipSpace();
      }
      const unit = this.#text[this.#at];
      if (unit === undefined || unit === close) {
        this.#at += 1;
        this.out.push(brackets[1] ?? '');
        return true;
      }
      const before = this.out.length;
      if (!first) this.out.push(',');
      if (item()) continue;
      // Cut between a name and its value.
      if (!this.#isAtEnd()) return false;
      this.out.length = before;
    }
  }

  #member(depth: number): boolean {
    const quote = CLOSING_QUOTES[this.#text[this.#at] ?? ''];
    if (!(quote === undefined ? this.#word() : this.#string(quote, ':'))) return false;
    const key = this.out.at(-1) ?? '';
    // Names are text, also `{1: …}` and `{None: …}`.
    if (!key.startsWith('"')) this.out[this.out.length - 1] = `"${key}"`;
    this.#skipSpace();
    if (this.#text[this.#at] !== ':') return false;
    this.#at += 1;
    this.out.push(':');
    return this.value(depth + 1);
  }

  #word(): boolean {
    WORD.lastIndex = this.#at;
    const word = WORD.exec(this.#text)?.[0];
    if (word === undefined) return false;
    this.#at += word.length;
    const literal = LITERALS.get(word);
    if (literal === undefined && !NUMBER.test(word)) {
      // A word before a bracket is a call, and two words are prose.
      const next = this.#unitAhead();
      if (next !== '' && !',:]})'.includes(next)) return false;
    }
    this.out.push(literal ?? (NUMBER.test(word) ? word : JSON.stringify(word)));
    return true;
  }

  /**
   * From its opening quote to a closing one that one of `enders`, or nothing, follows. To the end of the text only if
   * no quote is in between: where there is one, something else is wrong than a cut.
   */
  #string(closing: string, enders: string): boolean {
    const text = this.#text;
    const parts: string[] = ['"'];
    let from = this.#at + 1;
    let at = from;
    let inner = 0;
    const put = (part: string, to: number): void => {
      parts.push(text.slice(from, at), part);
      from = to;
      at = to;
    };
    for (; at < text.length; ) {
      const unit = text[at] ?? '';
      if (closing.includes(unit)) {
        if (this.#ends(at + 1, enders)) break;
        inner += 1;
      }
      if (unit === '"') put('\\"', at + 1);
      else if (unit === '\\') {
        const [written, length] = escapeAt(text, at);
        put(written, at + length);
      } else if (unit < ' ') put(JSON.stringify(unit).slice(1, -1), at + 1);
      else at += 1;
    }
    if (inner > 0 && at >= text.length) return false;
    parts.push(text.slice(from, at), '"');
    this.#at = Math.min(text.length, at + 1);
    this.out.push(parts.join(''));
    return true;
  }

  #ends(after: number, enders: string): boolean {
    let at = after;
    while (at < after + LOOK_AHEAD && isSpace(this.#text[at])) at += 1;
    const unit = this.#text[at];
    return unit === undefined || enders.includes(unit);
  }

  /** The next character that is no white space, the place unchanged; '' at the end. */
  #unitAhead(): string {
    const at = this.#at;
    this.#skipSpace();
    const unit = this.#text[this.#at] ?? '';
    this.#at = at;
    return unit;
  }

  #skipSpace(): void {
    for (;;) {
      const unit = this.#text[this.#at];
      if (!isSpace(unit) && unit !== '/') return;
      SPACE.lastIndex = this.#at;
      const space = SPACE.exec(this.#text)?.[0] ?? '';
      if (space === '') return;
      this.#at += space.length;
    }
  }
}

const isSpace = (unit: string | undefined): boolean => unit !== undefined && /[\s\uFEFF]/.test(unit);

/** JSON's escape for that of JSON, JavaScript or Python at the place, and how long that was. */
function escapeAt(text: string, at: number): readonly [escape: string, length: number] {
  const unit = text[at + 1];
  if (unit === undefined) return ['', 1];
  if ('"\\/bfnrt'.includes(unit)) return [`\\${unit}`, 2];
  const code = /^\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))/.exec(text.slice(at, at + 6));
  if (code !== null) return [`\\u${(code[1] ?? code[2] ?? '').padStart(4, '0')}`, code[0].length];
  if (unit === "'" || unit === '`') return [unit, 2];
  if (unit === '\n') return ['', 2];
  // A Windows path or a pattern: the backslash is meant.
  return ['\\\\', 1];
}
