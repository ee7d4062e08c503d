import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatFixtures } from '../../../bench/formats/fixtures.ts';
import type { JsonValue } from '../../../core/base/json.ts';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import { SessionInvalidError } from '../../../core/errors/errors.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { readSessions } from '../../../core/reading/registry.ts';
import { type Session, sessionSchema, sessionSpans } from '../../../core/session/session.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';

/**
 * Every format's fixture, damaged in the ways that files are: it is read into valid sessions or refused in words, and
 * what broke off is never clean, not even to a model that finds nothing.
 */

/** Sessions as read, none where the input is refused. */
function outcome(text: string, source: string): readonly Session[] {
  try {
    const { sessions } = readSessions({ text, source });
    expect(sessions.length).toBeGreaterThan(0);
    for (const session of sessions) {
      expect(sessionSchema.safeParse(session).error).toBeUndefined();
      const ids = session.traces.flatMap(({ traceId, spans }) =>
        spans.map(({ spanId }) => `${traceId} ${spanId}`),
      );
      expect(sessionSpans(session).length).toBeGreaterThan(0);
      expect(new Set(ids).size).toBe(ids.length);
    }
    return sessions;
  } catch (error) {
    if (!(error instanceof SessionInvalidError)) throw error;
    expect(error.message).not.toBe('');
    return [];
  }
}

const counter = makeTokenCounter();

/** Whether a model that finds nothing would let the session pass as wholly looked at. */
async function passesAsWhole(session: Session): Promise<boolean> {
  const model = scriptedModel([{ reply: { failures: [] }, times: 50 }]);
  const { outcome: verdict, coverage } = await diagnose(session, DEFAULT_OPTIONS, {
    model,
    counter,
    clock: { now: () => 0 },
  });
  return verdict === 'CLEAN' || coverage.state === 'COMPLETE';
}

/** The documents of a file: one, or one a line; `null` for text. */
function documentsOf(text: string): JsonValue[] | null {
  try {
    return [JSON.parse(text)];
  } catch {
    try {
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    } catch {
      return null;
    }
  }
}

const asText = (documents: readonly JsonValue[]): string =>
  documents.map((one) => JSON.stringify(one)).join('\n');

/** Every list of the value in another order, or with each of its elements twice. */
function eachList(value: JsonValue, change: (list: JsonValue[]) => JsonValue[]): JsonValue {
  if (Array.isArray(value)) return change(value.map((item) => eachList(item, change)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, eachList(item, change)]));
}

/** Copies of the value in which one value at a time is of another type: at most `most` of them, spread evenly. */
function wrongTypes(value: JsonValue, most: number): JsonValue[] {
  const places = placesOf(value);
  const step = Math.max(1, Math.floor(places.length / most));
  const wrong: JsonValue[] = [null, 7, 'x', [], {}, [[]], true, -1e300];
  return places
    .filter((_, index) => index % step === 0)
    .map((where, index) => replaced(value, where, wrong[index % wrong.length] ?? null));
}

type Place = readonly (string | number)[];

/** The way to each value, the whole first. */
function placesOf(value: JsonValue): Place[] {
  const places: Place[] = [];
  const walk = (at: JsonValue, where: Place): void => {
    places.push(where);
    if (typeof at !== 'object' || at === null) return;
    for (const [key, item] of Object.entries(at)) walk(item, [...where, key]);
  };
  walk(value, []);
  return places;
}

function replaced(value: JsonValue, where: Place, by: JsonValue): JsonValue {
  const [key, ...rest] = where;
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((item, at) => (at === Number(key) ? replaced(item, rest, by) : item));
  if (typeof value !== 'object' || value === null) return value;
  return { ...value, [key]: replaced(value[String(key)] ?? null, rest, by) };
}

const PIECES = 50;
const MARK = 'put in its place';

const FILES = (await formatFixtures()).map(({ format, file, path: at }) => {
  const text = readFileSync(at, 'utf8');
  return { format, file, text, source: path.basename(at), documents: documentsOf(text) };
});
const pieces = (text: string): string[] =>
  Array.from({ length: PIECES - 1 }, (_, n) => text.slice(0, Math.floor((text.length * (n + 1)) / PIECES)));

describe.each(FILES)('$format: $file', ({ text, source }) => {
  it('cut after each fiftieth of its length', () => {
    for (const cut of pieces(text)) outcome(cut, source);
  });
  it('everything twice', () => {
    outcome(`${text.trimEnd()}\n${text}`, source);
  });
});

const JSON_FILES = FILES.flatMap((file) =>
  file.documents === null ? [] : [{ ...file, documents: file.documents }],
);

describe.each(JSON_FILES)('$format: $file, as JSON', ({ text, source, documents }) => {
  it('cut inside a value: not whole', async () => {
    for (const piece of pieces(text)) {
      const cut = piece.trimEnd();
      // A cut between two lines leaves whole lines.
      if (documentsOf(cut) !== null) continue;
      for (const session of outcome(cut, source))
        expect(await passesAsWhole(session), cut.slice(-80)).toBe(false);
    }
  });
  it('in reverse, and every item twice', () => {
    outcome(
      asText(documents.map((whole) => eachList(whole, (list) => list.toReversed())).toReversed()),
      source,
    );
    outcome(
      asText(documents.map((whole) => eachList(whole, (list) => list.flatMap((item) => [item, item])))),
      source,
    );
  });
  it('deep and huge', () => {
    const [first] = documents;
    const deep = `${'{"a":['.repeat(3_000)}${']}'.repeat(3_000)}`;
    const huge = JSON.stringify('x'.repeat(300_000));
    for (const [index, where] of placesOf(first!).slice(0, 40).entries()) {
      const marked = asText([replaced(first!, where, MARK)]);
      outcome(marked.replace(JSON.stringify(MARK), deep), source);
      if (index % 4 === 0) outcome(marked.replace(JSON.stringify(MARK), huge), source);
    }
  });
  it('with one value of another type', () => {
    for (const [index, whole] of documents.entries())
      for (const wrong of wrongTypes(whole, Math.ceil(120 / documents.length)))
        outcome(asText(documents.with(index, wrong)), source);
  });
});
