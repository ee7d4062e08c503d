import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod';
import { usageSchema } from '../../core/diagnosis/schema.ts';
import { CRITICAL_CATEGORIES } from '../../core/vocabulary/critical-categories.ts';
import type { Prediction } from './predictor.ts';

const stepSchema = z.object({
  position: z.number(),
  category: z.enum(CRITICAL_CATEGORIES),
  agent: z.string().nullable(),
  confidence: z.number(),
});
const lineSchema = z.object({
  key: z.string(),
  prediction: z.object({
    critical: stepSchema.nullable(),
    alternatives: z.array(stepSchema),
    outcome: z.string(),
    usage: usageSchema,
    usageByStage: z.record(z.string(), usageSchema),
  }),
});

export interface Journal {
  /** What an earlier run with the same settings had finished. */
  readonly done: ReadonlyMap<string, Prediction>;
  append(key: string, prediction: Prediction): void;
}

/**
 * One JSON line a finished prediction, so that an interrupted benchmark goes on where it stopped. With `resume`, a
 * file of other settings (its first line) is started anew, and a line cut by a crash is asked for again.
 */
export function openJournal(file: string, settingsHash: string, resume: boolean): Journal {
  const head = JSON.stringify({ settings: settingsHash });
  const done = new Map<string, Prediction>();
  const [first, ...lines] = resume && existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  if (first === head) {
    for (const line of lines) {
      const parsed = lineSchema.safeParse(parseLine(line));
      if (parsed.success) done.set(parsed.data.key, parsed.data.prediction);
    }
  }
  const kept = [...done].map(([key, prediction]) => JSON.stringify({ key, prediction }));
  writeFileSync(file, [head, ...kept, ''].join('\n'));
  return {
    done,
    append: (key, prediction) => appendFileSync(file, `${JSON.stringify({ key, prediction })}\n`),
  };
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
