import { sha256Hex } from './hash.ts';

/** Where things lie in the object store (design.md, Storage). Every key derives from content or from a name. */

/**
 * A foreign id as a part of a key: itself when it is short and plain, else a readable beginning and a hash.
 * Ids come from telemetry: they may be long, hold slashes, or be `..`.
 */
export function keyPart(id: string): string {
  if (/^[A-Za-z0-9_@:+=,-][A-Za-z0-9_.@:+=,-]{0,127}$/.test(id)) return id;
  const readable = id.slice(0, 48).replace(/[^A-Za-z0-9_-]+/g, '-');
  // `~` occurs in no plain id, so a shortened id never equals a plain one. 128 bits of the hash tell the rest apart.
  return `${readable}~${sha256Hex(id).slice(0, 32)}`;
}

/** The frozen normal form of a session. */
export const sessionObjectKey = (sessionId: string, sessionHash: string): string =>
  `sessions/${keyPart(sessionId)}/${sessionHash}.json.gz`;

export const preparedKey = (executionName: string): string =>
  `executions/${keyPart(executionName)}/prepared.json.gz`;

/** Result of one chunk, by its index in the plan. */
export const chunkResultKey = (executionName: string, index: number): string =>
  `executions/${keyPart(executionName)}/chunks/${String(index).padStart(5, '0')}.json.gz`;

export const mergedKey = (executionName: string): string =>
  `executions/${keyPart(executionName)}/merged.json.gz`;

/** Body of a diagnosis too large for one DynamoDB item. */
export const diagnosisObjectKey = (sessionId: string, diagnosisId: string, contentHash: string): string =>
  `diagnoses/${keyPart(sessionId)}/${keyPart(diagnosisId)}-${contentHash.slice(0, 16)}.json.gz`;

/** A model's answer by the hash of its request. */
export const answerKey = (requestHash: string): string => `cache/${keyPart(requestHash)}.json`;
