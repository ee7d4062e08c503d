import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readCorpora } from '../../bench/corpus/read-corpus.ts';
import { openStore } from '../../cli/shell/deps.ts';
import { FORMATS } from '../../cli/shell/format-names.ts';
import { freezeSession } from '../../cli/shell/frozen-sessions.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import type { ModelRequest } from '../../core/model/port.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { getJson } from '../../core/ports/carried.ts';
import { redactPersonal } from '../../core/redaction/redact-personal.ts';
import { type Session, sessionSchema } from '../../core/session/session.ts';
import { diagnose } from '../../core/stages/pipeline.ts';
import { rootspan, scratchFolder } from '../helpers/cli.ts';
import { LocalIngest } from '../helpers/local-ingest.ts';
import { logEvent } from '../helpers/log-events.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { sharedPath } from '../helpers/shared-data.ts';
import { answer, chat, flatSpan, toolRun, user } from '../helpers/telemetry.ts';

/**
 * 200 secrets and personal items of 15 kinds, each another value, made here so that no scanner takes this file for a leak.
 * They lie in prompts, arguments, results, errors and answers of one session whose model quotes whatever it sees.
 */
const PER_KIND = { most: 14, last: 4 };

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
const next = random(42);
const chars = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[Math.floor(next() * alphabet.length)]).join('');
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const ALNUM = 'abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const HEX = '0123456789abcdef';
const DIGITS = '0123456789';

function luhn(length: number): string {
  const body = `4${chars(DIGITS, length - 2)}`;
  const sum = [...body]
    .reverse()
    .reduce(
      (total, digit, i) =>
        total + (i % 2 === 0 ? ((Number(digit) * 2) % 10) + Math.floor(Number(digit) / 5) : Number(digit)),
      0,
    );
  return `${body}${(10 - (sum % 10)) % 10}`;
}

function iban(): string {
  const account = chars(DIGITS, 18);
  // D, E and the zeros of the check digits, as ISO 13616 counts them.
  const rest = BigInt(`${account}131400`) % 97n;
  return `DE${String(98n - rest).padStart(2, '0')}${account}`;
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url');

/** By kind: how one is made, and what is said around it (a name before a secret that has no shape of its own). */
const KINDS: Readonly<
  Record<string, { readonly make: () => string; readonly around?: (value: string) => string }>
> = {
  'aws access key': { make: () => `AKIA${chars(UPPER, 16)}` },
  'aws secret key': { make: () => chars(`${ALNUM}+/`, 40), around: (v) => `aws_secret_access_key=${v}` },
  'github token': { make: () => `ghp_${chars(ALNUM, 36)}` },
  'gitlab token': { make: () => `glpat-${chars(ALNUM, 20)}` },
  'slack token': { make: () => `xoxb-${chars(DIGITS, 12)}-${chars(DIGITS, 13)}-${chars(ALNUM, 24)}` },
  'stripe key': { make: () => `sk_live_${chars(ALNUM, 24)}` },
  'openai key': { make: () => `sk-proj-${chars(ALNUM, 60)}` },
  'private key': {
    make: () => chars(ALNUM, 64),
    around: (v) => `-----BEGIN RSA PRIVATE ${'KEY'}-----\n${v}\n${v}\n-----END RSA PRIVATE ${'KEY'}-----`,
  },
  jwt: {
    make: () =>
      `${base64url('{"alg":"HS256","typ":"JWT"}')}.${base64url(`{"sub":"${chars(HEX, 8)}"}`)}.${chars(ALNUM, 43)}`,
  },
  password: { make: () => `${chars(ALNUM, 14)}9!`, around: (v) => `password=${v}` },
  email: { make: () => `${chars(HEX, 9)}@mail.example` },
  iban: { make: iban },
  card: { make: () => luhn(16) },
  ssn: { make: () => `${chars('12345678', 3)}-${chars('123456789', 2)}-${chars('123456789', 4)}` },
  phone: { make: () => `+49 30 ${chars('123456789', 8)}` },
};

interface Seed {
  readonly kind: string;
  readonly value: string;
  readonly text: string;
}
const seeds: Seed[] = Object.entries(KINDS).flatMap(([kind, { make, around }], at, all) =>
  Array.from({ length: at === all.length - 1 ? PER_KIND.last : PER_KIND.most }, () => {
    const value = make();
    return { kind, value, text: around?.(value) ?? value };
  }),
);

/** What a reader of a text must not find: the value, also as it stands inside JSON or HTML. */
function leaksIn(text: string): string[] {
  return seeds
    .filter(({ value }) => text.includes(value))
    .map(({ kind, value }) => `${kind}: ${value.slice(0, 6)}…`);
}

/** In turn into the places that telemetry has for text. */
function records(): ReturnType<typeof flatSpan>[] {
  return seeds.map(({ text }, i) => {
    const id = `s${String(i).padStart(3, '0')}`;
    const common = { start: i * 10, end: i * 10 + 5 };
    switch (i % 5) {
      case 0:
        return flatSpan(id, {
          ...common,
          attributes: chat([user(`Use this: ${text} and go on`)], [answer('Done.')]),
        });
      case 1:
        return flatSpan(id, {
          ...common,
          attributes: chat([user('Next')], [answer(`I noted ${text} for you`)]),
        });
      case 2:
        return flatSpan(id, {
          ...common,
          attributes: toolRun('save', { note: `see ${text} here` }, 'saved'),
        });
      case 3:
        return flatSpan(id, {
          ...common,
          attributes: toolRun('read', { id: i }, JSON.stringify({ found: `it is ${text} here` })),
        });
      default:
        return flatSpan(id, {
          ...common,
          status: 'ERROR',
          attributes: toolRun('send', { id: i }, `Error: gateway refused ${text} (503)`),
        });
    }
  });
}

/** Quotes the first thousand characters of what it was shown, in each text of its answers. */
const quoting = (request: ModelRequest) => {
  const quote = request.user.map(({ text }) => text).join('\n');
  const shown = /\bs\d{1,3}\b/gu;
  const spans = [...new Set([...quote.matchAll(shown)].map(([span]) => span))].slice(0, 40);
  const said = quote.slice(-1000);
  if (request.purpose === 'analyze-chunks')
    return {
      failures: spans.map((span) => ({
        span,
        category: 'execution-error-category-service-errors',
        confidence: 'high',
        quote: said,
        why: said,
      })),
    };
  return {
    criticalSteps: [],
    rootCauses: spans.map((span) => ({
      failure: span,
      location: span,
      causality: 'PRIMARY_FAILURE',
      impact: ['QUALITY_DEGRADATION'],
      timing: 'SILENT_UNDETECTED',
      explanation: said,
      fixType: 'SYSTEM_PROMPT_FIX',
      fix: said,
    })),
    completion: 'COMPLETE_FAILURE',
  };
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a session with 200 secrets and personal items of 15 kinds', () => {
  it('leaves none in prompts, logs, stores, reports of any format and the table', {
    timeout: 120_000,
  }, async () => {
    expect(seeds).toHaveLength(200);
    expect(new Set(seeds.map(({ kind }) => kind)).size).toBe(15);
    let logged = '';
    const listen = (text: unknown): boolean => {
      logged += String(text);
      return true;
    };
    vi.spyOn(process.stdout, 'write').mockImplementation(listen);
    vi.spyOn(process.stderr, 'write').mockImplementation(listen);
    for (const level of ['log', 'info', 'warn', 'error', 'debug'] as const)
      vi.spyOn(console, level).mockImplementation((...said) => void listen(said.map(String).join(' ')));

    const ingest = new LocalIngest();
    ingest.settings = { redaction: 'personal' };
    const events = records().map((record) => logEvent(record));
    expect(
      leaksIn(events.map(({ message }) => JSON.parse(JSON.stringify(message))).join('\n')).length,
    ).toBeGreaterThan(180);
    await ingest.deliver(events);
    await ingest.settle();
    expect(leaksIn(JSON.stringify(ingest.state()))).toEqual([]);
    const [key] = [...ingest.objects.objects.keys()].filter((name) =>
      /^sessions\/[^/]+\/[0-9a-f]{64}/u.test(name),
    );
    const session = sessionSchema.parse(await getJson(ingest.objects, key ?? ''));
    expect(session.traces.flatMap(({ spans }) => spans)).toHaveLength(200);
    for (const [name, bytes] of ingest.objects.objects)
      if (!name.startsWith('raw/')) expect(leaksIn(gunzipSync(bytes).toString()), name).toEqual([]);

    const where = path.join(scratchFolder(), 'store');
    const store = await openStore(where);
    if (store === null) throw new Error('no store');
    const model = scriptedModel([{ reply: quoting, times: 1000 }]);
    const clock = { now: () => ingest.clock.now() };
    const diagnosis = await diagnose(session, DEFAULT_OPTIONS, { model, counter: makeTokenCounter(), clock });
    expect(model.requests.length).toBeGreaterThan(0);
    expect(leaksIn(JSON.stringify(model.requests))).toEqual([]);
    expect(diagnosis.failures.length).toBeGreaterThan(0);
    expect(JSON.stringify(diagnosis)).toMatch(/\[(?:credential|personal)-/u);
    await freezeSession(session, diagnosis, store.objects);
    await store.diagnoses.put(diagnosis);
    await store.close();

    const shown: Record<string, string> = {};
    for (const format of FORMATS) {
      const { out, err } = await rootspan(['show', session.sessionId, '--store', where, '-f', format]);
      expect(out.length, format).toBeGreaterThan(0);
      shown[format] = out + err;
    }
    for (const command of [
      ['list'],
      ['top'],
      ['issues'],
      ['report', '--since', '30d'],
      ['show', session.sessionId, '--log'],
    ])
      shown[command.join(' ')] = (await rootspan([...command, '--store', where])).out;
    vi.restoreAllMocks();
    for (const [name, text] of Object.entries(shown)) expect(leaksIn(text), name).toEqual([]);
    expect(leaksIn(logged)).toEqual([]);
    for (const file of readdirSync(where, { recursive: true, encoding: 'utf8' })) {
      const bytes = (() => {
        try {
          return readFileSync(path.join(where, file));
        } catch {
          // A folder.
          return Buffer.alloc(0);
        }
      })();
      const text =
        bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes).toString() : bytes.toString('latin1');
      expect(leaksIn(text), file).toEqual([]);
    }
  });
});

const CORPUS = sharedPath('bench', 'dev');

describe.skipIf(CORPUS === null)('false replacements on the benchmark texts', () => {
  const count = (sessions: readonly Session[], kind: string): string[] =>
    sessions.flatMap((session) => [
      ...new Set(
        [...JSON.stringify(session).matchAll(new RegExp(`\\[${kind}-\\d+ ([a-z-]+)\\]`, 'gu'))].map(
          ([all]) => all,
        ),
      ),
    ]);

  it('none: no credential is seen in 166 runs; of addresses and telephone numbers only real ones are', () => {
    const sessions = readCorpora(CORPUS ?? '').flatMap((corpus) => corpus.sessions);
    const byKind = (found: readonly string[]): Record<string, number> =>
      Object.fromEntries(
        [...Map.groupBy(found, (placeholder) => placeholder.replace(/^.* |\]$/gu, ''))].map(([kind, all]) => [
          kind,
          all.length,
        ]),
      );
    expect(sessions).toHaveLength(166);
    expect(byKind(count(sessions, 'credential'))).toEqual({});
    // Looked through one by one: shops' telephone numbers in pages, and the addresses of made-up customers.
    expect(byKind(count(sessions.map(redactPersonal), 'personal'))).toEqual({ email: 63, phone: 96 });
  });
});
