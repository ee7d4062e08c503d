import { canonicalJson, sha256Hex } from '../base/hash.ts';
import type { Diagnosis } from './schema.ts';

/**
 * What a diagnosis says, without when and at what price it was made and what people say of it: two runs over equal input with the same
 * answers have equal content, also when one of them found its answers in the cache.
 */
export function diagnosisContent(diagnosis: Diagnosis): object {
  const {
    version: _version,
    createdAt: _createdAt,
    usage: _usage,
    feedback: _feedback,
    provenance,
    ...said
  } = diagnosis;
  const { calls, ...settings } = provenance;
  return { ...said, provenance: { ...settings, requests: calls.map((call) => call.requestHash).sort() } };
}

/** SHA-256 hex of the content: what must be equal for a second write to be the same result again. */
export function diagnosisContentHash(diagnosis: Diagnosis): string {
  return sha256Hex(canonicalJson(diagnosisContent(diagnosis)));
}
