import { gunzipSync } from 'node:zlib';
import { inspectLog, isInspectArchive } from '../../core/reading/transcripts/inspect-archive.ts';
import { UsageError } from './errors.ts';
import { isSessionName } from './find-inputs.ts';
import { isZip, type PackedMember, packedMembers, UnzippedTooLarge } from './unzip.ts';
import { unzstd } from './unzstd.ts';

/** Input beyond this is refused rather than read into memory: 512 MiB is V8's limit for one string. */
export const MAX_INPUT_BYTES = 400 * 1024 * 1024;

export function tooLarge(source: string): UsageError {
  return new UsageError(
    `${source} is larger than ${MAX_INPUT_BYTES / 1024 / 1024} MiB: give one session or one day of telemetry a file`,
  );
}

export interface DecodedText {
  readonly source: string;
  /** Called when it is wanted, so that the texts of an archive are not held at once. */
  text(): Promise<string>;
}

/** What an input holds as one text. UsageError also for an archive, which holds several: see `decodeAll`. */
export async function decodeInput(bytes: Uint8Array, source: string): Promise<string> {
  const [first, ...others] = await decodeAll(bytes, source);
  if (first === undefined || others.length > 0)
    throw new UsageError(`${source} is a zip archive of several files: unpack it and name one of them`);
  return first.text();
}

/**
 * UTF-8, UTF-16 with its mark (what a Windows shell writes with ">"), and either of them packed: gzip as stored in S3,
 * Zstandard as Codex keeps old sessions, and zip archives, of which each member is a text of its own. An `.eval` of
 * Inspect is one log.
 */
export async function decodeAll(bytes: Uint8Array, source: string): Promise<DecodedText[]> {
  if (isZip(bytes)) return await decodeArchive(bytes, source);
  return [{ source, text: async () => decodeOne(bytes, source) }];
}

export const isGzip = (bytes: Uint8Array): boolean => startsWith(bytes, [0x1f, 0x8b]);
const isZstd = (bytes: Uint8Array): boolean => startsWith(bytes, [0x28, 0xb5, 0x2f, 0xfd]);

const startsWith = (bytes: Uint8Array, mark: readonly number[]): boolean =>
  mark.every((byte, index) => bytes[index] === byte);

function decodeOne(bytes: Uint8Array, source: string): string {
  if (isGzip(bytes))
    return unpacked('gzip', source, () => gunzipSync(bytes, { maxOutputLength: MAX_INPUT_BYTES }));
  if (isZstd(bytes)) return unpacked('Zstandard', source, () => unzstd(bytes, MAX_INPUT_BYTES));
  return decodeText(bytes, source);
}

function unpacked(method: string, source: string, unpack: () => Uint8Array): string {
  let bytes: Uint8Array;
  try {
    bytes = unpack();
  } catch (cause) {
    throw cannotUnpack(method, source, cause);
  }
  return decodeText(bytes, source);
}

export function cannotUnpack(method: string, source: string, cause: unknown): UsageError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code === 'ERR_BUFFER_TOO_LARGE' || cause instanceof UnzippedTooLarge)
    return tooLarge(`${source}, unpacked,`);
  return new UsageError(`${source} looks like ${method} but cannot be unpacked (${code ?? String(cause)})`, {
    cause,
  });
}

async function decodeArchive(bytes: Uint8Array, source: string): Promise<DecodedText[]> {
  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      throw cannotUnpack('a zip archive', source, cause);
    }
  };
  const members = await read(() => packedMembers(bytes, MAX_INPUT_BYTES));
  if (isInspectArchive(members.map(({ name }) => name)))
    return [{ source, text: () => read(() => inspectText(members, source)) }];
  const sessions = members.filter(({ name }) => isSessionName(baseOf(name)));
  if (sessions.length === 0) {
    const names = members.slice(0, 3).map(({ name }) => name);
    throw new UsageError(
      `${source} is a zip archive without a file of sessions: it holds ${names.join(', ') || 'nothing'}${members.length > 3 ? ', …' : ''}`,
    );
  }
  return sessions.map((member) => {
    const name = `${source}:${member.name}`;
    return {
      source: name,
      text: async () => {
        const unpacked = await read(() => member.unpack());
        // An archive in an archive would have a budget of its own.
        if (isZip(unpacked)) throw new UsageError(`${name} is an archive in an archive: unpack it`);
        return decodeOne(unpacked, name);
      },
    };
  });
}

const baseOf = (name: string): string => name.split('/').at(-1) ?? name;

async function inspectText(members: readonly PackedMember[], source: string): Promise<string> {
  const texts = [];
  for (const { name, unpack } of members)
    if (name.endsWith('.json')) texts.push({ name, text: decodeText(await unpack(), `${source}:${name}`) });
  const log = inspectLog(texts);
  if (log === null) throw new Error('an archive of Inspect has a header or a journal');
  return log;
}

/** A tar archive states so at this place. */
const TAR_MARK = { at: 257, text: 'ustar' };

function decodeText(bytes: Uint8Array, source: string): string {
  const encoding = encodingOf(bytes);
  if (encoding !== 'utf-8') return new TextDecoder(encoding).decode(bytes);
  refuseBinary(bytes, source);
  // Keeps the byte order mark, which the reader knows.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

export function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (startsWith(bytes, [0xff, 0xfe])) return 'utf-16le';
  return startsWith(bytes, [0xfe, 0xff]) ? 'utf-16be' : 'utf-8';
}

/** UsageError for what begins like no text. */
export function refuseBinary(bytes: Uint8Array, source: string): void {
  const mark = bytes.subarray(TAR_MARK.at, TAR_MARK.at + TAR_MARK.text.length);
  if (new TextDecoder('latin1').decode(mark) === TAR_MARK.text)
    throw new UsageError(`${source} is a tar archive: unpack it and give the folder`);
  if (bytes.subarray(0, 8192).includes(0))
    throw new UsageError(`${source} is a binary file: expected JSON or JSON lines, plain or packed`);
}
