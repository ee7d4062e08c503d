import { ISSUED_TOKENS } from './issued-tokens.ts';

/**
 * Credentials that are known by their own shape, wherever they stand. Shapes and prefixes are those that the issuers
 * document (GitHub, GitLab, Slack, Stripe, Google, OpenAI, Anthropic, AWS, …) or that RFC 7468 (PEM), 7519 (JWT),
 * 6750 (bearer) and 7617 (basic) give.
 *
 * Every pattern is bounded and begins with a literal; what may be of any length is read by a loop, because regular
 * expressions keep a way back for every letter of a run and overflow on runs of many megabytes.
 */
export interface Found {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}

interface Shape {
  readonly kind: string;
  readonly pattern: RegExp;
  /** Letters that belong to it as long as they follow what the pattern found. */
  readonly rest?: CharacterSet;
  /** For what a pattern alone cannot tell from ordinary text. */
  readonly accept?: (value: string) => boolean;
}

type CharacterSet = Uint8Array;
const setOf = (pattern: RegExp): CharacterSet =>
  Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0));
const ALPHANUMERIC = setOf(/[A-Za-z0-9]/);
const WORD = setOf(/[\w-]/);
const DOTTED = setOf(/[\w.-]/);
const BASE64 = setOf(/[A-Za-z0-9+/=]/);
const TOKEN = setOf(/[\w.~+/=-]/);
const PERCENT = setOf(/[A-Za-z0-9%+/=_-]/);

function endOfRun(text: string, from: number, set: CharacterSet): number {
  let end = from;
  while (end < text.length && set[text.charCodeAt(end)] === 1) end += 1;
  return end;
}

const hasDigit = (value: string): boolean => /\d/.test(value);

/** A dashed name such as `sk-grid-of-12` is no key: keys have one long run. */
const hasLongRun = (value: string): boolean => /[A-Za-z0-9_]{18}/.test(value) && hasDigit(value);

/** Header, payload and signature; five parts when encrypted. */
function isJwt(value: string): boolean {
  const parts = value.split('.', 7);
  return parts.length >= 2 && parts.length <= 5 && (parts[1]?.length ?? 0) >= 10;
}

/** RFC 7617: base64 of `user:password`. The words after "Basic" in prose decode to no such text. */
function isBasicPair(value: string): boolean {
  try {
    const pair = atob(value.slice(0, 680));
    const colon = pair.indexOf(':');
    return colon >= 0 && colon < pair.length - 1 && /^[\x20-\x7e]{2,510}$/.test(pair);
  } catch {
    return false;
  }
}

const SHAPES: readonly Shape[] = [
  { kind: 'aws-access-key', pattern: /(?<![A-Za-z0-9])A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  {
    kind: 'aws-secret-key',
    // Beside its id, as in the console's CSV file.
    pattern:
      /(?<=(?<![A-Za-z0-9])A(?:KIA|SIA)[A-Z0-9]{16}[\s,;:|"'\\/]{1,8})[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])/g,
    accept: (value) => /[a-z]/.test(value) && /[A-Z]/.test(value) && hasDigit(value),
  },
  {
    kind: 'aws-session-token',
    pattern: /(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9+/=%]{50}/g,
    rest: PERCENT,
  },
  {
    kind: 'bedrock-api-key',
    pattern: /(?<![A-Za-z0-9])(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{60}/g,
    rest: BASE64,
  },
  {
    kind: 'github-token',
    pattern: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{22})/g,
    rest: setOf(/\w/),
  },
  {
    kind: 'gitlab-token',
    pattern: /(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|soat)-[\w-]{20}/g,
    rest: DOTTED,
  },
  {
    kind: 'slack-token',
    pattern: /(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10}|xapp-\d-[A-Za-z0-9-]{10})/g,
    rest: WORD,
    accept: hasDigit,
  },
  {
    kind: 'slack-webhook',
    pattern: /(?<=hooks\.slack\.com\/(?:services|workflows)\/)[\w/]{20}/g,
    rest: setOf(/[\w/]/),
  },
  {
    kind: 'stripe-key',
    pattern: /(?<![A-Za-z0-9])[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10}/g,
    rest: ALPHANUMERIC,
  },
  { kind: 'stripe-key', pattern: /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{24}/g, rest: BASE64 },
  {
    kind: 'google-key',
    pattern: /(?<![A-Za-z0-9])(?:AIza[\w-]{35}|ya29\.[\w.-]{20}|GOCSPX-[\w-]{20}|1\/\/0[\w-]{40})/g,
    rest: DOTTED,
  },
  { kind: 'anthropic-key', pattern: /(?<![\w-])sk-ant-[\w-]{20}/g, rest: WORD },
  { kind: 'openai-key', pattern: /(?<![\w-])sk-(?!ant-|lf-)[\w-]{20}/g, rest: WORD, accept: hasLongRun },
  {
    kind: 'api-key',
    pattern: new RegExp(
      `(?<![A-Za-z0-9])(?:${ISSUED_TOKENS.map(({ mark, body }) => `(?:${mark})${body}`).join('|')})`,
      'g',
    ),
    rest: setOf(/[\w=-]/),
  },
  // `eyJ` is base64 of `{"`.
  { kind: 'jwt', pattern: /(?<![\w-])eyJ[\w-]{10}/g, rest: DOTTED, accept: isJwt },
  {
    kind: 'authorization',
    pattern: /(?<=\bbearer[ \t]{1,4})[\w.~+/=-]{16}/gi,
    rest: TOKEN,
    accept: (value) => hasDigit(value) && /[A-Za-z]/.test(value),
  },
  {
    kind: 'authorization',
    pattern: /(?<=\bbasic[ \t]{1,4})[A-Za-z0-9+/]{6}/gi,
    rest: BASE64,
    accept: isBasicPair,
  },
  {
    kind: 'url-password',
    pattern: /(?<=:\/\/[^\s/?#@:"'<>\\]{0,128}:)[^\s/?#"'<>\\]{1,256}(?=@)/g,
    accept: (value) => !/^[$%{*x]/i.test(value) || hasDigit(value),
  },
  {
    kind: 'url-signature',
    pattern: /(?<=(?:X-Amz-Signature|X-Goog-Signature|[?&]sig|Signature)=)[A-Za-z0-9%+/=_-]{30}/g,
    rest: PERCENT,
  },
  {
    kind: 'password',
    pattern: /(?<=\bcurl\b[^\n]{0,300}\s(?:-u|--user)[ =]["']?[^\s:"']{1,128}:)[^\s"'\\]{3,256}/g,
  },
];

/** Without one of these no shape can match; nearly every text ends here. */
const HINT = new RegExp(
  [
    String.raw`:\/\/[^\s/?#@:"'<>\\]{0,128}:[^\s/?#"'<>\\]{1,256}@`,
    String.raw`[?&]sig=|-----BEGIN|\bsk-`,
    byFirstLetter([
      ...['AKIA', 'ASIA', 'IQoJ', 'F[wQ]oG', 'ABSK', 'bedrock-api-key', 'gh[pousr]_', 'github_pat_'],
      ...[
        'gl(?:pat|dt|rt|cbt|ptt|soat)-',
        'xox[abeoprs]-',
        'xapp-',
        'hooks\\.slack',
        'sk_(?:live|test|prod)_',
      ],
      ...['rk_(?:live|test|prod)_', 'whsec_', 'AIza', 'ya29\\.', 'GOCSPX', '1\\/\\/0', 'eyJ'],
      ...['[Bb](?:earer|EARER|asic|ASIC)[ \\t]', 'Signature=', 'curl '],
      ...ISSUED_TOKENS.map(({ hint }) => hint),
    ]),
  ].join('|'),
);

/** One alternative for each first letter: tried at every place of every text, two dozen are quicker than a hundred. */
function byFirstLetter(patterns: readonly string[]): string {
  const rests = new Map<string, string[]>();
  for (const pattern of patterns) {
    const plain = /^[A-Za-z0-9](?![?*+{])/.test(pattern);
    const first = plain ? pattern.slice(0, 1) : '';
    rests.set(first, [...(rests.get(first) ?? []), pattern.slice(first.length)]);
  }
  return [...rests].map(([first, rest]) => `${first}(?:${rest.join('|')})`).join('|');
}

export function findShapes(text: string): Found[] {
  if (!HINT.test(text)) return [];
  const found = findPrivateKeys(text);
  for (const { kind, pattern, rest, accept } of SHAPES) {
    pattern.lastIndex = 0;
    for (;;) {
      const match = pattern.exec(text);
      if (match === null) break;
      let to = match.index + match[0].length;
      if (rest !== undefined) {
        to = endOfRun(text, to, rest);
        // The full stop of a sentence is not the token's.
        while (text[to - 1] === '.') to -= 1;
        pattern.lastIndex = to;
      }
      if (accept === undefined || accept(text.slice(match.index, to)))
        found.push({ from: match.index, to, kind });
    }
  }
  return found;
}

const PEM_BEGIN =
  /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\{1,15}[nrt]){1,6}[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,120}){0,4}/g;
const PEM_END = /-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----/y;
/** Line ends, also escaped by one or more levels of JSON. */
const PEM_SEPARATOR = /(?:\s|\\{1,15}[nrt]){0,12}/y;
/** Shorter runs are words, or the key's last line. */
const PEM_LINE = 16;

/** RFC 7468, from the first line to the last; a key that was cut off ends with its last line of base64. */
function findPrivateKeys(text: string): Found[] {
  const found: Found[] = [];
  if (!text.includes('-----BEGIN ')) return found;
  for (const { 0: head, index } of text.matchAll(PEM_BEGIN)) {
    const body = index + head.length;
    let to = body;
    for (;;) {
      const line = skip(text, to, PEM_SEPARATOR);
      const end = endOfRun(text, line, BASE64);
      if (end - line < PEM_LINE) {
        const closing = skip(text, skip(text, end, PEM_SEPARATOR), PEM_END);
        if (to > body && text.startsWith('-----', closing - 5)) to = closing;
        else if (to > body && end === text.length) to = end;
        break;
      }
      to = end;
    }
    if (to > body) found.push({ from: index, to, kind: 'private-key' });
  }
  return found;
}

/** Where the sticky pattern ends that may stand here. */
function skip(text: string, at: number, pattern: RegExp): number {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match === null ? at : at + match[0].length;
}
