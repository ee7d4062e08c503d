import { mkdir, open, readFile, truncate } from 'node:fs/promises';
import path from 'node:path';
import type { JsonObject } from '../../core/base/json.ts';
import { withFileLock } from '../local/file-lock.ts';

export interface BatchRequests {
  readonly file: string;
  /** Writes the request down unless it already is. Safe among concurrent calls and processes. */
  add(recordId: string, modelInput: JsonObject): Promise<void>;
}

/** What is known of each file in this process: several models may share one. */
const files = new Map<string, { ids: Set<string>; size: number; tail: Promise<void> }>();

export function openRequests(file: string): BatchRequests {
  const key = path.resolve(file);
  const state = files.get(key) ?? { ids: new Set<string>(), size: 0, tail: Promise.resolve() };
  files.set(key, state);
  return {
    file,
    add(recordId, modelInput) {
      const line = `${JSON.stringify({ recordId, modelInput })}\n`;
      const turn = state.tail.then(() => append(key, state, recordId, line));
      // The next one waits for this one, whether it went well or not.
      state.tail = turn.catch(() => undefined);
      return turn;
    },
  };
}

async function append(
  file: string,
  state: { ids: Set<string>; size: number },
  recordId: string,
  line: string,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await withFileLock(`${file}.lock`, async () => {
    const handle = await open(file, 'a');
    try {
      const { size } = await handle.stat();
      // Another process wrote, or the file was replaced: look again.
      if (size !== state.size) {
        state.ids = await readIds(file);
        state.size = (await handle.stat()).size;
      }
      if (state.ids.has(recordId)) return;
      await handle.appendFile(line);
      state.ids.add(recordId);
      state.size = (await handle.stat()).size;
    } finally {
      await handle.close();
    }
  });
}

/** Ids in the file. A last line without its end was left by a process that died while writing: it is cut off. */
async function readIds(file: string): Promise<Set<string>> {
  const bytes = await readFile(file);
  const end = bytes.lastIndexOf(0x0a) + 1;
  if (end < bytes.length) await truncate(file, end);
  const ids = new Set<string>();
  for (let start = 0; start < end; ) {
    const stop = bytes.indexOf(0x0a, start);
    // We write the id first; the body behind it can be megabytes and is not needed.
    const id = /^\s*\{\s*"recordId"\s*:\s*"([^"]{1,200})"/.exec(
      bytes.toString('utf8', start, Math.min(stop, start + 300)),
    )?.[1];
    if (id !== undefined) ids.add(id);
    start = stop + 1;
  }
  return ids;
}
