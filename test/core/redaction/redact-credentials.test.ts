import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/base/json.ts';
import { redactCredentials, redactText } from '../../../core/redaction/redact-credentials.ts';
import { type Session, sessionSchema } from '../../../core/session/session.ts';
import { anySession, anyText } from '../../helpers/arbitrary-session.ts';
import { agent, inference, message, other, said, session, tool, use } from '../../helpers/build-session.ts';
import { ALL_SHAPED, AWS_ID, AWS_SECRET, JWT, PEM, SHAPED } from '../../helpers/credentials.ts';

const saying = (...texts: string[]): Session => session(texts.map((text) => said(message('user', text))));
const textsOf = (given: Session): string[] =>
  given.traces.flatMap(({ spans }) =>
    spans.flatMap((span) =>
      span.kind === 'message' && span.message.content[0]?.type === 'text'
        ? [span.message.content[0].text]
        : [],
    ),
  );

describe('what is a credential', () => {
  it.each(Object.entries(SHAPED))('%s, by its shape', (kind, values) => {
    for (const value of values)
      expect(redactText(`It is (${value}).`)).toBe(`It is ([credential-1 ${kind}]).`);
  });

  it.each([
    ['password=hunter2x', 'password=[1]'],
    ['DB_PASSWORD=correcthorse', 'DB_PASSWORD=[1]'],
    ['"password": "letmein"', '"password": "[1]"'],
    ['{\\"password\\":\\"le\\\\\\"t mein\\"}'.replace(' ', ''), '{\\"password\\":\\"[1]\\"}'],
    ["os.environ['API_KEY'] = 'abc123def456'", "os.environ['API_KEY'] = '[1]'"],
    ['x-api-key: 7f3b9c2e-11aa-4b6d-9e55-0c1d2e3f4a5b', 'x-api-key: [1]'],
    [`aws_secret_access_key = ${AWS_SECRET}`, 'aws_secret_access_key = [1]'],
    [`"SecretAccessKey": "${AWS_SECRET}"`, '"SecretAccessKey": "[1]"'],
    ['Authorization: Bearer 8f14e45fceea167a', 'Authorization: Bearer [1]'],
    [`"authorization": "Basic ${btoa('anna:pw17')}"`, '"authorization": "Basic [1]"'],
    [`send it as Basic ${btoa('anna:pw17')} please`, 'send it as Basic [1] please'],
    ['psql postgres://app:s3cr3t@db.example:5432/x', 'psql postgres://app:[1]@db.example:5432/x'],
    ["curl -u anna:pw17 'https://x.example'", "curl -u anna:[1] 'https://x.example'"],
    ['mysql --password hunter2x --user root', 'mysql --password [1] --user root'],
    ['my password is Summer2024! by the way', 'my password is [1]! by the way'],
    ['<Password>hunter2x</Password>', '<Password>[1]</Password>'],
    ['{"name": "DB_PASSWORD", "value": "letmein"}', '{"name": "DB_PASSWORD", "value": "[1]"}'],
    ['Cookie: sid=8f14e45fceea167a; theme=dark', 'Cookie: [1]'],
    [`?X-Amz-Signature=${'ab12'.repeat(16)}&x=1`, '?X-Amz-Signature=[1]&x=1'],
  ])('by its name or place: %s', (text, expected) => {
    expect(redactText(text).replaceAll(/\[credential-(\d+) [a-z-]+\]/g, '[$1]')).toBe(expected);
  });

  it('the secret beside an access key id, as in the CSV file of the console', () => {
    expect(redactText(`Access key ID,Secret access key\n${AWS_ID},${AWS_SECRET}\n`)).toBe(
      'Access key ID,Secret access key\n[credential-1 aws-access-key],[credential-2 aws-secret-key]\n',
    );
  });

  it.each([
    'order #W2378156, reservation QK7M2P, card ends in 4411, PIN unknown',
    '7f3b9c2e-11aa-4b6d-9e55-0c1d2e3f4a5b',
    '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'trace 4bf92f3577b34da6a3ce929d0e0e4736, span 00f067aa0ba902b7',
    'arn:aws:iam::123456789012:role/AROAQ3EGRI7ZL5XO2MBN',
    'arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-f3gDy9',
    '"max_tokens": 4096, "total_tokens": 1234567890123456, token count: 17',
    '"next_token": null, "nextToken": "page-2"',
    'password: must have 8 characters, one digit at least',
    'The password is required. Bearer token required. Basic authentication failed.',
    "api_key=os.environ['KEY_2024'], password=getpass(), token=self.token",
    'API_KEY = "YOUR_API_KEY_HERE_123"; "password": "********"',
    '{"password": {"type": "string", "minLength": 8}}',
    'https://example.com:8080/@anna and anna@example.com:22',
    'task-management-system-with-20-parts, desk-1234567890',
    'the secret to success is 42; a cookie is a small text',
    'public key: ssh-ed25519, -----BEGIN CERTIFICATE-----',
    'eyJ is how base64 of JSON begins',
  ])('no credential: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

describe('placeholders', () => {
  it('are equal for equal secrets and count in the order of the session', () => {
    const [first = '', second = '', third = ''] = SHAPED['github-token'] ?? [];
    expect(textsOf(redactCredentials(saying(`${second} ${first}`, first, third)))).toEqual([
      '[credential-1 github-token] [credential-2 github-token]',
      '[credential-2 github-token]',
      '[credential-3 github-token]',
    ]);
  });

  it('stand wherever a secret is said again without its name, also before it', () => {
    const clean = redactCredentials(
      saying('I typed c0rrect-horse there', 'password: c0rrect-horse', 'xc0rrect-horse'),
    );
    expect(textsOf(clean)).toEqual([
      'I typed [credential-1 password] there',
      'password: [credential-1 password]',
      'xc0rrect-horse',
    ]);
  });

  it('never take the number of one that the text brought along', () => {
    expect(textsOf(redactCredentials(saying('see [credential-7 jwt]', JWT)))).toEqual([
      'see [credential-7 jwt]',
      '[credential-8 jwt]',
    ]);
  });

  it('stand in structured arguments, attributes, errors, tools and names', () => {
    const clean = redactCredentials(
      session(
        [
          tool(
            'c1',
            'login',
            { user: 'anna', password: 'letmein', env: [{ name: 'API_TOKEN', value: `t${'0k'.repeat(9)}` }] },
            `{"token":"${JWT}"}`,
            {
              name: `login ${AWS_ID}`,
              errors: [{ source: 'http', type: AWS_ID, message: `403 for ${AWS_ID}` }],
            },
          ),
          other({
            'aws.auth.account.access_key': AWS_ID,
            'http.request.header.authorization': 'Bearer abc123xyz',
          }),
          inference([], [message('assistant', use(null, 'run', { [AWS_ID]: [PEM] }))], {
            systemPrompt: `Use ${AWS_ID}`,
            tools: [{ name: 'x', description: JWT, parameters: { default: AWS_ID } }],
          }),
          agent(JWT, JWT, {
            agent: AWS_ID,
            systemPrompt: JWT,
            availableTools: [{ name: 'y', description: AWS_ID }],
          }),
        ],
        { goal: PEM, unread: [{ where: 'x', reason: `bad line ${JWT}`, count: 1 }] },
      ),
    );
    const json = JSON.stringify(clean);
    for (const secret of [AWS_ID, JWT, 'letmein', '0k0k', 'abc123xyz', 'BEGIN RSA'])
      expect(json).not.toContain(secret);
    expect(json).toContain('"http.request.header.authorization":"Bearer [credential-');
    expect(json).toContain('"user":"anna"');
  });
});

/** Every string of the session with a secret in it, ids, times and enumerations aside. */
const IDS = new Set([
  'sessionId',
  'format',
  'traceId',
  'spanId',
  'parentSpanId',
  'toolCallId',
  'responseId',
  'digest',
  'startTimeUnixNano',
  'endTimeUnixNano',
]);
const ENUMS = new Set(['type', 'kind', 'role', 'status', 'source', 'flags']);

/** The form of a value: strings as '', keys and all else as they are. */
function shapeOf(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return IDS.has(key) || ENUMS.has(key) ? value : '';
  if (Array.isArray(value)) return value.map((item) => shapeOf(item, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, shapeOf(item, name)]));
}

const secret = fc.constantFrom(
  ...ALL_SHAPED,
  `password=${'pa55'.repeat(3)}`,
  `api_key: '${'k3y-'.repeat(5)}'`,
);
const dirty = fc
  .array(fc.oneof(secret, anyText, fc.constantFrom(' ', '"', '\\', '\n', '=', '[credential-1 jwt]')), {
    maxLength: 8,
  })
  .map((parts) => parts.join(''));

describe('laws', () => {
  it('a session without credentials comes back as the same object', () => {
    fc.assert(fc.property(anySession(), (given) => void expect(redactCredentials(given)).toBe(given)));
  });

  it('shape, ids and enumerations stay, and the result is a session', () => {
    fc.assert(
      fc.property(anySession(), fc.array(dirty, { minLength: 1, maxLength: 5 }), (given, texts) => {
        let n = 0;
        const plant = (value: unknown, key = ''): unknown => {
          if (typeof value === 'string')
            return IDS.has(key) || ENUMS.has(key) ? value : value + (texts[n++ % texts.length] ?? '');
          if (Array.isArray(value)) return value.map((item) => plant(item, key));
          if (typeof value !== 'object' || value === null) return value;
          return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plant(item, name)]));
        };
        const planted = sessionSchema.parse(plant(given));
        const clean = redactCredentials(planted);
        expect(sessionSchema.parse(clean)).toEqual(clean);
        expect(shapeOf(clean)).toEqual(shapeOf(planted));
      }),
    );
  });

  it('no text of a session is passed over', () => {
    fc.assert(
      fc.property(anySession(), fc.constantFrom(...ALL_SHAPED), (given, planted) => {
        const plant = (value: unknown, key = ''): unknown => {
          if (typeof value === 'string') return IDS.has(key) || ENUMS.has(key) ? value : ` ${planted} `;
          if (Array.isArray(value)) return value.map((item) => plant(item, key));
          if (typeof value !== 'object' || value === null) return value;
          return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plant(item, name)]));
        };
        expect(JSON.stringify(redactCredentials(sessionSchema.parse(plant(given))))).not.toContain(
          JSON.stringify(planted).slice(1, -1),
        );
      }),
    );
  });

  it('twice is once', () => {
    fc.assert(
      fc.property(fc.array(dirty, { minLength: 1, maxLength: 4 }), (texts) => {
        const once = redactCredentials(saying(...texts));
        expect(redactCredentials(once)).toEqual(once);
      }),
      { numRuns: 1000 },
    );
  });

  it('JSON text stays JSON at every level of quoting, with the same keys and the same plain values', () => {
    const leaf = fc.oneof(dirty, fc.integer(), fc.boolean(), fc.constant(null));
    const keys = fc.constantFrom(
      'password',
      'api_key',
      'note',
      'token',
      'authorization',
      'name',
      'value',
      'cookie',
    );
    const json = fc.letrec<{ value: JsonValue; nested: JsonValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('nested'), { maxLength: 3 }),
        fc.dictionary(keys, tie('nested'), { maxKeys: 4 }),
      ),
      nested: fc.oneof(
        tie('value'),
        tie('value').map((inner) => JSON.stringify(inner)),
      ),
    })).nested;
    const form = (value: JsonValue): unknown => {
      if (typeof value === 'string') {
        try {
          const inner: JsonValue = JSON.parse(value);
          return typeof inner === 'object' && inner !== null ? ['json', form(inner)] : 'text';
        } catch {
          return 'text';
        }
      }
      if (typeof value !== 'object' || value === null) return value;
      if (Array.isArray(value)) return value.map(form);
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, form(item)]));
    };
    fc.assert(
      fc.property(json, fc.boolean(), (value, indented) => {
        const text = JSON.stringify([value], null, indented ? 2 : 0);
        expect(form(JSON.parse(redactText(text)))).toEqual(form([value]));
      }),
      { numRuns: 1000 },
    );
  });
});

/** Each of a length that a pattern with a way back for every letter, or a look from every place, does not survive. */
describe('hostile lengths', () => {
  it.each(['eyJaaaaaaaaaaaa.', 'bearer a1', '-----BEGIN PRIVATE KEY-----'])(
    'a run of 20 MB after %s',
    (start) => {
      expect(redactText(start + 'a1'.repeat(10_000_000)).length).toBeGreaterThan(0);
    },
    60_000,
  );

  it.each([
    'password: ',
    'password="',
    'token=\'token="',
    'token:a1@',
    'api_key=a1',
    'cookie: a=',
    '-----BEGIN PRIVATE KEY-----\n',
    '-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAA',
    '://aaaaaaaaaaaaaaaaaaaaaaaaaa:bbbbbbbbbbbbbbbbbbbbbbb ',
    'eyJaaaaaaaaaaaa.',
    'curl -u a:',
    '[credential-1 jwt] password=abcdef1 ',
  ])(
    '1 MB of %j',
    (piece) => {
      const once = redactText(piece.repeat(1_000_000 / piece.length));
      expect(once.length).toBeGreaterThan(0);
    },
    60_000,
  );
});
