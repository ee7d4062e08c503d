import { describe, expect, it } from 'vitest';
import { ErrorName } from '../../../core/errors/error-names.ts';
import { classifyModelFault } from '../../../core/model/classify-model-fault.ts';

describe('a failure of the model gets its name from name, status and wording', () => {
  it.each([
    [
      { message: 'ThrottlingException (reached max retries: 4): Too many requests' },
      ErrorName.ModelThrottled,
    ],
    [
      { name: 'ThrottlingException', status: 429, message: 'Too many tokens per day, please wait' },
      ErrorName.ModelThrottled,
    ],
    [{ name: 'ServiceQuotaExceededException', status: 400, message: 'quota' }, ErrorName.ModelThrottled],
    [{ message: 'Your request rate is too high' }, ErrorName.ModelThrottled],
    [
      { name: 'ModelNotReadyException', status: 429, message: 'Model is not ready' },
      ErrorName.ModelThrottled,
    ],
    [
      { name: 'ValidationException', status: 400, message: 'too many total text bytes' },
      ErrorName.ContextOverflow,
    ],
    [{ name: 'ModelTimeoutException', status: 408, message: 'timed out' }, ErrorName.ModelUnavailable],
    [{ name: 'ModelErrorException', status: 424, message: 'failed' }, ErrorName.ModelUnavailable],
    [{ name: 'ECONNRESET', message: 'socket hang up' }, ErrorName.ModelUnavailable],
    [
      { name: 'TimeoutError', message: 'The operation was aborted due to timeout' },
      ErrorName.ModelUnavailable,
    ],
    [
      { name: 'CredentialsProviderError', message: 'Could not load credentials from any providers' },
      ErrorName.ModelAccess,
    ],
    [
      {
        name: 'ValidationException',
        status: 400,
        message: 'Invocation of model ID x with on-demand throughput isn’t supported.',
      },
      ErrorName.ModelAccess,
    ],
    [
      {
        name: 'ValidationException',
        status: 400,
        message: 'messages: text content blocks must be non-empty',
      },
      ErrorName.ConfigurationInvalid,
    ],
    [{ message: '' }, ErrorName.ConfigurationInvalid],
  ])('%j', (fault, name) => {
    expect(classifyModelFault(fault).name).toBe(name);
  });

  it('keeps the cause and bounds the message', () => {
    const cause = new Error('x');
    const error = classifyModelFault({ message: 'y'.repeat(100_000), cause });
    expect(error.cause).toBe(cause);
    expect(error.message.length).toBeLessThan(3000);
  });
});
