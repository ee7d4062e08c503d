/**
 * A handler that is built at its first event and kept. Built inside an invocation, because an error thrown while a
 * Lambda's module loads reaches the state machine as `Runtime.*` or `Unhandled` and not by its own name.
 */
export function startOnce<Event, Result>(
  build: () => Promise<(event: Event) => Promise<Result>>,
): (event: Event) => Promise<Result> {
  let built: Promise<(event: Event) => Promise<Result>> | null = null;
  return async (event) => {
    built ??= build();
    return await (await built)(event);
  };
}
