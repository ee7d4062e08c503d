import { Duration } from 'aws-cdk-lib';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { ErrorName } from '../../core/errors/error-names.ts';

/** A retry cannot cure these: the same input, model answer or configuration gives the same error again. */
const NON_RETRYABLE = [
  ErrorName.SessionInvalid,
  ErrorName.SessionTooLarge,
  ErrorName.ModelAccess,
  ErrorName.ModelOutputInvalid,
  ErrorName.ContextOverflow,
  ErrorName.BudgetExhausted,
  ErrorName.ResultConflict,
  ErrorName.ModelPending,
  ErrorName.ConfigurationInvalid,
];

/** Somebody must act: the execution fails at once instead of leaving gaps chunk by chunk. */
export const CONFIGURATION_FAULTS = [ErrorName.ModelAccess, ErrorName.ConfigurationInvalid];

/** They end a model step but not the diagnosis: what is known is stored, and what is missing is named. */
export const MODEL_OUT_OF_REACH = [
  ErrorName.ModelThrottled,
  ErrorName.ModelUnavailable,
  ErrorName.BudgetExhausted,
];

const nonRetryable: sfn.RetryProps = { errors: NON_RETRYABLE, maxAttempts: 0 };

/**
 * Throttled: quotas are per minute and shared with everything else in the account.
 * 15 + 30 + 60 + 120 + 240 + 300 + 300 + 300 s = 1,365 s, 23 minutes at most and about half of it on average,
 * because full jitter draws each wait between 0 and that value, so that chunks do not come back together.
 */
const throttled: sfn.RetryProps = {
  errors: [ErrorName.ModelThrottled],
  interval: Duration.seconds(15),
  maxAttempts: 8,
  backoffRate: 2,
  maxDelay: Duration.minutes(5),
  jitterStrategy: sfn.JitterType.FULL,
};

/** The model's service is down or the line broke: 5 + 10 + 20 + 40 + 80 s = 155 s at most. */
const unavailable: sfn.RetryProps = {
  errors: [ErrorName.ModelUnavailable],
  interval: Duration.seconds(5),
  maxAttempts: 5,
  backoffRate: 2,
  jitterStrategy: sfn.JitterType.FULL,
};

/**
 * Lambda itself: 2 + 4 + 8 + 16 + 32 + 64 s = 126 s at most. This is CDK's own default list, which is switched off
 * (`retryOnServiceExceptions: false`) so that the order and the count of all retries stand here.
 */
const platform: sfn.RetryProps = {
  errors: [
    'Lambda.TooManyRequestsException',
    'Lambda.ServiceException',
    'Lambda.AWSLambdaException',
    'Lambda.SdkClientException',
    'Lambda.ClientExecutionTimeoutException',
  ],
  interval: Duration.seconds(2),
  maxAttempts: 6,
  backoffRate: 2,
  jitterStrategy: sfn.JitterType.FULL,
};

/** Anything else, a timeout or a crash: 5 + 10 s. Answers already paid for are in the cache. */
const anything: sfn.RetryProps = {
  errors: [sfn.Errors.ALL],
  interval: Duration.seconds(5),
  maxAttempts: 2,
  backoffRate: 2,
};

/** First match wins, so the order is from the specific to the general. */
export const MODEL_STEP_RETRIES: readonly sfn.RetryProps[] = [
  nonRetryable,
  throttled,
  unavailable,
  platform,
  anything,
];

export const STEP_RETRIES: readonly sfn.RetryProps[] = [nonRetryable, platform, anything];
