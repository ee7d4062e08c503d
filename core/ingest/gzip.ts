/** gzip through the Web API, so that core needs no node module. */
export async function gzipJson(value: unknown): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export class InflatedTooLarge extends Error {
  override readonly name = 'InflatedTooLarge';
}

/** Decompresses up to `maxBytes`; `InflatedTooLarge` beyond, a TypeError for bytes that are no gzip. */
export async function gunzipText(bytes: Uint8Array<ArrayBuffer>, maxBytes: number): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new InflatedTooLarge(`decompressed payload exceeds ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
