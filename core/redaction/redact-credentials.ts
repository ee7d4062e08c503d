import { mapSession } from '../session/map-session.ts';
import type { Session, Unread } from '../session/session.ts';
import { findKeyed, findNamed } from './credential-names.ts';
import { type Found, findShapes } from './credential-shapes.ts';

/**
 * Replaces the credentials in all text of a session by placeholders such as `[credential-1 aws-access-key]`: equal
 * ones for equal secrets, numbered in the order of the session, so that evidence still reads. A secret that is known
 * by its name in one place (`password=…`) is replaced wherever else the session repeats it.
 *
 * Pure, deterministic and idempotent. Ids, times, numbers and the shape stay; JSON text stays JSON. A session without
 * credentials comes back as the same object.
 *
 * Not found: secrets with no known shape and no name before them, with white space in them, split over two texts, in
 * names of other languages; and in ids, which other records are joined by.
 */
export function redactCredentials(session: Session): Session {
  const findings = new Findings();
  mapSession(session, findings.collect, findings.collectKeyed);
  return findings.isEmpty ? session : mapSession(session, findings.replace, findings.replaceKeyed);
}

/** The same for text that belongs to no session: error messages and reasons that may quote input. */
export function redactText(text: string): string {
  const findings = new Findings();
  findings.collect(text);
  return findings.isEmpty ? text : findings.replace(text);
}

export function redactUnread(unread: readonly Unread[]): Unread[] {
  return unread.map((entry) => ({
    ...entry,
    where: redactText(entry.where),
    reason: redactText(entry.reason),
  }));
}

const PLACEHOLDER = /\[credential-(\d{1,15}) [a-z-]{1,30}\]/g;
/** A forged number beyond it is not counted on from, so that ours stay whole numbers. */
const MAX_FOREIGN = 1_000_000;

/** Shorter secrets are replaced where their name stands and nowhere else: `admin1` is also a word. */
const MIN_KNOWN_LENGTH = 8;
/** Longer ones are tokens with a shape of their own. */
const MAX_KNOWN_LENGTH = 512;
/** To crowd a secret out of such a list one would have to know its longest part already. */
const MAX_PER_RUN = 32;

class Findings {
  /** Secret to placeholder. */
  readonly #placeholders = new Map<string, string>();
  /** Longest alphanumeric run of a secret to the secrets that have it, so that a scan stays linear. */
  readonly #byRun = new Map<string, string[]>();
  /** Texts known to hold nothing of their own: sessions repeat their history at each call. */
  readonly #clean = new Set<string>();
  readonly #replaced = new Map<string, string>();
  #kinds = new Map<string, string>();
  #lastNumber = 0;

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  readonly collect = (text: string): string => {
    if (text.length < 6 || this.#clean.has(text)) return text;
    this.#clean.add(text);
    this.#countForeign(text);
    for (const { from, to, kind } of findIn(text)) this.#add(text.slice(from, to), kind);
    return text;
  };

  readonly collectKeyed = (key: string, value: string): string => {
    const found = findKeyed(key, value);
    if (found === null) return this.collect(value);
    this.#countForeign(value);
    this.#add(value.slice(found.from), found.kind);
    return value;
  };

  readonly replace = (text: string): string => {
    if (text.length < 6) return text;
    const known = this.#replaced.get(text);
    if (known !== undefined) return known;
    const result = this.#rewrite(text);
    this.#replaced.set(text, result);
    return result;
  };

  readonly replaceKeyed = (key: string, value: string): string => {
    const found = findKeyed(key, value);
    if (found === null) return this.replace(value);
    return value.slice(0, found.from) + this.#placeholderOf(value.slice(found.from), found.kind);
  };

  /** Placeholders that the input brought along keep their numbers to themselves. */
  #countForeign(text: string): void {
    if (!text.includes('[credential-')) return;
    for (const [, digits] of text.matchAll(PLACEHOLDER))
      if (Number(digits) < MAX_FOREIGN) this.#lastNumber = Math.max(this.#lastNumber, Number(digits));
  }

  #add(secret: string, kind: string): void {
    if (this.#kinds.has(secret)) return;
    this.#kinds.set(secret, kind);
    if (secret.length < MIN_KNOWN_LENGTH || secret.length > MAX_KNOWN_LENGTH) return;
    if (!/\d/.test(secret) || !/[A-Za-z]/.test(secret)) return;
    const run = longestRun(secret);
    const list = this.#byRun.get(run);
    if (list === undefined) this.#byRun.set(run, [secret]);
    else if (list.length < MAX_PER_RUN) list.push(secret);
  }

  /** Numbers are given when all is collected, in the order of collection. */
  #placeholderOf(secret: string, kind: string): string {
    if (this.#placeholders.size === 0) for (const [known, as] of this.#kinds) this.#name(known, as);
    return this.#placeholders.get(secret) ?? this.#name(secret, kind);
  }

  #name(secret: string, kind: string): string {
    this.#lastNumber += 1;
    const placeholder = `[credential-${this.#lastNumber} ${kind}]`;
    this.#placeholders.set(secret, placeholder);
    return placeholder;
  }

  #rewrite(text: string): string {
    const found = [...findIn(text), ...this.#findKnown(text)];
    if (found.length === 0) return text;
    let result = '';
    let done = 0;
    for (const { from, to, kind } of apart(text, found)) {
      result += text.slice(done, from) + this.#placeholderOf(text.slice(from, to), kind);
      done = to;
    }
    return result + text.slice(done);
  }

  #findKnown(text: string): Found[] {
    const found: Found[] = [];
    if (this.#byRun.size === 0) return found;
    for (const { 0: run, index } of text.matchAll(/[A-Za-z0-9]+/g)) {
      for (const secret of this.#byRun.get(run) ?? []) {
        const from = index - secret.indexOf(run);
        const to = from + secret.length;
        if (from < 0 || !text.startsWith(secret, from)) continue;
        found.push({ from, to, kind: this.#kinds.get(secret) ?? 'secret' });
      }
    }
    return found;
  }
}

function findIn(text: string): Found[] {
  const found = [...findShapes(text), ...findNamed(text)];
  return found.length === 0 ? found : apart(text, found);
}

/**
 * In order, and those that overlap made one. Nothing inside or against a placeholder: the secret that stood there
 * was no boundary, so neither is the placeholder, and a second run finds no more than the first.
 */
function apart(text: string, found: readonly Found[]): Found[] {
  const taken = text.includes('[credential-')
    ? [...text.matchAll(PLACEHOLDER)].map(({ 0: { length }, index }) => ({ from: index, to: index + length }))
    : [];
  const result: Found[] = [];
  let next = 0;
  for (const match of [...found].sort((a, b) => a.from - b.from || b.to - a.to)) {
    while ((taken[next]?.to ?? Number.POSITIVE_INFINITY) < match.from) next += 1;
    if ((taken[next]?.from ?? Number.POSITIVE_INFINITY) <= match.to) continue;
    const last = result.at(-1);
    if (last === undefined || match.from >= last.to) result.push(match);
    else if (match.to > last.to) result[result.length - 1] = { ...last, to: match.to };
  }
  return result;
}

function longestRun(secret: string): string {
  let longest = '';
  for (const [run] of secret.matchAll(/[A-Za-z0-9]+/g)) if (run.length > longest.length) longest = run;
  return longest;
}
