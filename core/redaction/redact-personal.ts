import { mapSession } from '../session/map-session.ts';
import type { Session } from '../session/session.ts';

/**
 * Replaces personal data in all text of a session by placeholders such as `[personal-1 email]`: equal ones for equal
 * data, numbered in the order of the session, so that evidence still reads and values can still be compared. What
 * stood there is found in the raw records.
 *
 * Found by shape: e-mail addresses, telephone numbers (with `+` and country code, or grouped as in North America),
 * payment cards (Luhn), IBANs (mod 97) and US social security numbers. Not found: names, street addresses, dates of
 * birth, numbers without a check digit. Pure, deterministic and idempotent; JSON text stays JSON.
 */
export function redactPersonal(session: Session): Session {
  const placeholders = new Map<string, string>();
  const replace = (text: string): string => {
    let result = text;
    for (const { kind, pattern, holds } of SHAPES) {
      const isBare = bareIn(result);
      result = result.replace(pattern, (found, at: number) => {
        if (holds !== undefined && !holds(found)) return found;
        const known = placeholders.get(found) ?? `[personal-${placeholders.size + 1} ${kind}]`;
        placeholders.set(found, known);
        return isBare(at) ? `"${known}"` : known;
      });
    }
    return result;
  };
  const redacted = mapSession(session, replace, (_key, value) => replace(value));
  return placeholders.size === 0 ? session : redacted;
}

/**
 * Whether a place of a JSON text stands outside its strings, so that what replaces a number there needs quotes. Asked
 * in ascending order, it reads the text once. Never in text that is no JSON.
 */
function bareIn(text: string): (at: number) => boolean {
  let isJson: boolean | null = null;
  let inString = false;
  let read = 0;
  return (at) => {
    isJson ??= /^\s{0,20}[[{]/.test(text) && parses(text);
    for (; isJson && read < at; read += 1) {
      if (text[read] === '\\') read += 1;
      else if (text[read] === '"') inString = !inString;
    }
    return isJson && !inString;
  };
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

interface Shape {
  readonly kind: string;
  /** Bounded repetitions only: each place in a text is tried at a constant cost. */
  readonly pattern: RegExp;
  readonly holds?: (found: string) => boolean;
}

const SHAPES: readonly Shape[] = [
  {
    kind: 'email',
    // No top-level domain begins with a digit; versions of packages (`name@3.2.0`) do.
    pattern:
      /(?<![\w.%+-])[\w.%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,4}\.[A-Za-z][A-Za-z0-9-]{0,62}/g,
  },
  {
    kind: 'iban',
    pattern: /(?<!\w)[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?!\w)/g,
    holds: isIban,
  },
  // Cards begin with 3 to 6; times in nanoseconds and most counters do not.
  { kind: 'card', pattern: /(?<![\w.-])[3-6](?:[ -]?\d){12,18}(?![\w-])/g, holds: isLuhn },
  { kind: 'ssn', pattern: /(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/g },
  {
    kind: 'phone',
    pattern: /(?<![\w+])\+[1-9]\d{0,2}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d(?:[ .-]?\d){5,12}(?!\w)/g,
  },
  { kind: 'phone', pattern: /(?<![\w.-])(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?![\w-])/g },
];

function isLuhn(text: string): boolean {
  const digits = [...text.replace(/\D/g, '')].map(Number).reverse();
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** ISO 13616: the first four characters to the end, letters as 10 to 35, remainder 1 by 97. */
function isIban(text: string): boolean {
  const compact = text.replaceAll(' ', '');
  const turned = compact.slice(4) + compact.slice(0, 4);
  let remainder = 0;
  for (const char of turned)
    for (const digit of Number.parseInt(char, 36).toString())
      remainder = (remainder * 10 + Number(digit)) % 97;
  return remainder === 1;
}
