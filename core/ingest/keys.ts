import { sha256Hex } from '../contracts/hash.ts';

/**
 * Where things lie in the object store. Ids come from telemetry and are untrusted: everything but letters, digits
 * and `._-` is percent-encoded by UTF-8 byte, so that no id can climb out of its prefix; an id too long for a
 * key (S3: 1,024 bytes in all) keeps its start and is told apart by its hash.
 */
export function keyPart(id: string): string {
  const encoded = encodeURIComponent(id.toWellFormed()).replace(
    /[!'()*~]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const safe = /^\.+$/.test(encoded) ? encoded.replaceAll('.', '%2E') : encoded;
  return safe.length <= 200 ? safe : `${safe.slice(0, 160)}-${sha256Hex(id).slice(0, 32)}`;
}

export const rawPrefix = (traceId: string): string => `raw/${keyPart(traceId)}/`;
export const rawKey = (traceId: string, eventHash: string): string => `${rawPrefix(traceId)}${eventHash}.json.gz`;
export const sessionKey = (sessionId: string, hash: string): string =>
  `sessions/${keyPart(sessionId)}/${hash}.json.gz`;
export const QUARANTINE_PREFIX = 'quarantine/';
export const quarantineKey = (eventHash: string): string => `${QUARANTINE_PREFIX}${eventHash}.json.gz`;

/** Step Functions names: at most 80 characters of a restricted set, refused for 90 days once used. */
export function executionName(sessionId: string, contentHash: string): string {
  const readable = sessionId.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 30);
  return `${readable}-${sha256Hex(sessionId).slice(0, 8)}-${contentHash.slice(0, 32)}`;
}
