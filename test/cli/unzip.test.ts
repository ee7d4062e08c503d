import { readFileSync } from 'node:fs';
import path from 'node:path';
import { crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeInput } from '../../cli/shell/decode-input.ts';
import { UsageError } from '../../cli/shell/errors.ts';
import { UnzippedTooLarge, unzip } from '../../cli/shell/unzip.ts';
import { readSessions } from '../../core/reading/registry.ts';

type Packed = readonly [name: string, text: string, method?: 0 | 8 | 93, frames?: number];

/** A zip archive as Inspect writes it: local headers with their data, then the directory. */
function zip(members: readonly Packed[]): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text, method = 8, frames = 1] of members) {
    const raw = Buffer.from(text);
    const half = Math.ceil(raw.length / frames);
    const pieces = Array.from({ length: frames }, (_, index) =>
      raw.subarray(index * half, (index + 1) * half),
    );
    const packed =
      method === 0
        ? raw
        : method === 8
          ? deflateRawSync(raw)
          : Buffer.concat(pieces.map((piece) => zstdCompressSync(piece)));
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(method, 4);
    shared.writeUInt32LE(crc32(raw), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(raw.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), shared, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(
      Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), shared, tail, Buffer.from(name)]),
    );
    bodies.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, list, end]);
}

const fixture = path.resolve(import.meta.dirname, '../fixtures/formats/inspect/log.json');
const log = JSON.parse(readFileSync(fixture, 'utf8'));
const { samples, reductions, ...header } = log;
const [sample] = samples;
const archive = (method: 0 | 8 | 93, frames = 1): Buffer =>
  zip([
    ['_journal/start.json', JSON.stringify({ version: 2, eval: log.eval }), method],
    ['samples/count-1_epoch_1.json', JSON.stringify(sample), method, frames],
    ['summaries.json', '[{"scores": "SECRET"}]', method],
    ['reductions.json', JSON.stringify(reductions), method],
    ['header.json', JSON.stringify(header), method],
  ]);
const read = async (bytes: Uint8Array) =>
  readSessions({ text: await decodeInput(bytes, 'run.eval'), source: 'run.eval' });

describe("Inspect's archives", () => {
  const expected = readSessions({ text: readFileSync(fixture, 'utf8'), source: 'run.eval' });
  it.each([
    ['stored', archive(0)],
    ['deflate', archive(8)],
    ['Zstandard', archive(93)],
    ['Zstandard in two frames', archive(93, 2)],
  ])('%s is read as the log in JSON', async (_name, bytes) => {
    expect(await read(bytes)).toEqual(expected);
  });
  it('a run that was killed has no header and is read from the start of its journal', async () => {
    const bytes = zip([
      ['_journal/start.json', JSON.stringify({ version: 2, eval: log.eval })],
      ['samples/a/b_epoch_1.json', JSON.stringify(sample)],
    ]);
    expect((await read(bytes)).sessions).toEqual(expected.sessions);
  });
  it('a sample in pieces is the sample', async () => {
    const { messages, events, attachments, ...shell } = sample;
    const numbered = JSON.parse(JSON.stringify(messages).replaceAll('attachment://0f0f', 'attachment://0'));
    const folder = 'samples/count-1_epoch_1';
    const bytes = zip([
      ['header.json', JSON.stringify(header)],
      [`${folder}/messages/2.json`, JSON.stringify(numbered.slice(2))],
      [`${folder}/messages/0.json`, JSON.stringify(numbered.slice(0, 2))],
      [`${folder}/events/0.json`, JSON.stringify(events).replaceAll('attachment://0f0f', 'attachment://0')],
      [`${folder}/attachments/0.json`, JSON.stringify(Object.values(attachments))],
      [`${folder}/sample.json`, JSON.stringify(shell)],
    ]);
    expect((await read(bytes)).sessions).toEqual(expected.sessions);
  });
  it('after an edit the later member of a name counts', async () => {
    const bytes = zip([
      ['samples/x_epoch_1.json', JSON.stringify({ ...sample, id: 'old' })],
      ['header.json', JSON.stringify(header)],
      ['samples/x_epoch_1.json', JSON.stringify(sample)],
    ]);
    expect((await read(bytes)).sessions.map(({ sessionId }) => sessionId)).toEqual(['run-1/count-1#1']);
  });
  it('another archive is refused with what to do', async () => {
    await expect(decodeInput(zip([['a.json', '{}']]), 'a.zip')).rejects.toThrow(/none of Inspect's logs/);
  });
});

describe('archives that are bombs or broken', () => {
  const heavy = zip([
    ['a', 'x'.repeat(60_000)],
    ['b', 'x'.repeat(60_000), 93],
  ]);
  it('all members together unpack to no more than the limit', async () => {
    await expect(unzip(heavy, 100_000)).rejects.toThrow(UnzippedTooLarge);
    await expect(unzip(heavy, 59_999)).rejects.toThrow(UnzippedTooLarge);
    expect((await unzip(heavy, 120_000)).map(({ bytes }) => bytes.length)).toEqual([60_000, 60_000]);
  });
  it('a size that the archive states falsely is not believed', async () => {
    const lying = Buffer.from(heavy);
    for (const mark of ['PK\u0003\u0004', 'PK\u0001\u0002']) {
      const at = lying.indexOf(mark, 0, 'latin1');
      lying.writeUInt32LE(5, at + (mark.endsWith('\u0004') ? 22 : 24));
    }
    await expect(unzip(lying, 10_000)).rejects.toThrow(UnzippedTooLarge);
  });
  it.each(Array.from({ length: 20 }, (_, index) => index))(
    'cut after %d twentieths it is an error in words',
    async (twentieth) => {
      const bytes = archive(8);
      const cut = bytes.subarray(0, Math.max(4, Math.floor((bytes.length * twentieth) / 20)));
      await expect(decodeInput(cut, 'run.eval')).rejects.toThrow(UsageError);
    },
  );
});

it('a file packed by Zstandard is read as one packed by gzip', async () => {
  const text = '[{"role": "user", "content": "hi"}]';
  expect(await decodeInput(zstdCompressSync(text), 'a.jsonl.zst')).toBe(text);
  expect(await decodeInput(gzipSync(text), 'a.json.gz')).toBe(text);
});
