import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { noneModel } from '../../adapters/models/none.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import { diagnosisSchema } from '../../core/diagnosis/schema.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { readSessions } from '../../core/reading/registry.ts';
import type { Session } from '../../core/session/session.ts';
import { diagnose, preflight } from '../../core/stages/pipeline.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { GENERATED } from '../../examples/generate.ts';

const folder = path.resolve(import.meta.dirname, '../../examples');
const counter = makeTokenCounter();

const expectedSchema = z.strictObject({
  outcome: z.string(),
  failures: z.array(z.strictObject({ position: z.number(), category: z.string() })),
  critical: z.strictObject({ position: z.number(), category: z.string() }).nullable(),
});

const written = readdirSync(folder)
  .filter((file) => /\.jsonl?$/.test(file))
  .map((file) => ({
    name: file.replace(/\.jsonl?$/, ''),
    load: () => readSessions({ text: readFileSync(path.join(folder, file), 'utf8'), source: file }),
  }));
const generated = Object.entries(GENERATED).map(([name, make]) => ({
  name,
  load: () => readSessions({ text: JSON.stringify(make()), source: `${name}.json` }),
}));
const examples = [...written, ...generated];
const only = (name: string): Session => {
  const [session, ...others] = examples.find((example) => example.name === name)!.load().sessions;
  expect(others).toEqual([]);
  return session!;
};

describe.each(examples)('example $name', ({ name, load }) => {
  const { sessions, unread } = load();
  it('reads whole, into one session of its name', () => {
    expect(unread).toEqual([]);
    expect(sessions.map((session) => session.sessionId)).toEqual([name]);
  });
  it('gets the diagnosis written beside it, without a model', async () => {
    const session = sessions[0]!;
    const expected = expectedSchema.parse(
      JSON.parse(readFileSync(path.join(folder, 'expected', `${name}.json`), 'utf8')),
    );
    const diagnosis = await diagnose(session, DEFAULT_OPTIONS, {
      model: noneModel,
      counter,
      clock: { now: () => 0 },
    });
    const { stepBySpan } = toTrajectory(session);
    expect(diagnosisSchema.safeParse(diagnosis).error).toBeUndefined();
    expect({
      outcome: diagnosis.outcome,
      failures: diagnosis.failures.flatMap((failure) =>
        failure.category.map((category) => ({
          position: stepBySpan.get(failure.span_id)?.position,
          category,
        })),
      ),
      critical:
        diagnosis.criticalStep === null
          ? null
          : { position: diagnosis.criticalStep.position, category: diagnosis.criticalStep.category },
    }).toEqual(expected);
  });
});

it('no expectation without an example', () => {
  const expected = readdirSync(path.join(folder, 'expected')).map((file) => file.replace(/\.json$/, ''));
  expect(expected.sort()).toEqual(examples.map((example) => example.name).sort());
});

it('the healthy ones have no finding that stands by itself', () => {
  const healthy = examples.filter((example) => example.name.endsWith('-healthy'));
  expect(healthy.length).toBeGreaterThanOrEqual(2);
  for (const { name } of healthy) {
    const file = path.join(folder, 'expected', `${name}.json`);
    const { failures, critical } = expectedSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    expect([failures, critical]).toEqual([[], null]);
  }
});

describe('what the large ones are for', () => {
  const planned = (name: string) =>
    preflight(only(name), DEFAULT_OPTIONS, { counter, limits: noneModel.limits, modelSpec: 'none' }).plan;
  it('stocktake-long does not fit one call', () => {
    const plan = planned('stocktake-long');
    expect(plan.mode).toBe('chunked');
    expect(plan.chunks.flatMap((chunk) => chunk.spans).every((span) => span.part === null)).toBe(true);
  });
  it('log-review-oversized has a span that is analysed in parts', () => {
    const parts = planned('log-review-oversized').chunks.flatMap((chunk) => chunk.spans);
    expect(parts.filter((span) => span.part !== null).length).toBeGreaterThan(1);
  });
});

it('no example is over 300 KB', () => {
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) expect(statSync(path.join(file.parentPath, file.name)).size).toBeLessThan(300_000);
  }
});
