import validateAsl from 'asl-validator';
import { describe, expect, it } from 'vitest';
import { ErrorName } from '../../core/errors/error-names.ts';
import * as errors from '../../core/errors/errors.ts';
import { definitionOf, type StateLike, synthesise } from '../helpers/synthesised.ts';

/** The synthesised definition against the rules of the language and against our own contracts. */

const definition = definitionOf(synthesise());
const states: Record<string, StateLike> = Object.fromEntries(
  Object.entries(definition.States).flatMap(([name, state]) => [
    [name, state],
    ...Object.entries(state.ItemProcessor?.States ?? {}),
  ]),
);
const tasks = Object.entries(states).filter(([, state]) => state.Type === 'Task');

describe('the state machine', () => {
  it('is valid Amazon States Language', () => {
    const { isValid, errors: found } = validateAsl(structuredClone(definition));
    expect(found).toEqual([]);
    expect(isValid).toBe(true);
  });

  it('the validator is awake', () => {
    const { isValid } = validateAsl({ ...structuredClone(definition), StartAt: 'Nowhere' });
    expect(isValid).toBe(false);
  });

  it('speaks JSONPath, and runs its map inline', () => {
    expect(JSON.stringify(definition)).not.toContain('JSONata');
    expect(states.AnalyzeChunks).toMatchObject({ ItemProcessor: { ProcessorConfig: { Mode: 'INLINE' } } });
  });

  it('every fault of every step has a way out, and the way ends in failure', () => {
    for (const [name, state] of Object.entries(definition.States)) {
      if (name === 'SendToDeadLetters' || state.Type === 'Fail') continue;
      expect(state.Catch?.at(-1)?.ErrorEquals, name).toEqual(['States.ALL']);
    }
    expect(states.DiagnosisFailed?.Type).toBe('Fail');
  });

  it('an item of the map turns every fault into a result, but fails at once when the configuration is wrong', () => {
    expect(states.AnalyzeChunk?.Catch).toMatchObject([
      { ErrorEquals: [ErrorName.ModelAccess, ErrorName.ConfigurationInvalid], Next: 'ConfigurationFault' },
      { ErrorEquals: ['States.ALL'], Next: 'RecordChunkNotAnalyzed' },
    ]);
  });
});

describe('retries', () => {
  it('name only errors that exist, each once per state, and everything else last', () => {
    const ours = new Set<string>(Object.values(ErrorName));
    for (const [name, { Retry = [] }] of tasks) {
      const listed = Retry.flatMap((retry) => retry.ErrorEquals);
      expect(new Set(listed).size, name).toBe(listed.length);
      for (const error of listed) if (!/^(Lambda|States)\./.test(error)) expect(ours, name).toContain(error);
      expect(Retry.at(-1)?.ErrorEquals, name).toEqual(['States.ALL']);
      expect(
        Retry.slice(0, -1).flatMap((retry) => retry.ErrorEquals),
        name,
      ).not.toContain('States.ALL');
    }
  });

  it('agree with what each error says of itself', () => {
    const attempts = (error: string): number | undefined =>
      states.AnalyzeChunk?.Retry?.find((retry) => retry.ErrorEquals.includes(error))?.MaxAttempts;
    for (const [name, type] of Object.entries(errors)) {
      if (name === 'RootspanError') continue;
      const error = Reflect.construct(type as new (...args: unknown[]) => errors.RootspanError, ['x', []]);
      expect([name, (attempts(error.name) ?? -1) > 0]).toEqual([name, error.retryable]);
    }
  });

  it('CDK has added none of its own', () => {
    for (const [name, { Retry = [] }] of tasks) {
      const platform = Retry.filter((retry) =>
        retry.ErrorEquals.some((error) => error.startsWith('Lambda.')),
      );
      expect(platform.length, name).toBe(name === 'SendToDeadLetters' ? 0 : 1);
    }
  });
});
