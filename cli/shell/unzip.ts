import { inflateRawSync } from 'node:zlib';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import { unzstd } from './unzstd.ts';

export interface ZipMember {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** What an archive holds is more than the caller allows: a decompression bomb, or too much for one input. */
export class UnzippedTooLarge extends Error {}

/** Compression methods of the zip format (APPNOTE 4.4.5): stored, deflate, Zstandard. */
type Unpack = (bytes: Uint8Array, maxBytes: number) => Uint8Array;
const UNPACK: ReadonlyMap<number, Unpack> = new Map<number, Unpack>([
  [0, (bytes) => bytes],
  [8, (bytes, maxBytes) => inflateRawSync(bytes, { maxOutputLength: maxBytes })],
  [93, unzstd],
]);

export const isZip = (bytes: Uint8Array): boolean =>
  bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4;

export interface PackedMember {
  readonly name: string;
  /** UnzippedTooLarge when all that was unpacked so far is more than the caller allows. */
  unpack(): Promise<Uint8Array>;
}

/**
 * The files of a zip archive, in the order of its directory; a name can stand twice. Sizes that an archive states are
 * not believed: each member is unpacked into what is left of `maxBytes`. UnzippedTooLarge beyond that, an Error for an
 * archive that is damaged, encrypted or packed by a method other than stored, deflate and Zstandard.
 */
export async function unzip(bytes: Uint8Array, maxBytes: number): Promise<ZipMember[]> {
  const members: ZipMember[] = [];
  for (const { name, unpack } of await packedMembers(bytes, maxBytes))
    members.push({ name, bytes: await unpack() });
  return members;
}

/** The same, each member unpacked when it is asked for. */
export async function packedMembers(bytes: Uint8Array, maxBytes: number): Promise<PackedMember[]> {
  const archive = await fromBufferPromise(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
    lazyEntries: true,
    autoClose: false,
    // Methods that yauzl does not unpack have sizes of their own.
    validateEntrySizes: false,
  });
  const members: PackedMember[] = [];
  let left = maxBytes;
  for await (const entry of archive.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    members.push({
      name: entry.fileName,
      unpack: async () => {
        const unpacked = await unpack(archive, entry, left);
        left -= unpacked.byteLength;
        return unpacked;
      },
    });
  }
  return members;
}

async function unpack(archive: ZipFile, entry: Entry, maxBytes: number): Promise<Uint8Array> {
  const method = UNPACK.get(entry.compressionMethod);
  if (method === undefined || entry.isEncrypted()) {
    throw new Error(`${entry.fileName} is encrypted or packed by method ${entry.compressionMethod}`);
  }
  const packed = Buffer.concat(
    await (await archive.openReadStreamPromise(entry, { decodeFileData: false })).toArray(),
  );
  try {
    // 0 bytes left would mean "no limit" to zlib.
    const unpacked = method(packed, Math.max(1, maxBytes));
    if (unpacked.byteLength <= maxBytes) return unpacked;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') throw error;
  }
  throw new UnzippedTooLarge(`unpacks to more than ${maxBytes} bytes`);
}
