import { StateMachine } from 'aws-local-stepfunctions';
import { DynamoDiagnosisStore } from '../../adapters/aws/dynamo-diagnosis-store.ts';
import { DynamoFailureLog } from '../../adapters/aws/dynamo-failure-log.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { cachedModel } from '../../adapters/models/cached.ts';
import type { Clock } from '../../core/base/clock.ts';
import { canonicalJson, sha256Hex } from '../../core/base/hash.ts';
import type { Model } from '../../core/model/port.ts';
import type { TokenCounter } from '../../core/planning/tokens/counter.ts';
import { putJson } from '../../core/ports/carried.ts';
import { sessionObjectKey } from '../../core/ports/object-keys.ts';
import type { ObjectStore } from '../../core/ports/ports.ts';
import type { WorkflowInput } from '../../core/ports/workflow.ts';
import type { Session } from '../../core/session/session.ts';
import { makeAnalyzeChunkHandler } from '../../lambdas/analyze-chunk/handler.ts';
import { makeConstraintsHandler } from '../../lambdas/constraints/handler.ts';
import { makeMergeHandler } from '../../lambdas/merge/handler.ts';
import { makePreflightHandler } from '../../lambdas/preflight/handler.ts';
import { makeRecordFailureHandler } from '../../lambdas/record-failure/handler.ts';
import { makeRootCauseHandler } from '../../lambdas/root-cause/handler.ts';
import type { EmbeddedDynamo } from './embedded-dynamo.ts';
import type { definitionOf } from './synthesised.ts';

export interface LocalWorkflow {
  readonly objects: ObjectStore;
  readonly dynamo: EmbeddedDynamo;
  readonly counter: TokenCounter;
  readonly clock: Clock;
  readonly definition: ReturnType<typeof definitionOf>;
}

export interface LocalRun {
  /** Output of the execution, or the name of the error that it failed with. */
  readonly output: unknown;
  readonly failedWith: string | null;
  /** Bytes of the largest value that went into or out of a state. */
  readonly largestState: number;
  /** States in the order in which they were entered. */
  readonly entered: readonly string[];
  readonly retried: readonly string[];
  readonly deadLetters: readonly unknown[];
}

type Handler = (event: unknown) => Promise<unknown>;

/**
 * Runs the synthesised state machine with the real handlers over local stores, in this process. Events, results and
 * errors pass the border as Lambda passes them: as JSON, errors by name with a JSON cause. Retries do not wait.
 */
export async function runLocally(
  local: LocalWorkflow,
  model: Model,
  input: WorkflowInput,
  executionName: string,
): Promise<LocalRun> {
  const { objects, dynamo, counter, clock } = local;
  const modelFor = async (): Promise<Model> => cachedModel(model, objects);
  const diagnoses = new DynamoDiagnosisStore(
    new DynamoTable(dynamo.client, dynamo.tableName, clock),
    objects,
    clock,
    {
      retentionDays: 90,
    },
  );
  const failures = new DynamoFailureLog(new DynamoTable(dynamo.client, dynamo.tableName, clock), clock, 90);
  const rootCause = makeRootCauseHandler({ objects, diagnoses, counter, clock, modelFor });
  const constraints = makeConstraintsHandler({ objects, counter, modelFor });
  const recordFailure = makeRecordFailureHandler({ objects, failures, clock });
  const deadLetters: unknown[] = [];
  const handlers: Record<string, Handler> = {
    Preflight: makePreflightHandler({
      objects,
      counter,
      models: [model.spec],
      limitsOf: () => model.limits,
    }),
    AnalyzeChunk: makeAnalyzeChunkHandler({ objects, counter, modelFor }),
    RecordChunkNotAnalyzed: recordFailure,
    Merge: makeMergeHandler({ objects }),
    Constraints: constraints,
    ConstraintsWithoutModel: constraints,
    RootCause: rootCause,
    ExplainByRule: rootCause,
    RecordFailure: recordFailure,
    SendToDeadLetters: async (message) => {
      deadLetters.push(message);
      return { MessageId: 'local' };
    },
  };
  const names = taskNames(local.definition.States);
  const missing = names.filter((name) => handlers[name] === undefined);
  // A task without a local handler would be called in AWS.
  if (missing.length > 0) throw new Error(`no local handler for ${missing.join(', ')}`);

  const machine = new StateMachine(structuredClone(local.definition) as never, {
    awsConfig: {
      region: 'local',
      credentials: { accessKeys: { accessKeyId: 'none', secretAccessKey: 'none' } },
    },
  });
  const run = machine.run(structuredClone(input) as never, {
    context: { Execution: { Name: executionName, Input: structuredClone(input) } } as never,
    overrides: {
      taskResourceLocalHandlers: Object.fromEntries(
        names.map((name) => [name, asLambda(handlers[name] ?? (async () => null))]),
      ) as never,
      retryIntervalOverrides: Object.fromEntries(names.map((name) => [name, 0])),
    },
  });
  const entered: string[] = [];
  const retried: string[] = [];
  let largestState = 0;
  let failedWith: string | null = null;
  const watching = (async () => {
    for await (const event of run.eventLogs) {
      if ('state' in event)
        for (const value of [event.state.input, event.state.output])
          largestState = Math.max(largestState, Buffer.byteLength(JSON.stringify(value) ?? ''));
      if (event.type === 'StateEntered') entered.push(event.state.name);
      if (event.type === 'StateRetried') retried.push(event.state.name);
      if (event.type === 'ExecutionFailed') failedWith = event.Error;
    }
  })();
  const output: unknown = await run.result.catch(() => null);
  await watching;
  return { output, failedWith, largestState, entered, retried, deadLetters };
}

/** Puts the session where close-session freezes it, and gives the input of its execution. */
export async function freeze(objects: ObjectStore, session: Session): Promise<WorkflowInput> {
  const sessionKey = sessionObjectKey(session.sessionId, sha256Hex(canonicalJson(session)));
  await putJson(objects, sessionKey, session);
  return { sessionId: session.sessionId, sessionKey };
}

function taskNames(states: LocalWorkflow['definition']['States']): string[] {
  return Object.entries(states).flatMap(([name, state]) => [
    ...(state.Type === 'Task' ? [name] : []),
    ...taskNames(state.ItemProcessor?.States ?? {}),
  ]);
}

function asLambda(handler: Handler): Handler {
  return async (event) => {
    try {
      return JSON.parse(JSON.stringify(await handler(JSON.parse(JSON.stringify(event)))));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const { name, message } = error;
      const cause = JSON.stringify({ errorType: name, errorMessage: message, trace: [] });
      throw Object.assign(new Error(cause), { name });
    }
  };
}
