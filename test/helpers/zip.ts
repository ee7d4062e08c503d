import { crc32, deflateRawSync, zstdCompressSync } from 'node:zlib';

type Packed = readonly [name: string, text: string, method?: 0 | 8 | 93, frames?: number];

/** A zip archive as Inspect writes it: local headers with their data, then the directory. */
export function zip(members: readonly Packed[]): Buffer {
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
