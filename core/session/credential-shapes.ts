/**
 * Credentials that are known by their own shape, wherever they stand. Shapes and prefixes are those that the issuers
 * document (GitHub, GitLab, Slack, Stripe, Google, OpenAI, Anthropic, AWS, …) or that RFC 7468 (PEM), 7519 (JWT),
 * 6750 (bearer) and 7617 (basic) give.
 *
 * Every pattern is linear on any input: it begins with a literal, has no nested unbounded repetition, and what it
 * consumes it does not look at again.
 */
export interface Found {
  readonly from: number;
  readonly to: number;
  readonly kind: string;
}

interface Shape {
  readonly kind: string;
  readonly pattern: RegExp;
  /** For what a pattern alone cannot tell from ordinary text. */
  readonly accept?: (value: string) => boolean;
}

const hasDigit = (value: string): boolean => /\d/.test(value);

/** A dashed name such as `sk-grid-of-12` is no key: keys have one long run. */
const hasLongRun = (value: string): boolean => /[A-Za-z0-9_]{18}/.test(value) && hasDigit(value);

/** RFC 7617: base64 of `user:password`. The words after "Basic" in prose decode to no such text. */
function isBasicPair(value: string): boolean {
  if (value.replace(/=+$/, '').length % 4 === 1) return false;
  try {
    return /^[\x20-\x7e]{0,256}:[\x20-\x7e]{1,256}$/.test(atob(value.slice(0, 680)));
  } catch {
    return false;
  }
}

const SHAPES: readonly Shape[] = [
  {
    kind: 'private-key',
    // A truncated key has no last line; lines may be joined by escaped line ends of one or more levels of JSON.
    pattern:
      /-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\+[nrt]){1,6}[A-Z][A-Za-z-]{2,20}: [^\n\\]{0,120}){0,4}(?:(?:\s|\\+[nrt]){0,6}[A-Za-z0-9+/=]{16,}){1,1000}(?:(?:\s|\\+[nrt]){0,6}[A-Za-z0-9+/=]{1,15})?(?:(?:\s|\\+[nrt]){0,6}-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----)?/g,
  },
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
    pattern: /(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9+/=%]{50,}/g,
  },
  { kind: 'bedrock-api-key', pattern: /(?<![A-Za-z0-9])(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/]{60,}={0,2}/g },
  { kind: 'github-token', pattern: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})/g },
  { kind: 'gitlab-token', pattern: /(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|soat)-[\w-]{20,}/g },
  {
    kind: 'slack-token',
    pattern: /(?<![A-Za-z0-9])(?:xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,})/g,
    accept: hasDigit,
  },
  { kind: 'slack-webhook', pattern: /(?<=hooks\.slack\.com\/(?:services|workflows)\/)[A-Za-z0-9_/]{20,}/g },
  {
    kind: 'stripe-key',
    pattern: /(?<![A-Za-z0-9])(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,})/g,
  },
  {
    kind: 'google-key',
    pattern: /(?<![A-Za-z0-9])(?:AIza[\w-]{35}|ya29\.[\w.-]{20,}|GOCSPX-[\w-]{20,}|1\/\/0[\w-]{40,})/g,
  },
  { kind: 'anthropic-key', pattern: /(?<![\w-])sk-ant-[\w-]{20,}/g },
  {
    kind: 'openai-key',
    pattern: /(?<![\w-])sk-(?!ant-|lf-)[\w-]{20,}/g,
    accept: hasLongRun,
  },
  {
    kind: 'api-key',
    pattern:
      /(?<![A-Za-z0-9])(?:sk-lf-[0-9a-f-]{36}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,}|SG\.[\w-]{22}\.[\w-]{43}|gsk_[A-Za-z0-9]{40,}|tvly-(?:dev-|prod-)?[A-Za-z0-9]{24,}|xai-[A-Za-z0-9]{60,}|hv[sb]\.[\w-]{24,}|do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|r8_[A-Za-z0-9]{37}|pplx-[A-Za-z0-9]{40,}|pcsk_\w{40,}|ATATT[\w=-]{60,})/g,
  },
  {
    kind: 'jwt',
    // `eyJ` is base64 of `{"`. Three parts signed, five encrypted.
    pattern: /(?<![\w-])eyJ[\w-]{10,}\.[\w-]{10,}(?:\.[\w-]*){1,3}/g,
  },
  {
    kind: 'authorization',
    pattern: /(?<=\bbearer[ \t]{1,4})[\w.~+/=-]{16,}/gi,
    accept: (value) => hasDigit(value) && /[A-Za-z]/.test(value),
  },
  { kind: 'authorization', pattern: /(?<=\bbasic[ \t]{1,4})[A-Za-z0-9+/]{6,}={0,2}/gi, accept: isBasicPair },
  {
    kind: 'url-password',
    pattern: /(?<=:\/\/[^\s/?#@:"'<>\\]{0,128}:)[^\s/?#"'<>\\]{1,256}(?=@)/g,
    accept: (value) => !/^[$%{*x]/i.test(value) || hasDigit(value),
  },
  {
    kind: 'url-signature',
    pattern: /(?<=(?:X-Amz-Signature|X-Goog-Signature|[?&]sig|Signature)=)[A-Za-z0-9%+/=_-]{30,}/g,
  },
  {
    kind: 'password',
    pattern: /(?<=\bcurl\b[^\n]{0,300}\s(?:-u|--user)[ =]["']?[^\s:"']{1,128}:)[^\s"'\\]{3,256}/g,
  },
];

/** Without one of these no shape can match; nearly every text ends here. */
const HINT =
  /A(?:KIA|SIA)|(?:IQoJ|F[wQ]oG)|ABSK|bedrock-api-key|gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|soat)-|xox[abeoprs]-|xapp-|hooks\.slack|[sr]k_(?:live|test|prod)_|whsec_|AIza|ya29\.|GOCSPX|1\/\/0|\bsk-|lsv2_|hf_|npm_|pypi-|SG\.|gsk_|tvly-|xai-|hv[sb]\.|do[opr]_v1|dapi|shp(?:at|ca|pa|ss)_|r8_|pplx-|pcsk_|ATATT|eyJ|-----BEGIN|[Bb](?:earer|EARER|asic|ASIC)[ \t]|Signature=|[?&]sig=|curl |:\/\/[^\s/?#@:"'<>\\]{0,128}:[^\s/?#"'<>\\]{1,256}@/;

export function findShapes(text: string): Found[] {
  if (!HINT.test(text)) return [];
  const found: Found[] = [];
  for (const { kind, pattern, accept } of SHAPES) {
    for (const match of text.matchAll(pattern)) {
      const [value] = match;
      if (accept !== undefined && !accept(value)) continue;
      found.push({ from: match.index, to: match.index + value.length, kind });
    }
  }
  return found;
}
