import {
  ConfigurationInvalidError,
  ContextOverflowError,
  ModelAccessError,
  ModelThrottledError,
  ModelUnavailableError,
  type RootspanError,
} from '../errors/errors.ts';

/** What a model's service or its client said when it failed; every part may be missing. */
export interface ModelFault {
  /** Error name or code, e.g. `ThrottlingException`, `context_length_exceeded`, `ECONNRESET`. */
  readonly name?: string | undefined;
  /** HTTP status. */
  readonly status?: number | undefined;
  readonly message: string;
  readonly cause?: unknown;
}

/**
 * Vendors word "too long" differently and often under a plain 400: Bedrock ("Input is too long for requested model",
 * "too many total text bytes"), Anthropic ("prompt is too long: N tokens > M maximum", "input length and `max_tokens`
 * exceed context limit"), OpenAI and vLLM ("maximum context length is"), llama.cpp ("exceeds the available context
 * size"). OpenAI also answers 429 "Request too large" to a request over the minute's whole quota, which no wait cures.
 */
const OVERFLOW =
  /input is too long|prompt is too long|exceeds? (?:the )?(?:available )?context|too many total text bytes|maximum context length|context[_ ]length[_ ]exceeded|context window|request too large/i;

const THROTTLE =
  /too many requests|too many tokens|request rate is too high|rate limit|throttl|reached max retries|model is not ready/i;

const QUOTA_GONE = /insufficient_quota|exceeded your current quota|billing/i;

const ACCESS_NAMES =
  /AccessDenied|Unauthorized|UnrecognizedClient|ExpiredToken|InvalidSignature|IncompleteSignature|MissingAuthentication|CredentialsProvider|ResourceNotFound|model_not_found|invalid_api_key|TokenProviderError/i;

/** A 400 whose wording tells of the model id or the account, not of the request. */
const ACCESS_WORDING =
  /model identifier is invalid|on-demand throughput|region is missing|don['’]t have access|not authorized|access denied|security token|model .{0,80}(?:does not exist|not found)|api key/i;

const BROKEN_NAMES =
  /Timeout|Abort|SyntaxError|ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|UND_ERR|ERR_HTTP2|ServiceUnavailable|InternalServer|ModelError|ModelNotReady|ModelStreamError/i;

/** One of our named errors for any failure of a call. The order matters: most specific first. */
export function classifyModelFault(fault: ModelFault): RootspanError {
  const { name = '', status = 0 } = fault;
  const message = fault.message.slice(0, 2000);
  const options = fault.cause === undefined ? undefined : { cause: fault.cause };
  const said = [name, status === 0 ? '' : `HTTP ${status}`, message].filter((part) => part !== '').join(', ');

  if (status === 413 || OVERFLOW.test(message) || OVERFLOW.test(name)) {
    return new ContextOverflowError(`the request does not fit the model's window (${said})`, options);
  }
  if (QUOTA_GONE.test(message) || QUOTA_GONE.test(name)) {
    return new ModelAccessError(
      `the model's account has no quota left (${said}); look at its billing`,
      options,
    );
  }
  if (
    /Throttling|TooManyRequests|ServiceQuotaExceeded|rate_limit/i.test(name) ||
    status === 429 ||
    THROTTLE.test(message)
  ) {
    return new ModelThrottledError(`the model asks to slow down (${said})`, options);
  }
  if (ACCESS_NAMES.test(name) || [401, 403, 404].includes(status) || ACCESS_WORDING.test(message)) {
    return new ModelAccessError(
      `the model cannot be used (${said}); check credentials, permissions, model access and the model id or base URL`,
      options,
    );
  }
  if (
    status >= 500 ||
    status === 408 ||
    status === 424 ||
    BROKEN_NAMES.test(name) ||
    BROKEN_NAMES.test(message)
  ) {
    return new ModelUnavailableError(`the model's service failed or the connection broke (${said})`, options);
  }
  return new ConfigurationInvalidError(`the model's service refused the request (${said})`, options);
}

/**
 * What an error of a client says: `code` or `name`, the HTTP status where clients put it (`status`, `statusCode`,
 * `$metadata` of the AWS SDK), and the reason that `fetch` keeps in its cause.
 */
export function faultOfError(error: unknown): ModelFault {
  if (!(error instanceof Error)) return { message: String(error), cause: error };
  const inner = error.cause instanceof Error ? error.cause : null;
  return {
    name: codeOf(inner) ?? codeOf(error) ?? error.name,
    status: statusOf(error),
    message: inner === null ? error.message : `${error.message}: ${inner.message}`,
    cause: error,
  };
}

const codeOf = (error: Error | null): string | undefined =>
  error !== null && 'code' in error && typeof error.code === 'string' && error.code !== ''
    ? error.code
    : undefined;

function statusOf(error: object): number | undefined {
  for (const key of ['status', 'statusCode', 'httpStatusCode'])
    if (key in error) {
      const value: unknown = error[key as keyof typeof error];
      if (typeof value === 'number') return value;
    }
  return '$metadata' in error && typeof error.$metadata === 'object' && error.$metadata !== null
    ? statusOf(error.$metadata)
    : undefined;
}
