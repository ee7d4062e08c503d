import { gunzipSync } from 'node:zlib';
import { inspectLog } from '../../core/reading/transcripts/inspect-archive.ts';
import { UsageError } from './errors.ts';
import { isZip, UnzippedTooLarge, unzip, type ZipMember } from './unzip.ts';
import { unzstd } from './unzstd.ts';

/** Input beyond this is refused rather than read into memory: 512 MiB is V8's limit for one string. */
export const MAX_INPUT_BYTES = 400 * 1024 * 1024;

export function tooLarge(source: string): UsageError {
  return new UsageError(
    `${source} is larger than ${MAX_INPUT_BYTES / 1024 / 1024} MiB: give one session or one day of telemetry a file`,
  );
}

/**
 * UTF-8, UTF-16 with its mark (what a Windows shell writes with ">"), and either of them packed: gzip as stored in S3,
 * Zstandard as Codex keeps old sessions. The one archive that is read is Inspect's `.eval`.
 */
export async function decodeInput(bytes: Uint8Array, source: string): Promise<string> {
  if (isZip(bytes)) return await decodeArchive(bytes, source);
  if (startsWith(bytes, [0x1f, 0x8b]))
    return unpacked('gzip', source, () => gunzipSync(bytes, { maxOutputLength: MAX_INPUT_BYTES }));
  if (startsWith(bytes, [0x28, 0xb5, 0x2f, 0xfd]))
    return unpacked('Zstandard', source, () => unzstd(bytes, MAX_INPUT_BYTES));
  return decodeText(bytes, source);
}

const startsWith = (bytes: Uint8Array, mark: readonly number[]): boolean =>
  mark.every((byte, index) => bytes[index] === byte);

function unpacked(method: string, source: string, unpack: () => Uint8Array): string {
  let bytes: Uint8Array;
  try {
    bytes = unpack();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(`${source}, unpacked,`);
    throw new UsageError(`${source} looks like ${method} but cannot be unpacked (${code ?? String(cause)})`, {
      cause,
    });
  }
  return decodeText(bytes, source);
}

async function decodeArchive(bytes: Uint8Array, source: string): Promise<string> {
  let members: ZipMember[];
  try {
    members = await unzip(bytes, MAX_INPUT_BYTES);
  } catch (cause) {
    if (cause instanceof UnzippedTooLarge) throw tooLarge(`${source}, unpacked,`);
    throw new UsageError(`${source} looks like a zip archive but cannot be unpacked (${String(cause)})`, {
      cause,
    });
  }
  const texts = members.filter(({ name }) => name.endsWith('.json'));
  const log = inspectLog(
    texts.map(({ name, bytes: content }) => ({ name, text: decodeText(content, `${source}:${name}`) })),
  );
  if (log !== null) return log;
  throw new UsageError(
    `${source} is a zip archive, and none of Inspect's logs (.eval): unpack it and name the session files in it`,
  );
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
