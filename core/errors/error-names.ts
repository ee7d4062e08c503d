/**
 * The one list of error names. The state machine's `Retry`/`Catch` blocks, the alarms, the runbook headings and
 * the CLI all match on these strings, so a name exists here or nowhere.
 */
export const ErrorName = {
  SessionInvalid: 'SessionInvalidError',
  SessionTooLarge: 'SessionTooLargeError',
  ModelThrottled: 'ModelThrottledError',
  ModelUnavailable: 'ModelUnavailableError',
  ModelAccess: 'ModelAccessError',
  ModelOutputInvalid: 'ModelOutputInvalidError',
  ContextOverflow: 'ContextOverflowError',
  BudgetExhausted: 'BudgetExhaustedError',
  ResultConflict: 'ResultConflictError',
  ModelPending: 'ModelPendingError',
  ConfigurationInvalid: 'ConfigurationInvalidError',
} as const;

export type ErrorName = (typeof ErrorName)[keyof typeof ErrorName];

/** Whose fault it is decides who is woken up: input and model faults are results, platform and configuration faults page. */
export type FaultOwner = 'input' | 'model' | 'platform' | 'configuration';
