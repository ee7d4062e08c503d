import { describe, expect, it } from 'vitest';
import { pacedModel } from '../../../adapters/models/paced.ts';
import { ModelThrottledError } from '../../../core/errors/errors.ts';
import type { Model, ModelAnswer } from '../../../core/model/port.ts';
import { sampleRequest } from '../../helpers/sample-request.ts';
import { scriptedModel } from '../../helpers/scripted-model.ts';

/** A model whose calls end when the test says so. */
function heldModel(callsAtOnce: number) {
  const open: { answer(): void; throttle(): void }[] = [];
  const { limits } = scriptedModel([]);
  const model: Model = {
    spec: 'held',
    limits: { ...limits, callsAtOnce },
    ask: () =>
      new Promise<ModelAnswer>((resolve, reject) => {
        open.push({
          answer: () => resolve({ text: '{}' } as ModelAnswer),
          throttle: () => reject(new ModelThrottledError('slow down')),
        });
      }),
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  };
  return {
    model: pacedModel(model),
    /** Ends the calls that are under way; gives how many there were. */
    async end(how: 'answer' | 'throttle'): Promise<number> {
      await settle();
      const now = open.splice(0);
      for (const call of now) call[how]();
      await settle();
      return now.length;
    },
  };
}

describe('a paced model', () => {
  it('has so many calls under way and no more, and all are answered', async () => {
    const { model, end } = heldModel(3);
    const all = Promise.all(Array.from({ length: 8 }, () => model.ask(sampleRequest())));
    expect([await end('answer'), await end('answer'), await end('answer')]).toEqual([3, 3, 2]);
    expect(await all).toHaveLength(8);
  });

  it('halves when it is throttled, once for all calls of the time, and comes back by one a round', async () => {
    const { model, end } = heldModel(8);
    const ask = (count: number): void => {
      for (let i = 0; i < count; i++) model.ask(sampleRequest()).catch(() => undefined);
    };
    ask(60);
    expect(await end('throttle')).toBe(8);
    expect(await end('throttle')).toBe(4);
    const rounds: number[] = [];
    for (let i = 0; i < 7; i++) rounds.push(await end('answer'));
    expect(rounds).toEqual([2, 3, 4, 5, 6, 7, 8]);
    // Never less than one.
    for (let i = 0; i < 6; i++) await end('throttle');
    ask(3);
    expect(await end('answer')).toBe(1);
  });
});
