import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, describe, expect, it } from 'vitest';
import { S3ObjectStore } from '../../../adapters/aws/s3-object-store.ts';
import { FileObjectStore } from '../../../adapters/local/file-object-store.ts';
import { ConfigurationInvalidError } from '../../../core/errors/errors.ts';
import { keyPart } from '../../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../../core/ports/ports.ts';
import { MemoryObjectStore } from '../../helpers/memory-ports.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function fileStore(): Promise<{ store: ObjectStore; folder: string }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-objects-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return { store: new FileObjectStore(folder), folder };
}

/** S3's conditional writes, pages and errors over a map, two keys a page. */
function s3Store(): ObjectStore {
  const objects = new Map<string, Uint8Array>();
  const client = mockClient(S3Client);
  cleanups.push(async () => client.restore());
  client.on(PutObjectCommand).callsFake((input) => {
    if (input.IfNoneMatch === '*' && objects.has(input.Key)) {
      throw new S3ServiceException({
        name: 'PreconditionFailed',
        $fault: 'client',
        $metadata: { httpStatusCode: 412 },
      });
    }
    objects.set(input.Key, input.Body);
    return {};
  });
  client.on(GetObjectCommand).callsFake((input) => {
    const bytes = objects.get(input.Key);
    if (bytes === undefined) throw new NoSuchKey({ message: 'gone', $metadata: {} });
    return { Body: { transformToByteArray: async () => bytes } };
  });
  client.on(ListObjectsV2Command).callsFake((input) => {
    const keys = [...objects.keys()].filter((key) => key.startsWith(input.Prefix)).sort();
    const start = input.ContinuationToken === undefined ? 0 : Number(input.ContinuationToken);
    const end = start + 2;
    return {
      Contents: keys.slice(start, end).map((Key) => ({ Key })),
      ...(end < keys.length ? { NextContinuationToken: String(end) } : {}),
    };
  });
  return new S3ObjectStore(new S3Client({ region: 'eu-west-1' }), 'bucket');
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (value: Uint8Array | null): string | null =>
  value === null ? null : new TextDecoder().decode(value);
const keysOf = async (store: ObjectStore, prefix: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const key of store.list(prefix)) keys.push(key);
  return keys;
};

describe.each([
  ['files', async () => (await fileStore()).store],
  ['S3', async () => s3Store()],
  ['memory', async () => new MemoryObjectStore()],
])('an object store over %s', (_name, open) => {
  it('gives back what was put, and null for what was not', async () => {
    const store = await open();
    await store.put('executions/a/prepared.json.gz', bytes('one'));
    expect(text(await store.get('executions/a/prepared.json.gz'))).toBe('one');
    expect(await store.get('executions/b/prepared.json.gz')).toBeNull();
  });

  it('put replaces, putIfAbsent leaves the first value alone and says so', async () => {
    const store = await open();
    await store.put('k', bytes('one'));
    await store.put('k', bytes('two'));
    expect(await store.putIfAbsent('k', bytes('three'))).toBe(false);
    expect(text(await store.get('k'))).toBe('two');
    expect(await store.putIfAbsent('other', bytes('four'))).toBe(true);
    expect(text(await store.get('other'))).toBe('four');
  });

  it('of many writers of one key exactly one wins', async () => {
    const store = await open();
    const wins = await Promise.all([...'abcdefgh'].map((name) => store.putIfAbsent('k', bytes(name))));
    expect(wins.filter(Boolean)).toHaveLength(1);
    expect(text(await store.get('k'))).toBe('abcdefgh'[wins.indexOf(true)]);
  });

  it('lists by prefix in lexical order of whole keys, over pages', async () => {
    const store = await open();
    for (const key of ['raw/b/1', 'raw/a/2', 'raw/a-1/3', 'raw/a/10', 'rawer/x', 'cache/y'])
      await store.put(key, bytes(key));
    expect(await keysOf(store, 'raw/')).toEqual(['raw/a-1/3', 'raw/a/10', 'raw/a/2', 'raw/b/1']);
    expect(await keysOf(store, 'raw/a/1')).toEqual(['raw/a/10']);
    expect(await keysOf(store, 'nothing/')).toEqual([]);
  });

  it('keeps empty values and bytes that are no text', async () => {
    const store = await open();
    await store.put('empty', new Uint8Array());
    await store.put('binary', Uint8Array.from([0, 255, 31, 139]));
    expect(await store.get('empty')).toHaveLength(0);
    expect([...((await store.get('binary')) ?? [])]).toEqual([0, 255, 31, 139]);
  });
});

describe('files only', () => {
  it.each(['../x', 'a/../../x', '/etc/passwd', 'a//b', '.', 'a/.', '', 'a\\..\\b', 'a\0b'])(
    'refuses the key %j',
    async (key) => {
      const { store } = await fileStore();
      await expect(store.put(key, bytes('x'))).rejects.toBeInstanceOf(ConfigurationInvalidError);
      await expect(store.get(key)).rejects.toBeInstanceOf(ConfigurationInvalidError);
    },
  );

  it('leaves no temporary file behind', async () => {
    const { store, folder } = await fileStore();
    await store.put('a', bytes('1'));
    await store.putIfAbsent('a', bytes('2'));
    await store.putIfAbsent('b', bytes('3'));
    expect((await readdir(folder)).sort()).toEqual(['a', 'b']);
  });
});

describe('S3 only', () => {
  it('a conditional write that meets another one is tried again, other faults are thrown', async () => {
    const client = mockClient(S3Client);
    cleanups.push(async () => client.restore());
    const conflict = new S3ServiceException({
      name: 'ConditionalRequestConflict',
      $fault: 'client',
      $metadata: { httpStatusCode: 409 },
    });
    client.on(PutObjectCommand).rejectsOnce(conflict).resolvesOnce({}).rejects(new Error('down'));
    const store = new S3ObjectStore(new S3Client({ region: 'eu-west-1' }), 'bucket');
    expect(await store.putIfAbsent('k', bytes('x'))).toBe(true);
    await expect(store.putIfAbsent('k', bytes('x'))).rejects.toThrow('down');
    await expect(store.get('k')).rejects.toThrow();
  });
});

describe('a foreign id in a key', () => {
  it.each([
    ['plain-id_1', 'plain-id_1'],
    ['user@host:1', 'user@host:1'],
  ])('keeps %s', (id, part) => expect(keyPart(id)).toBe(part));

  it.each(['..', '.', '', 'a/b', 'a~b', 'ümlaut', 'x'.repeat(200), 'a#b', 'line\nbreak'])(
    'makes %j safe, short, and unlike every other id',
    (id) => {
      const part = keyPart(id);
      expect(part).toMatch(/^[A-Za-z0-9_-]*~[0-9a-f]{32}$/);
      expect(part.length).toBeLessThan(100);
      expect(part).not.toBe(keyPart(`${id} `));
    },
  );
});

it.skipIf(process.platform === 'win32')(
  'folders of sessions are closed to other users of the machine',
  async () => {
    const { store, folder } = await fileStore();
    await store.put('sessions/a/b.json.gz', new Uint8Array([1]));
    for (const part of ['sessions', 'sessions/a'])
      expect((await stat(path.join(folder, part))).mode & 0o077).toBe(0);
  },
);
