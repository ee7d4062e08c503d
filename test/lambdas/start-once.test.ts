import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { ErrorName } from '../../core/errors/error-names.ts';

describe('a handler at its first event', () => {
  it('is built once, also by events at the same time', async () => {
    let built = 0;
    const handler = startOnce(async () => {
      built++;
      return async (n: number) => n * 2;
    });
    expect(built).toBe(0);
    expect(await Promise.all([handler(1), handler(2)])).toEqual([2, 4]);
    expect(built).toBe(1);
  });

  it('a wrong environment is a named fault of the invocation, not of loading the module', async () => {
    const schema = z.object({ BUCKET_NAME: z.string().min(1), DAYS: z.coerce.number().int().positive() });
    const handler = startOnce(async () => {
      parseEnvironment(schema, { DAYS: 'many' });
      return async () => null;
    });
    const fault = await handler(null).catch((error: Error) => error);
    expect(fault).toMatchObject({ name: ErrorName.ConfigurationInvalid });
    expect(String(fault)).toMatch(/BUCKET_NAME.*DAYS/);
  });
});
