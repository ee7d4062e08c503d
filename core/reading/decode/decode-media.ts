import { sha256Hex } from '../../base/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Block } from '../../session/session.ts';

type MediaBlock = Extract<Block, { type: 'media' }>;

/** Shorter runs of base64 letters are ids, hashes and words. 1,024 letters are 768 bytes: smaller than any picture. */
const MIN_BASE64_LENGTH = 1024;
const LONGEST_HEAD = 400;
const DATA_URI = /^data:([a-zA-Z0-9.+-]+\/[a-zA-Z0-9.+-]+)?(?:;[a-zA-Z0-9=._-]+)*;base64,/;

/**
 * What identifies a picture, sound or file without carrying its bytes. `digest` is the SHA-256 of the base64 text
 * (or of the URL, when the producer gives only that); `byteLength` is the decoded size, 0 when unknown.
 */
export function mediaBlock(mediaType: string, data: string): MediaBlock {
  const uri = DATA_URI.exec(data.slice(0, LONGEST_HEAD));
  const base64 = (uri ? data.slice(uri[0].length) : data).replaceAll(/\s/g, '');
  const isUrl = !uri && /^[a-z][a-z0-9+.-]{1,20}:/i.test(data);
  return {
    type: 'media',
    mediaType: uri?.[1] ?? mediaType,
    byteLength: isUrl ? 0 : Math.floor((base64.replace(/={1,2}$/, '').length * 3) / 4),
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

/**
 * The same for text that carries data URIs or base64 among other words, e.g. a result written as JSON text.
 * A loop and not a regular expression: those keep a way back for every letter of a run, and 30 MB of them overflow.
 */
export function textWithoutMedia(text: string): string {
  if (text.length < MIN_BASE64_LENGTH) return text;
  const kept: string[] = [];
  let from = 0;
  for (let start = 0; start + MIN_BASE64_LENGTH <= text.length; ) {
    // Backwards from where a run would be long enough: of words and spaces few letters are looked at.
    let at = start + MIN_BASE64_LENGTH - 1;
    while (at >= start && BASE64[text.charCodeAt(at)] === 1) at -= 1;
    if (at >= start) {
      start = at + 1;
      continue;
    }
    const end = endOfRun(text, start + MIN_BASE64_LENGTH);
    const head = /data:([a-zA-Z0-9.+-]{1,60}\/[a-zA-Z0-9.+-]{1,60})?;base64,$/.exec(
      text.slice(Math.max(from, start - 150), start),
    );
    const to = text.startsWith('==', end) ? end + 2 : text.startsWith('=', end) ? end + 1 : end;
    const run = text.slice(start, to);
    // A long run of one alphabet without digits or capitals is text without spaces, not base64.
    if (/\d/.test(run) && /[A-Z]/.test(run) && /[a-z]/.test(run)) {
      kept.push(text.slice(from, start - (head?.[0].length ?? 0)));
      kept.push(note(mediaBlock(head?.[1] ?? 'application/octet-stream', run)));
      from = to;
    }
    start = end + 1;
  }
  return from === 0 ? text : kept.join('') + text.slice(from);
}

/** Letters of base64 in both of its alphabets, by code. */
const BASE64 = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9+/_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

function endOfRun(text: string, start: number): number {
  let end = start;
  while (end < text.length && BASE64[text.charCodeAt(end)] === 1) end++;
  return end;
}

function note(block: MediaBlock): string {
  return `[${block.mediaType}, ${block.byteLength} bytes, sha256 ${block.digest.slice(0, 16)}]`;
}
