import {
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import type { ObjectStore } from '../../core/ports/ports.ts';

/** S3 answers 409 while another conditional write of the same key is under way: the next try sees its outcome. */
const CONFLICT_TRIES = 5;

/**
 * One bucket as an object store. `get` of a missing key needs `s3:ListBucket`, without which S3 answers 403 instead
 * of 404; encryption and retention are the bucket's own.
 */
export class S3ObjectStore implements ObjectStore {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(client: S3Client, bucket: string) {
    this.#client = client;
    this.#bucket = bucket;
  }

  async putIfAbsent(key: string, bytes: Uint8Array): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#client.send(
          new PutObjectCommand({ Bucket: this.#bucket, Key: key, Body: bytes, IfNoneMatch: '*' }),
        );
        return true;
      } catch (error) {
        const status = error instanceof S3ServiceException ? error.$metadata.httpStatusCode : undefined;
        if (status === 412) return false;
        if (status !== 409 || attempt === CONFLICT_TRIES) throw error;
      }
    }
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    await this.#client.send(new PutObjectCommand({ Bucket: this.#bucket, Key: key, Body: bytes }));
  }

  async get(key: string): Promise<Uint8Array | null> {
    try {
      const { Body } = await this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key: key }));
      return Body === undefined ? new Uint8Array() : await Body.transformToByteArray();
    } catch (error) {
      if (error instanceof NoSuchKey) return null;
      throw error;
    }
  }

  async *list(prefix: string): AsyncIterable<string> {
    let token: string | undefined;
    do {
      const page = await this.#client.send(
        new ListObjectsV2Command({
          Bucket: this.#bucket,
          Prefix: prefix,
          ...(token === undefined ? {} : { ContinuationToken: token }),
        }),
      );
      for (const { Key } of page.Contents ?? []) if (Key !== undefined) yield Key;
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }
}
