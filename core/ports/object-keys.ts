import { sha256Hex } from '../base/hash.ts';

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

/**
 * What stands for a session or trace id wherever people who may not read sessions can see it: execution names, object
 * keys, logs. Producers put e-mail addresses and customer numbers into session ids. 128 bits of SHA-256.
 */
export const idHash = (id: string): string => sha256Hex(id).slice(0, 32);

/** The frozen normal form of a session. */
export const sessionObjectKey = (sessionId: string, sessionHash: string): string =>
  `sessions/${idHash(sessionId)}/${sessionHash}.json.gz`;

/** Which raw records the ended part of a session has; create-only. */
export const sessionPartKey = (sessionId: string, part: number): string =>
  `sessions/${idHash(sessionId)}/part-${part}.json.gz`;

export const preparedKey = (executionName: string): string =>
  `executions/${keyPart(executionName)}/prepared.json.gz`;

/** Result of one chunk, by its index in the plan. */
export const chunkResultKey = (executionName: string, index: number): string =>
  `executions/${keyPart(executionName)}/chunks/${String(index).padStart(5, '0')}.json.gz`;

export const mergedKey = (executionName: string): string =>
  `executions/${keyPart(executionName)}/merged.json.gz`;

/** The validation log of an execution. */
export const constrainedKey = (executionName: string): string =>
  `executions/${keyPart(executionName)}/constrained.json.gz`;

/** An agent's own constraints, put there by its team (docs/constraints.md). Kept without an end. */
export const agentConstraintsKey = (agent: string): string => `constraints/${keyPart(agent)}.yaml`;

/** Body of a diagnosis too large for one DynamoDB item. */
export const diagnosisObjectKey = (sessionId: string, diagnosisId: string, contentHash: string): string =>
  `diagnoses/${idHash(sessionId)}/${keyPart(diagnosisId)}-${contentHash.slice(0, 16)}.json.gz`;

/** A model's answer by the hash of its request. */
export const answerKey = (requestHash: string): string => `cache/${keyPart(requestHash)}.json`;

/** All raw records of a trace; records without one are filed under their session's id. */
export const rawPrefix = (traceId: string): string => `raw/${idHash(traceId)}/`;
/** Records of one delivery that belong to one trace; create-only. */
export const rawKey = (traceId: string, deliveryHash: string): string =>
  `${rawPrefix(traceId)}${deliveryHash}.json.gz`;

export const QUARANTINE_PREFIX = 'quarantine/';
/** What could not be read, as it came. */
export const quarantineKey = (hash: string): string => `${QUARANTINE_PREFIX}${hash}.json.gz`;

/**
 * Name of the execution that diagnoses a closing. Step Functions takes 80 characters of a restricted set, and refuses a
 * name for 90 days once it was used. Begins with 16 digits of the session's hash: all executions of a session.
 */
export function executionName(sessionId: string, closing: number, sessionHash: string): string {
  return `${idHash(sessionId).slice(0, 16)}-${closing}-${sessionHash.slice(0, 32)}`;
}
