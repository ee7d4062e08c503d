import { zstdDecompressSync } from 'node:zlib';

/**
 * Zstandard of one or several frames one after another; Node stops after the first and says nothing of the rest. Throws
 * what zlib throws, ERR_BUFFER_TOO_LARGE beyond `maxBytes`.
 */
export function unzstd(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const frames: Uint8Array[] = [];
  let left = maxBytes;
  for (let at = 0; at < bytes.byteLength; ) {
    // 0 would mean "no limit" to zlib.
    const options = { maxOutputLength: Math.max(1, left), info: true };
    // With `info` the answer is the text and the engine, which the types leave out.
    const { buffer, engine } = zstdDecompressSync(bytes.subarray(at), options) as unknown as {
      readonly buffer: Uint8Array;
      readonly engine: { readonly bytesWritten: number };
    };
    frames.push(buffer);
    left -= buffer.byteLength;
    at += Math.max(1, engine.bytesWritten);
  }
  return Buffer.concat(frames);
}
