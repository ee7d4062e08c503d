import { readFile, stat } from 'node:fs/promises';
import * as z from 'zod';
import { hasCode } from '../local/has-code.ts';

const recordSchema = z.object({
  recordId: z.string(),
  modelOutput: z.unknown().optional(),
  error: z
    .object({
      errorCode: z.union([z.string(), z.number()]).nullish(),
      errorMessage: z.string().nullish(),
    })
    .optional(),
});
export type BatchRecord = z.infer<typeof recordSchema>;

export interface BatchResponses {
  readonly file: string;
  /** The first usable record of the id, else its first error record, else null. Sees what was added since the last call. */
  find(recordId: string): Promise<BatchRecord | null>;
  /** What could not be read in the file, for messages; '' if nothing. */
  complaint(): string;
}

/** The answers' file. A missing file holds no answers; a last line without its end is still being written. */
export function openResponses(file: string): BatchResponses {
  let seen = '';
  let records = new Map<string, BatchRecord>();
  let badLines: number[] = [];
  let loading: Promise<void> | null = null;

  async function reload(): Promise<void> {
    const state = await describeFile(file);
    if (state === seen) return;
    const found = parseLines(state === '' ? '' : await readFile(file, 'utf8'));
    records = found.records;
    badLines = found.badLines;
    seen = state;
  }

  return {
    file,
    async find(recordId) {
      // Chunks ask at the same time; one look at the file serves them all.
      loading ??= reload().finally(() => {
        loading = null;
      });
      await loading;
      return records.get(recordId) ?? null;
    },
    complaint() {
      if (badLines.length === 0) return '';
      const lines = badLines.slice(0, 5).join(', ');
      return ` (line ${lines}${badLines.length > 5 ? ', …' : ''} of it cannot be read as {recordId, modelOutput} or {recordId, error})`;
    },
  };
}

/** Changes whenever the file does; '' when there is none. */
async function describeFile(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return '';
    throw error;
  }
}

function parseLines(text: string): { records: Map<string, BatchRecord>; badLines: number[] } {
  const records = new Map<string, BatchRecord>();
  const badLines: number[] = [];
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const record = parseRecord(line);
    if (record === null) {
      if (index < lines.length - 1) badLines.push(index + 1);
      continue;
    }
    const before = records.get(record.recordId);
    if (before === undefined || (before.error !== undefined && record.error === undefined)) {
      records.set(record.recordId, record);
    }
  }
  return { records, badLines };
}

function parseRecord(line: string): BatchRecord | null {
  try {
    const record = recordSchema.safeParse(JSON.parse(line));
    if (!record.success) return null;
    const { modelOutput, error } = record.data;
    return (modelOutput ?? null) === null && error === undefined ? null : record.data;
  } catch {
    // Reported through `complaint` with its line number.
    return null;
  }
}
