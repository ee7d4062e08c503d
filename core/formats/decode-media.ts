import { sha256Hex } from '../contracts/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/json.ts';
import type { Block } from '../session/model.ts';

type MediaBlock = Extract<Block, { type: 'media' }>;

/** Shorter runs of base64 letters are ids, hashes and words. 1,024 letters are 768 bytes: smaller than any picture. */
const MIN_BASE64_LENGTH = 1024;
const DATA_URI = /^data:([a-zA-Z0-9.+-]+\/[a-zA-Z0-9.+-]+)?(?:;[a-zA-Z0-9=._-]+)*;base64,/;

/**
 * What identifies a picture, sound or file without carrying its bytes. `digest` is the SHA-256 of the base64 text
 * (or of the URL, when the producer gives only that); `byteLength` is the decoded size, 0 when unknown.
 */
export function mediaBlock(mediaType: string, data: string): MediaBlock {
  const uri = DATA_URI.exec(data);
  const base64 = (uri ? data.slice(uri[0].length) : data).replaceAll(/\s/g, '');
  const isUrl = !uri && /^[a-z][a-z0-9+.-]{1,20}:/i.test(data);
  return {
    type: 'media',
    mediaType: uri?.[1] ?? mediaType,
    byteLength: isUrl ? 0 : Math.floor((base64.replace(/=+$/, '').length * 3) / 4),
    digest: sha256Hex(base64),
  };
}

/** Replaces base64 data and data URIs anywhere in a value by a short note with type, size and digest. */
export function withoutMedia(value: JsonValue): JsonValue {
  if (typeof value === 'string') return textWithoutMedia(value);
  if (Array.isArray(value)) return value.map(withoutMedia);
  if (!isJsonObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, item] of Object.entries(value)) out[key] = withoutMedia(item);
  return out;
}

/** The same for text that carries data URIs or base64 among other words, e.g. a result written as JSON text. */
export function textWithoutMedia(text: string): string {
  if (text.length < MIN_BASE64_LENGTH) return text;
  return text.replaceAll(
    /(?:data:([a-zA-Z0-9.+-]+\/[a-zA-Z0-9.+-]+)?;base64,)?[A-Za-z0-9+/_-]{1024,}={0,2}/g,
    (match, type: string | undefined) =>
      // A long run of one alphabet without digits or capitals is text without spaces, not base64.
      /\d/.test(match) && /[A-Z]/.test(match) && /[a-z]/.test(match)
        ? note(mediaBlock(type ?? 'application/octet-stream', match))
        : match,
  );
}

function note(block: MediaBlock): string {
  return `[${block.mediaType}, ${block.byteLength} bytes, sha256 ${block.digest.slice(0, 16)}]`;
}
