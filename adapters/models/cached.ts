import * as z from 'zod';
import type { Model, ModelAnswer } from '../../core/model/port.ts';
import { hashRequest } from '../../core/model/request-body.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import { answerSchema } from './answer-file.ts';

const entrySchema = z.object({ version: z.literal(1), answer: answerSchema });

/**
 * Remembers answers under `cache/<request hash>.json`, and asks once when equal requests run at the same time.
 * A cached answer keeps the usage it once had, so that a diagnosis shows what it took to make; sums of what was
 * spent now (the daily budget) leave out calls with `cached: true`. Errors are not remembered.
 */
export function cachedModel(model: Model, store: ObjectStore): Model {
  const running = new Map<string, Promise<ModelAnswer>>();
  return {
    spec: model.spec,
    limits: model.limits,
    async ask(request) {
      const hash = hashRequest(model.spec, request);
      const already = running.get(hash);
      if (already !== undefined) return { ...(await already), cached: true };
      const work = (async () => {
        const key = `cache/${hash}.json`;
        const found = readEntry(await store.get(key));
        if (found !== null) return { ...found, cached: true };
        const answer = await model.ask(request);
        const entry: z.infer<typeof entrySchema> = { version: 1, answer: { ...answer } };
        await store.put(key, new TextEncoder().encode(JSON.stringify(entry)));
        return answer;
      })();
      running.set(hash, work);
      try {
        return await work;
      } finally {
        running.delete(hash);
      }
    },
  };
}

/** An entry that is not (or no longer) of this shape counts as none: asking again replaces it. */
function readEntry(bytes: Uint8Array | null): ModelAnswer | null {
  if (bytes === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
  const entry = entrySchema.safeParse(json);
  return entry.success ? entry.data.answer : null;
}
