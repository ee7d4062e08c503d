import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeInput } from '../../cli/shell/decode-input.ts';
import { UsageError } from '../../cli/shell/errors.ts';
import { UnzippedTooLarge, unzip } from '../../cli/shell/unzip.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { zip } from '../helpers/zip.ts';

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
  it('another archive of several files is no single text', async () => {
    const two = zip([
      ['a.json', '{}'],
      ['b.json', '{}'],
    ]);
    await expect(decodeInput(two, 'a.zip')).rejects.toThrow(/archive of several files/);
    await expect(decodeInput(zip([['a.png', 'x']]), 'a.zip')).rejects.toThrow(
      /without a file of sessions: .*a\.png/,
    );
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
