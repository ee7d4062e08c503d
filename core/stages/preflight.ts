import { canonicalJson, sha256Hex } from '../base/hash.ts';
import { runChecks } from '../checks/registry.ts';
import { detectionInstructions } from '../detection/prompt-v2.ts';
import type { DiagnosisOptions } from '../diagnosis/options.ts';
import type { Preflight } from '../diagnosis/stages.ts';
import { chunkSettings } from '../planning/chunk-settings.ts';
import { planChunks } from '../planning/plan-chunks.ts';
import { redactCredentials } from '../redaction/redact-credentials.ts';
import { hasNoContent } from '../report-build/data-gaps.ts';
import { type Session, sessionSpans } from '../session/session.ts';
import { trajectoryOf } from '../trajectory/trajectory-of.ts';
import { TAXONOMY } from '../vocabulary/taxonomy.ts';

/**
 * Preflight: checks, chunk plan, and whether a model is to be asked at all. Needs no model and asks none.
 * Credentials are replaced here once more, for sessions that no reader of ours made. `sessionHash` is over the canonical normal form: equal sessions are equal whatever the order of their keys.
 */
export const preflight: Preflight = (received, options, deps) => {
  const session = redactCredentials(received);
  const trajectory = trajectoryOf(session);
  const instructions = detectionInstructions(options.taxonomy ?? TAXONOMY, options.guidelines);
  return {
    session,
    sessionHash: sha256Hex(canonicalJson(session)),
    options,
    modelSpec: deps.modelSpec,
    checks: runChecks(trajectory),
    plan: planChunks(trajectory, deps.counter, chunkSettings(deps.limits, deps.counter.count(instructions))),
    notAnalysed: whyNoModel(session, options, deps.modelSpec),
  };
};

function whyNoModel(session: Session, options: DiagnosisOptions, modelSpec: string): string | null {
  if (sessionSpans(session).length === 0) return 'no-spans: the session has no spans';
  if (hasNoContent(session)) {
    return 'no-content: no span carries a prompt, an answer, arguments or a result (see `rootspan doctor`)';
  }
  if (options.depth === 'checks') return 'no-model: depth is "checks"';
  if (modelSpec === 'none') return 'no-model: the model is "none"';
  return null;
}
