import type * as z from 'zod';
import { ConfigurationInvalidError, SessionInvalidError } from '../errors/errors.ts';

/** Environment variables by their schema; ConfigurationInvalidError names each that is missing or wrong. */
export function parseEnvironment<T extends z.ZodType>(
  schema: T,
  values: Readonly<Record<string, string | undefined>>,
): z.output<T> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw new ConfigurationInvalidError(
    `the environment of this function is wrong: ${explain(parsed.error)}; deploy it with the construct that sets it`,
  );
}

/** What a caller's own program hands in, by its schema; ConfigurationInvalidError says what was found. */
export function parseGiven<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ConfigurationInvalidError(`${what} is not as expected: ${explain(parsed.error)}`);
}

/** What comes in at a door, by its schema; SessionInvalidError says what was found there. */
export function parseAtDoor<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new SessionInvalidError(`${what} is not as expected: ${explain(parsed.error)}`);
}

function explain(error: z.ZodError): string {
  const { issues } = error;
  const shown = issues.slice(0, 5).map(({ path, message }) => `${path.join('.') || 'value'}: ${message}`);
  return shown.join('; ') + (issues.length > 5 ? `; and ${issues.length - 5} more` : '');
}
