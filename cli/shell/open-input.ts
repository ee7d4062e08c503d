import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import {
  cannotUnpack,
  decodeAll,
  encodingOf,
  isGzip,
  MAX_INPUT_BYTES,
  refuseBinary,
  tooLarge,
} from './decode-input.ts';
import { UsageError } from './errors.ts';
import { type CliIo, readStdin } from './io.ts';
import { isZip } from './unzip.ts';

/** One input of a file: an archive holds several. */
export type OpenInput =
  | { readonly source: string; text(): Promise<string> }
  /** Many lines, which come as they are read. Errors of the file come from the iteration. */
  | { readonly source: string; readonly lines: AsyncIterable<readonly string[]> };

/** Smaller files are read whole: their reading is then the same whatever their lines are. */
const STREAMED_FROM = 8 * 1024 * 1024;
const READ_AT_ONCE = 1024 * 1024;
/**
 * Of lines read in a stream. Their text is not held, but all records are until the sessions are put together: at most three
 * times the size is resident (`npm run bench -- reading`), which must stay below the heap that Node takes by default.
 */
const MAX_LINES_BYTES = 512 * 1024 * 1024;

/**
 * What a file or standard input ("-") holds. Files of JSON lines, also gzipped, come line by line; everything else as a
 * text, of at most 400 MiB. UsageError when it is not there, too large, or no text.
 */
export async function openInput(file: string, io: CliIo): Promise<OpenInput[]> {
  if (file === '-') return await decodeAll(await readStdin(io), 'standard input');
  try {
    const chunks = createReadStream(file, {
      highWaterMark: READ_AT_ONCE,
    }).iterator() as AsyncIterator<Buffer>;
    const first = await chunks.next();
    const head = first.done === true ? Buffer.alloc(0) : first.value;
    const raw = startingWith([head], chunks);
    if (isZip(head) || encodingOf(head) !== 'utf-8') return await decodeAll(await whole(raw, file), file);
    if (isGzip(head)) return await openText(gunzipped(raw, file), file);
    return await openText(raw, file, (await stat(file)).size);
  } catch (cause) {
    throw cannotRead(file, cause);
  }
}

export function cannotRead(file: string, cause: unknown): unknown {
  const { code, syscall } = cause as NodeJS.ErrnoException;
  if (cause instanceof UsageError || syscall === undefined) return cause;
  return new UsageError(`cannot read ${file}: ${code}`, { cause });
}

/** `knownSize`: not given where the text is unpacked on the way. */
async function openText(chunks: AsyncIterable<Buffer>, file: string, knownSize = 0): Promise<OpenInput[]> {
  const iterator = chunks[Symbol.asyncIterator]();
  const begun: Buffer[] = [];
  let size = 0;
  while (size < STREAMED_FROM) {
    const next = await iterator.next();
    if (next.done === true) return await decodeAll(Buffer.concat(begun), file);
    begun.push(next.value);
    size += next.value.byteLength;
  }
  const all = startingWith(begun, iterator);
  if (!isLines(Buffer.concat(begun))) {
    if (knownSize > MAX_INPUT_BYTES) throw tooLarge(file);
    return await decodeAll(await whole(all, file), file);
  }
  refuseBinary(begun[0] ?? Buffer.alloc(0), file);
  return [{ source: file, lines: linesOf(all, file) }];
}

/** Whether a text of many lines has one JSON object on each, by the first two. */
function isLines(head: Buffer): boolean {
  const start = head.subarray(0, 3).equals(Buffer.from('\uFEFF')) ? 3 : 0;
  const end = head.indexOf(0x0a, start);
  if (end < 0) return false;
  try {
    const first: unknown = JSON.parse(head.toString('utf8', start, end));
    return typeof first === 'object' && first !== null && head[end + 1] === 0x7b;
  } catch {
    // The whole text is then for the reader to judge.
    return false;
  }
}

async function* startingWith(begun: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* begun;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

async function whole(chunks: AsyncIterable<Buffer>, file: string): Promise<Buffer> {
  const all: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > MAX_INPUT_BYTES) throw tooLarge(file);
    all.push(chunk);
  }
  return Buffer.concat(all);
}

async function* gunzipped(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: READ_AT_ONCE });
  // Errors of either end come out of the iteration.
  pipeline(Readable.from(chunks), gunzip, () => undefined);
  try {
    for await (const chunk of gunzip) yield chunk as Buffer;
  } catch (cause) {
    throw cannotUnpack('gzip', file, cause);
  }
}

/** A line's text is put together once, however many chunks it comes in. */
async function* linesOf(chunks: AsyncIterable<Buffer>, file: string): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder('utf-8');
  let begun: string[] = [];
  let length = 0;
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.byteLength;
    if (size > MAX_LINES_BYTES)
      throw new UsageError(
        `${file} holds more than ${MAX_LINES_BYTES / 1024 / 1024} MiB of lines: give a day or a session a file`,
      );
    const lines = decoder.decode(chunk, { stream: true }).split('\n');
    const last = lines.pop() ?? '';
    if (lines.length > 0) {
      begun.push(lines[0] ?? '');
      lines[0] = begun.join('');
      begun = [];
      length = 0;
      yield lines;
    }
    begun.push(last);
    length += last.length;
    if (length > MAX_INPUT_BYTES) throw tooLarge(`a line of ${file}`);
  }
  yield [begun.join('') + decoder.decode()];
}
