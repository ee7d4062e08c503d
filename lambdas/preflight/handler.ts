import { parseAtDoor } from '../../core/base/parse.ts';
import { loadConstraints } from '../../core/constraints/read-constraints.ts';
import { DEFAULT_OPTIONS, type DiagnosisOptions } from '../../core/diagnosis/options.ts';
import {
  ConfigurationInvalidError,
  SessionInvalidError,
  SessionTooLargeError,
} from '../../core/errors/errors.ts';
import type { ModelLimits } from '../../core/model/port.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { getJson, putJson } from '../../core/ports/carried.ts';
import { agentConstraintsKey, idHash, preparedKey } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import {
  MAX_CHUNKS,
  type PreflightResult,
  preflightEventSchema,
  type WorkflowOptions,
} from '../../core/ports/workflow.ts';
import { sessionSchema } from '../../core/session/session.ts';
import { preflight } from '../../core/stages/pipeline.ts';

export interface PreflightDeps {
  readonly objects: ObjectStore;
  readonly counter: TokenCounter;
  /** Specs that sessions may be sent to; the first is for sessions that name none. */
  readonly models: readonly [string, ...string[]];
  /** ConfigurationInvalidError for a spec that is none. */
  readonly limitsOf: (modelSpec: string) => ModelLimits;
}

/** Loads the frozen session, runs the checks, plans the chunks; leaves the result as `prepared` in the object store. */
export function makePreflightHandler(deps: PreflightDeps): (event: unknown) => Promise<PreflightResult> {
  return async (event) => {
    const { executionName, input } = parseAtDoor(preflightEventSchema, event, 'the input of this execution');
    const { sessionId, sessionKey } = input;
    const json = await getJson(deps.objects, sessionKey);
    if (json === null)
      throw new SessionInvalidError(
        `there is no session at ${sessionKey}: expected the object that close-session froze`,
      );
    const session = parseAtDoor(sessionSchema, json, `the session at ${sessionKey}`);
    if (session.sessionId !== sessionId)
      throw new SessionInvalidError(
        `the object ${sessionKey} holds the session ${idHash(session.sessionId)} (hash of its id), expected ${idHash(sessionId)}`,
      );
    const modelSpec = allowedModel(input.model, deps.models);
    const constraints = await constraintsOf(session.agent, deps.objects);
    const options = { ...withDefaults(input.options ?? {}), ...constraints };
    const prepared = preflight(session, options, {
      counter: deps.counter,
      limits: deps.limitsOf(modelSpec),
      modelSpec,
    });
    const chunks = prepared.notAnalysed === null ? prepared.plan.chunks.map(({ index }) => index) : [];
    if (chunks.length > MAX_CHUNKS)
      throw new SessionTooLargeError(
        `session ${idHash(sessionId)} needs ${chunks.length} model calls for detection, at most ${MAX_CHUNKS} fit one execution: ` +
          'use a model with a larger window',
      );
    await putJson(deps.objects, preparedKey(executionName), prepared);
    return { sessionId, chunks };
  };
}

/** Who may start an execution may not thereby send a session to an address of their own choice. */
function allowedModel(wanted: string | undefined, models: PreflightDeps['models']): string {
  if (wanted === undefined || wanted === 'none' || models.includes(wanted)) return wanted ?? models[0];
  throw new ConfigurationInvalidError(
    `model ${wanted.slice(0, 200)} is not among those of the stack (${models.join(', ')}): add it to \`models\` and deploy`,
  );
}

/**
 * What the agent's team put into the bucket; nothing when there is none. A file that cannot be used is a fault of
 * configuration: the session waits until it is fixed instead of being diagnosed with fewer rules than its team believes.
 */
async function constraintsOf(
  agent: string | null,
  objects: ObjectStore,
): Promise<Pick<DiagnosisOptions, 'constraints'>> {
  if (agent === null) return {};
  const key = agentConstraintsKey(agent);
  const bytes = await objects.get(key);
  return bytes === null ? {} : { constraints: loadConstraints(new TextDecoder().decode(bytes), key) };
}

function withDefaults(stated: WorkflowOptions): DiagnosisOptions {
  return {
    depth: stated.depth ?? DEFAULT_OPTIONS.depth,
    confidence: stated.confidence ?? DEFAULT_OPTIONS.confidence,
    votes: stated.votes ?? DEFAULT_OPTIONS.votes,
    assumeFailed: stated.assumeFailed ?? DEFAULT_OPTIONS.assumeFailed,
    ...(stated.deepRule === undefined ? {} : { deepRule: stated.deepRule }),
    ...(stated.synthesis === undefined ? {} : { synthesis: stated.synthesis }),
    ...(stated.protocol === undefined ? {} : { protocol: stated.protocol }),
    ...(stated.guidelines === undefined ? {} : { guidelines: stated.guidelines }),
  };
}
