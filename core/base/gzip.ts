import { SessionTooLargeError } from '../errors/errors.ts';

/** gzip through the Web API: the same in Lambda, locally and in tests, and no node module in core. */

export async function gzipJson(value: unknown): Promise<Uint8Array> {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The text unpacks to more than the caller allows: a decompression bomb, or not one of ours. */
export class InflatedTooLarge extends SessionTooLargeError {}

/** UTF-8 text of gzipped bytes. InflatedTooLarge beyond `maxBytes`; a TypeError when it is no gzip or no UTF-8. */
export async function gunzipText(bytes: Uint8Array, maxBytes: number): Promise<string> {
  const stream = new Blob([Uint8Array.from(bytes)]).stream().pipeThrough(new DecompressionStream('gzip'));
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = stream.getReader();
  let text = '';
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.byteLength;
    if (length > maxBytes) {
      await reader.cancel();
      throw new InflatedTooLarge(`unpacks to more than ${maxBytes} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}
