/** What one participant of a text log said or did. */
export interface LogEntry {
  /** `note`: of the framework itself. */
  readonly kind: 'agent' | 'user' | 'tool' | 'note';
  readonly speaker: string;
  readonly text: string;
  readonly failed?: boolean;
  readonly call?: { readonly name: string; readonly arguments: string };
  inputTokens?: number;
  outputTokens?: number;
}

export interface TeamLog {
  /** The task as the log states it apart from what is said; `null` when it does not. */
  readonly goal: string | null;
  readonly entries: readonly LogEntry[];
}

/** A framework's text log: how it is told, and how it is split into turns. */
export interface TeamLogFormat {
  readonly name: string;
  recognise(text: string): boolean;
  split(text: string): TeamLog;
}

export interface LogBlock {
  /** Groups of the header's pattern. */
  readonly head: readonly string[];
  /** Lines below the header, up to the next. */
  readonly body: string;
}

/** The log cut at the lines that match `header`; what stands before the first is left out. */
export function blocksAt(text: string, header: RegExp): LogBlock[] {
  const blocks: { head: string[]; lines: string[] }[] = [];
  for (const line of text.split(/\r?\n/)) {
    const found = header.exec(line);
    if (found !== null) blocks.push({ head: found.slice(1).map((group) => group ?? ''), lines: [] });
    else blocks.at(-1)?.lines.push(line);
  }
  return blocks.map(({ head, lines }) => ({ head, body: lines.join('\n').trim() }));
}

/** A note of tokens belongs to the answer before it. */
export function addUsage(
  entries: readonly LogEntry[],
  input: string | undefined,
  output: string | undefined,
): void {
  const answer = entries.findLast((entry) => entry.kind === 'agent');
  if (answer === undefined || input === undefined || output === undefined) return;
  answer.inputTokens = (answer.inputTokens ?? 0) + Number(input);
  answer.outputTokens = (answer.outputTokens ?? 0) + Number(output);
}

/** Header of a line that loguru writes: level, module, function, text. */
export const LOGURU =
  /^\s{0,16}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| (\w{1,10})\s{0,8}\| ([\w.]{1,100}):(\w{1,60}):\d{1,6} - (.*)$/;
