import { ErrorName, type FaultOwner } from './error-names.ts';

/**
 * Base of every error that Rootspan raises on purpose.
 *
 * `name` is a literal in each subclass because Step Functions matches the string and bundlers rename classes.
 * `retryable` says whether the same call can succeed later without anybody changing anything.
 * `message` says what was found, what was expected and what to do.
 */
export abstract class RootspanError extends Error {
  abstract override readonly name: ErrorName;
  abstract readonly retryable: boolean;
  abstract readonly fault: FaultOwner;
}

/** The input is not a session we can read. */
export class SessionInvalidError extends RootspanError {
  override readonly name = ErrorName.SessionInvalid;
  readonly retryable = false;
  readonly fault = 'input';
}

/** The input exceeds a hard cap (bytes, spans, decompressed size). */
export class SessionTooLargeError extends RootspanError {
  override readonly name = ErrorName.SessionTooLarge;
  readonly retryable = false;
  readonly fault = 'input';
}

/** The model answered "slow down". Retry long and jittered. */
export class ModelThrottledError extends RootspanError {
  override readonly name = ErrorName.ModelThrottled;
  readonly retryable = true;
  readonly fault = 'platform';
}

/** The model's service failed or the connection broke. */
export class ModelUnavailableError extends RootspanError {
  override readonly name = ErrorName.ModelUnavailable;
  readonly retryable = true;
  readonly fault = 'platform';
}

/** Credentials, permissions, model access or an unknown model id: no retry helps, somebody must act. */
export class ModelAccessError extends RootspanError {
  override readonly name = ErrorName.ModelAccess;
  readonly retryable = false;
  readonly fault = 'configuration';
}

/** The answer could not be used, also after the one repair call. */
export class ModelOutputInvalidError extends RootspanError {
  override readonly name = ErrorName.ModelOutputInvalid;
  readonly retryable = false;
  readonly fault = 'model';
}

/** The request did not fit the model's window; the caller splits and goes on. */
export class ContextOverflowError extends RootspanError {
  override readonly name = ErrorName.ContextOverflow;
  readonly retryable = false;
  readonly fault = 'input';
}

/** The day's budget is spent; the session is resumable tomorrow. */
export class BudgetExhaustedError extends RootspanError {
  override readonly name = ErrorName.BudgetExhausted;
  readonly retryable = false;
  readonly fault = 'configuration';
}

/** Another writer got there first with different content. */
export class ResultConflictError extends RootspanError {
  override readonly name = ErrorName.ResultConflict;
  readonly retryable = false;
  readonly fault = 'platform';
}

/** A batch request was written down and has no answer yet; running again later goes on from there. */
export class ModelPendingError extends RootspanError {
  override readonly name = ErrorName.ModelPending;
  readonly retryable = false;
  readonly fault = 'model';
  readonly requestHashes: readonly string[];
  constructor(message: string, requestHashes: readonly string[], options?: ErrorOptions) {
    super(message, options);
    this.requestHashes = requestHashes;
  }
}

/** A setting, flag, environment variable or local file of ours is wrong. */
export class ConfigurationInvalidError extends RootspanError {
  override readonly name = ErrorName.ConfigurationInvalid;
  readonly retryable = false;
  readonly fault = 'configuration';
}
