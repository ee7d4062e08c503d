/** An unknown flag or a flag without its value, as `parseArgs` throws it: the caller's mistake, no stack is owed. */
export function isParseArgsError(error: unknown): error is TypeError {
  return error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
