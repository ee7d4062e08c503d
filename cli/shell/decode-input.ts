import { gunzipSync } from 'node:zlib';
import { UsageError } from './errors.ts';

/** Input beyond this is refused rather than read into memory: 512 MiB is V8's limit for one string. */
export const MAX_INPUT_BYTES = 400 * 1024 * 1024;

export function tooLarge(source: string): UsageError {
  return new UsageError(
    `${source} is larger than ${MAX_INPUT_BYTES / 1024 / 1024} MiB: give one session or one day of telemetry a file`,
  );
}

/** UTF-8, UTF-16 with its mark (what a Windows shell writes with ">"), and either of them gzipped, as stored in S3. */
export function decodeInput(bytes: Uint8Array, source: string): string {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return decodeText(unzip(bytes, source), source);
  return decodeText(bytes, source);
}

function unzip(bytes: Uint8Array, source: string): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_INPUT_BYTES });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(`${source}, unpacked,`);
    throw new UsageError(`${source} looks like gzip but cannot be unpacked (${code ?? String(cause)})`, {
      cause,
    });
  }
}

function decodeText(bytes: Uint8Array, source: string): string {
  const mark = `${bytes[0]} ${bytes[1]}`;
  if (mark === '255 254') return new TextDecoder('utf-16le').decode(bytes);
  if (mark === '254 255') return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.subarray(0, 8192).includes(0)) {
    throw new UsageError(`${source} is a binary file: expected JSON or JSON lines, plain or gzipped`);
  }
  // Keeps the byte order mark, which the reader knows.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}
