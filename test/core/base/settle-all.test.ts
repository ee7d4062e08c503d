import { expect, test } from 'vitest';
import { settleAll } from '../../../core/base/settle-all.ts';
import { ModelPendingError, ModelThrottledError } from '../../../core/errors/errors.ts';

const pending = (...hashes: string[]) => Promise.reject(new ModelPendingError('open', hashes));

test('values come in the order asked', async () => {
  await expect(settleAll([Promise.resolve(1), Promise.resolve(2)])).resolves.toEqual([1, 2]);
});

test('open requests of all of them are named together, each once, after all were started', async () => {
  let started = 0;
  const late = async () => {
    await Promise.resolve();
    started++;
    return pending('b', 'c');
  };
  const error = await settleAll([pending('a', 'b'), late(), Promise.resolve(1)]).catch((e: unknown) => e);
  expect(started).toBe(1);
  expect(error).toBeInstanceOf(ModelPendingError);
  expect((error as ModelPendingError).requestHashes).toEqual(['a', 'b', 'c']);
});

test('an error that waiting does not cure comes before open requests', async () => {
  const asked = settleAll([pending('a'), Promise.reject(new ModelThrottledError('slow'))]);
  await expect(asked).rejects.toBeInstanceOf(ModelThrottledError);
});
