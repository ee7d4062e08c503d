import type { Found } from './credential-shapes.ts';

/**
 * Credentials that are known by the name before them: `password=…`, `"api_key": "…"`, `Authorization: …`,
 * `{"name": "DB_PASSWORD", "value": "…"}`, `<secret>…</secret>`, `--token …`, `password is …`. English names only.
 */
const NAMES: readonly (readonly [kind: NamedKind, source: string])[] = [
  ['authorization', '(?:proxy-)?authorization'],
  ['cookie', '(?:set-)?cookie'],
  ['password', 'pass(?:word|wd|phrase|code)|pwd'],
  ['secret', 'secret(?:[_ .-]?access)?[_ .-]?key|secret'],
  ['api-key', '(?:api|access|account|auth|subscription|private|encryption|signing|master|service)[_ .-]?key'],
  [
    'token',
    '(?:access|auth|refresh|id|bearer|session|security|api|bot|oauth|personal|private|deploy|git(?:hub|lab)|slack)[_ .-]?token',
  ],
  ['bare-token', '\\btoken'],
];
type NamedKind = 'authorization' | 'cookie' | 'password' | 'secret' | 'api-key' | 'token' | 'bare-token';

const CORE = NAMES.map(([kind, source]) => `(?<${kind.replaceAll('-', '')}>${source})`).join('|');
const NUMBER = '(?:[_-]?\\d{1,2})?';
/** A name's closing quote, then what stands between a name and its value. */
const BETWEEN =
  '(?<quote>\\\\{0,15}["\'`])?\\]?' +
  '(?<between>[ \\t]{0,4}(?:={1,3}>?|:=|:|>)[ \\t]{0,4}' +
  '|(?: is|: is) (?:now )?' +
  '|\\s{0,20},\\s{0,20}\\\\{0,15}["\'][Vv]alue\\\\{0,15}["\']\\s{0,4}:\\s{0,4}' +
  '|[ \\t](?=[^\\s-]))';
const NAMED = new RegExp(`(?:${CORE})${NUMBER}${BETWEEN}`, 'gi');
/** A key of a JSON object that names a credential; what stands before the name (`DB_`, `stripe`) does not matter. */
const KEY = new RegExp(`(?:${CORE})${NUMBER}$`, 'i');
const HINT = /pass(?:w|ph|code)|pwd|secret|key|token|authori|cookie/i;

/** Longest value that is looked at, in UTF-16 units: session tokens have about 1,500. */
const MAX_VALUE = 4096;

export function findNamed(text: string): Found[] {
  if (!HINT.test(text)) return [];
  const found: Found[] = [];
  NAMED.lastIndex = 0;
  for (;;) {
    const match = NAMED.exec(text);
    if (match === null) return found;
    const kind = kindOf(match);
    const { between = '', quote } = match.groups ?? {};
    // `--token abc` names a value; `token abc` is prose.
    if (/^[ \t]$/.test(between) && (quote !== undefined || !isFlag(text, match.index))) continue;
    if (isInPlaceholder(text, match.index) || isInArn(text, match.index)) continue;
    const value = valueAt(text, match.index + match[0].length, kind);
    if (value === null) continue;
    const { from, to, quoted } = value;
    // A bare word after a quoted name is a JSON number, literal or an expression: replaced, JSON would break.
    if (quote !== undefined && !quoted) continue;
    const narrowed = narrow(kind, text.slice(from, to));
    const secret = text.slice(from + narrowed, to);
    if (!isPlausible(kind, secret, quoted, between)) continue;
    found.push({ from: from + narrowed, to, kind: publicKind(kind) });
    NAMED.lastIndex = to;
  }
}

/** The credential in the string that stands under this key of a JSON object, or `null`. It goes to the string's end. */
export function findKeyed(key: string, value: string): Found | null {
  if (key.length > 200 || value.length > MAX_VALUE || !HINT.test(key)) return null;
  const match = KEY.exec(key);
  if (match === null) return null;
  const kind = kindOf(match);
  const from = narrow(kind, value);
  if (!isPlausible(kind, value.slice(from), true, ':')) return null;
  return { from, to: value.length, kind: publicKind(kind) };
}

function kindOf(match: RegExpExecArray): NamedKind {
  for (const [kind] of NAMES) if (match.groups?.[kind.replaceAll('-', '')] !== undefined) return kind;
  return 'secret';
}

const publicKind = (kind: NamedKind): string => (kind === 'bare-token' ? 'token' : kind);

/** Whether the name ends a command-line flag. A flag has at most 40 characters before its last word here. */
const isFlag = (text: string, at: number): boolean =>
  /(?:^|[\s"'])--[a-z-]{0,40}$/.test(text.slice(Math.max(0, at - 44), at));

/** The kind in a placeholder is the name of nothing. */
const isInPlaceholder = (text: string, at: number): boolean =>
  /\[credential-\d{1,15} [a-z-]{0,30}$/.test(text.slice(Math.max(0, at - 60), at));

/** `arn:aws:secretsmanager:eu-west-1:123456789012:secret:name` names a secret and holds none. */
const isInArn = (text: string, at: number): boolean =>
  /:secretsmanager:[a-z0-9-]{0,30}:\d{0,12}:$/.test(text.slice(Math.max(0, at - 80), at));

/** Length of the scheme word before the credential of an `Authorization` header. */
function narrow(kind: NamedKind, value: string): number {
  if (kind !== 'authorization') return 0;
  return /^(?:bearer|basic|token|apikey|api-key|bot|key|negotiate)[ \t]{1,4}/i.exec(value)?.[0].length ?? 0;
}

function valueAt(
  text: string,
  start: number,
  kind: NamedKind,
): { readonly from: number; readonly to: number; readonly quoted: boolean } | null {
  const opening = /^(\\{0,15})["'`]/.exec(text.slice(start, start + 16));
  if (opening !== null) {
    const from = start + opening[0].length;
    const to = closingQuote(text, from, opening[1]?.length ?? 0, opening[0].slice(-1));
    if (to !== null) return { from, to, quoted: true };
    return unquoted(text, from, kind);
  }
  return unquoted(text, start, kind);
}

/**
 * Where a quoted value ends. A quote of a string that stands `depth` backslashes deep in JSON closes it when as many
 * backslashes stand before it, full escapes aside. A double quote that may end a JSON string around the value ends
 * the search: a replacement across two strings would break the JSON.
 */
function closingQuote(text: string, from: number, depth: number, quote: string): number | null {
  let slashes = 0;
  const end = Math.min(text.length, from + MAX_VALUE);
  for (let at = from; at < end; at += 1) {
    const unit = text[at];
    if (unit === '\\') slashes += 1;
    else {
      if (unit === quote && slashes % (2 * (depth + 1)) === depth) return at - depth;
      if (unit === '\n' || (unit === '"' && (quote !== '"' || slashes < depth))) return null;
      slashes = 0;
    }
  }
  return null;
}

const COOKIES = /^[\w.-]{1,60}=[^\s;"'\\]{1,4000}(?:;[ \t]?[\w.-]{1,60}=[^\s;"'\\]{0,4000}){0,50}/;
const HEADER_VALUE = /^(?:[A-Za-z-]{3,10}[ \t]{1,4})?[^\s"'\\,;<>`]{1,4000}/;
const BARE_TOKEN = /^[\w.~+/=:-]{1,4000}/;
const WORD = /^[^\s"'\\,;&<>{}|`]{1,4000}/;
/** A run as long as this without a digit is no secret; it keeps a text of nothing but names from being read 4,000 times. */
const LONG_RUN = /^[^\s\d]{256}/;

function unquoted(text: string, from: number, kind: NamedKind): ReturnType<typeof valueAt> {
  const window = text.slice(from, from + MAX_VALUE);
  if (LONG_RUN.test(window)) return null;
  const pattern =
    kind === 'cookie'
      ? COOKIES
      : kind === 'authorization'
        ? HEADER_VALUE
        : kind === 'bare-token'
          ? BARE_TOKEN
          : WORD;
  const raw = pattern.exec(window)?.[0].replace(/[.:!?)\]]{1,8}$/, '');
  return raw === undefined || raw === '' ? null : { from, to: from + raw.length, quoted: false };
}

/** What stands where a secret will be put, or code that fetches it. */
function isStandIn(value: string): boolean {
  return (
    /^[<{$%[(]/.test(value) ||
    /^(.)\1*$/.test(value) ||
    /^[*.x\u2022-]{3}|\*{3}|\.{3}/i.test(value) ||
    /^(?:your|insert|enter|replace)(?![a-z])/i.test(value.replace(/^your(?=[a-z])/i, 'your ')) ||
    /redacted|masked|hidden|omitted|placeholder|example|changeme/i.test(value) ||
    /^(?:null|none|nil|true|false|undefined|string|str|required|optional|secret|password|token|invalid|incorrect|missing|expired)$/i.test(
      value,
    ) ||
    /^[A-Za-z_][\w.]{0,80}[([]/.test(value) ||
    /^(?:os|process|env|self|this|config|settings|args|req|request|event|ctx|context|secrets?|props)\./.test(
      value,
    )
  );
}

function isPlausible(kind: NamedKind, value: string, quoted: boolean, between: string): boolean {
  if (value.includes('[credential-') || isStandIn(value)) return false;
  const digit = /\d/.test(value);
  const letter = /[A-Za-z]/.test(value);
  if (kind === 'cookie') return value.length >= 12 && /^[\w.-]{1,60}=[^\s]/.test(value);
  if (/\s/.test(value)) return false;
  switch (kind) {
    case 'authorization':
      return value.length >= 6 && (digit || value.length >= 20);
    case 'password': {
      const odd = digit || /[^A-Za-z0-9_.:/-]/.test(value);
      if (quoted) return value.length >= 4;
      if (odd) return value.length >= 6;
      // `PASSWORD=correcthorse` of an environment file, but not `password=db_password` of code.
      return (
        /^=$/.test(between) && /^[A-Za-z-]{8,}$/.test(value) && !/pass|pwd|secret|token|cred/i.test(value)
      );
    }
    case 'secret':
    case 'api-key':
      return value.length >= (quoted ? 8 : 12) && digit && letter && !/^[A-Za-z]+[-_]?\d{1,2}$/.test(value);
    case 'token':
      return value.length >= 12 && digit && letter;
    case 'bare-token':
      return value.length >= 20 && digit && letter && BARE_TOKEN.exec(value)?.[0] === value;
  }
}
