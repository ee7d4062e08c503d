import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  PutLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
  UpdateStateMachineCommand,
} from '@aws-sdk/client-sfn';
import { marshall } from '@aws-sdk/util-dynamodb';
import * as z from 'zod';
import { DynamoDiagnosisStore } from '../../adapters/aws/dynamo-diagnosis-store.ts';
import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { failureKey } from '../../core/ports/table.ts';
import { converseAnswer, startConverseStub } from '../helpers/stub-converse.ts';
import type { StubRequest } from '../helpers/stub-server.ts';
import { type Emulator, findPython, startEmulator } from './emulator.ts';
import { type Deployed, deploy, describeStack, setEnvironment } from './stack.ts';

/**
 * The whole promise on an emulator: log events in, diagnosis out, through every deployed Lambda and the deployed
 * state machine. What differs from AWS, and what proves it instead, stands in docs/emulator.md.
 */
const SPANS_GROUP = 'aws/spans';
const RUNTIME_GROUP = '/aws/bedrock-agentcore/runtimes/parcels-AB12-DEFAULT';
const SESSION_ID = '9d0f5f1e-parcel-session';
/** Log records from here on arrive after the first diagnosis. */
const LATE = 10;
const IDLE_SECONDS = 3;
const SWEEP_EVERY_MS = 2_000;
const PATIENCE_MS = 120_000;

const fixtures = path.resolve(import.meta.dirname, '../fixtures/telemetry');
const recordSchema = z.array(z.record(z.string(), z.unknown()));

interface Setting {
  readonly emulator: Emulator;
  readonly stack: Deployed;
  readonly store: DynamoDiagnosisStore;
  readonly index: DynamoSessionIndex;
  readonly logs: CloudWatchLogsClient;
  readonly sfn: SFNClient;
  readonly modelRequests: readonly StubRequest[];
  readonly lambda: LambdaClient;
}

async function main(): Promise<number> {
  const { python, why } = await findPython();
  if (python === null) {
    process.stdout.write(`skipped: ${why}\n0 passed, 0 failed, 1 skipped\n`);
    return 0;
  }
  const scratch = await mkdtemp(path.join(tmpdir(), 'rootspan-integ-'));
  const emulator = await startEmulator(python, scratch);
  const bedrock = await startConverseStub((request) => answer(request));
  let passed = 0;
  let failed = 0;
  let sweeping: NodeJS.Timeout | undefined;
  try {
    const setting = await setUp(emulator, bedrock.url, bedrock.requests, scratch);
    sweeping = keepSweeping(setting);
    for (const [title, scenario] of SCENARIOS) {
      const started = Date.now();
      try {
        await scenario(setting);
        passed += 1;
        process.stdout.write(`ok      ${title} (${Date.now() - started} ms)\n`);
      } catch (error) {
        failed += 1;
        process.stdout.write(`not ok  ${title}\n${error instanceof Error ? error.stack : String(error)}\n`);
        // Each scenario goes on from what the one before left.
        break;
      }
    }
  } finally {
    clearInterval(sweeping);
    await emulator.stop();
    await bedrock.close();
    if (failed === 0 && process.env.KEEP === undefined) await rm(scratch, { recursive: true, force: true });
    else process.stdout.write(`the emulator's log is kept: ${path.join(scratch, 'ministack.log')}\n`);
  }
  process.stdout.write(`${passed} passed, ${failed} failed, ${SCENARIOS.length - passed - failed} skipped\n`);
  return failed === 0 && passed === SCENARIOS.length ? 0 : 1;
}

async function setUp(
  emulator: Emulator,
  bedrockUrl: string,
  modelRequests: readonly StubRequest[],
  scratch: string,
): Promise<Setting> {
  Object.assign(process.env, emulator.env);
  const config = { endpoint: emulator.endpoint, region: 'us-east-1' };
  const logs = new CloudWatchLogsClient(config);
  for (const logGroupName of [SPANS_GROUP, RUNTIME_GROUP]) {
    await logs.send(new CreateLogGroupCommand({ logGroupName }));
    await logs.send(new CreateLogStreamCommand({ logGroupName, logStreamName: 'default' }));
  }
  // Not `throwaway`: the function that empties a bucket takes its SDK from the runtime, which the emulator has not.
  await deploy(emulator, { logGroups: [SPANS_GROUP, RUNTIME_GROUP] }, scratch);
  const stack = await describeStack(new CloudFormationClient(config));
  const lambda = new LambdaClient(config);
  await setEnvironment(lambda, stack.lambda('IngestStep'), { IDLE_SECONDS: String(IDLE_SECONDS) });
  // Also the distance between two diagnoses of a session that comes back, an hour by default.
  const hurried = {
    AGENT_CONFIGURATION: JSON.stringify({ default: { idleSeconds: IDLE_SECONDS, returnSeconds: 0 } }),
  };
  for (const step of ['CloseSession', 'Sweep']) await setEnvironment(lambda, stack.lambda(step), hurried);
  for (const step of ['AnalyzeChunk', 'RootCause']) {
    await setEnvironment(lambda, stack.lambda(step), { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: bedrockUrl });
  }
  const sfn = new SFNClient(config);
  await useLatest(sfn, stack.stateMachineArn);
  const dynamo = new DynamoDBClient(config);
  const objects = new S3ObjectStore(new S3Client({ ...config, forcePathStyle: true }), stack.bucket);
  const clock = { now: () => Date.now() };
  return {
    emulator,
    stack,
    store: new DynamoDiagnosisStore(new DynamoTable(dynamo, stack.table, clock), objects, clock, {
      retentionDays: null,
    }),
    index: new DynamoSessionIndex(new DynamoTable(dynamo, stack.table, clock), clock, {
      retentionDays: null,
    }),
    lambda,
    logs,
    sfn,
    modelRequests,
  };
}

/**
 * The state machine calls published versions, whose variables were frozen before this test could point the model's
 * endpoint at its stub: here, and only here, it calls the functions as they are now.
 */
async function useLatest(sfn: SFNClient, stateMachineArn: string): Promise<void> {
  const { definition = '' } = await sfn.send(new DescribeStateMachineCommand({ stateMachineArn }));
  const latest = definition.replace(/(:function:[\w-]+):\d+(?=")/g, '$1');
  expect(latest !== definition, 'the state machine to call versions of functions');
  await sfn.send(new UpdateStateMachineCommand({ stateMachineArn, definition: latest }));
}

/**
 * The sweeper's schedule is a minute in the account and may not run on the emulator; one sweep more is harmless by
 * design. A sweep that fails shows as a session that is never diagnosed.
 */
function keepSweeping({ lambda, stack }: Setting): NodeJS.Timeout {
  const FunctionName = stack.lambda('Sweep');
  return setInterval(() => {
    lambda.send(new InvokeCommand({ FunctionName, InvocationType: 'Event' })).catch((error: unknown) => {
      process.stderr.write(`sweep not invoked: ${String(error)}\n`);
    });
  }, SWEEP_EVERY_MS);
}

/** The stub's words are ours, not a model's: it finds one failure in the first span it is shown, and explains it. */
function answer(request: StubRequest): ReturnType<typeof converseAnswer> {
  const text = JSON.stringify(request.body);
  // The prompt explains the notation with an example; the run itself comes last.
  const alias = [...text.matchAll(/@(s\d+) tool/g)].at(-1)?.[1] ?? 'none';
  if (text.includes('report_failures')) {
    return converseAnswer(
      JSON.stringify({
        failures: [
          {
            span: alias,
            category: 'other',
            confidence: 'high',
            quote: 'parcel',
            why: 'stub answer of the integration test',
          },
        ],
      }),
    );
  }
  return converseAnswer(
    JSON.stringify({
      analysis: 'stub answer',
      criticalSteps: [],
      rootCauses: [
        {
          failure: alias,
          location: alias,
          causality: 'PRIMARY_FAILURE',
          impact: ['TASK_TERMINATION'],
          timing: 'IMMEDIATELY_AT_OCCURRENCE',
          explanation: 'stub answer of the integration test',
          fixType: 'OTHERS',
          fix: 'none: this is the stub of the integration test',
        },
      ],
      completion: 'COMPLETE_FAILURE',
    }),
  );
}

async function records(file: string): Promise<string[]> {
  const parsed = recordSchema.parse(JSON.parse(await readFile(path.join(fixtures, file), 'utf8')));
  return parsed.map((record) => JSON.stringify(record.raw_otel_json ?? record));
}

async function putEvents(
  { logs }: Setting,
  logGroupName: string,
  messages: readonly string[],
): Promise<void> {
  // One event a call, as CloudWatch mostly delivers them.
  for (const message of messages) {
    await logs.send(
      new PutLogEventsCommand({
        logGroupName,
        logStreamName: 'default',
        logEvents: [{ timestamp: Date.now(), message }],
      }),
    );
  }
}

async function until<T>(what: string, probe: () => Promise<T | null>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  while (Date.now() < deadline) {
    const found = await probe();
    if (found !== null) return found;
    await delay(500);
  }
  throw new Error(`waited ${PATIENCE_MS / 1000} s in vain: ${what}`);
}

const untilVersion = ({ store }: Setting, sessionId: string, version: number): Promise<Diagnosis> =>
  until(`version ${version} of ${sessionId}`, async () => {
    const latest = await store.latest(sessionId);
    return latest !== null && latest.version >= version ? latest : null;
  });

/** Nothing is under way any more: no timer, no running execution. */
const untilQuiet = ({ index, sfn, stack }: Setting): Promise<true> =>
  until('silence', async () => {
    for await (const _ of index.due(Number.MAX_SAFE_INTEGER)) return null;
    const { executions = [] } = await sfn.send(
      new ListExecutionsCommand({ stateMachineArn: stack.stateMachineArn, statusFilter: 'RUNNING' }),
    );
    return executions.length === 0 ? true : null;
  });

async function executionCount({ sfn, stack }: Setting): Promise<number> {
  const { executions = [] } = await sfn.send(
    new ListExecutionsCommand({ stateMachineArn: stack.stateMachineArn }),
  );
  return executions.length;
}

function expect(condition: boolean, what: string): void {
  if (!condition) throw new Error(`expected ${what}`);
}

const SCENARIOS: readonly (readonly [string, (setting: Setting) => Promise<void>])[] = [
  [
    'log events of a split session in, diagnosis out',
    async (setting) => {
      const spans = await records('agentcore-split-spans.json');
      const logs = await records('agentcore-split-logs.json');
      // The content comes first, and most of it names no session: it must find its way through the trace.
      await putEvents(setting, RUNTIME_GROUP, logs.slice(0, LATE));
      await putEvents(setting, SPANS_GROUP, spans);
      const diagnosis = await untilVersion(setting, SESSION_ID, 1);
      expect(
        diagnosis.coverage.state !== 'NONE',
        `a diagnosis, got ${diagnosis.outcome} (${diagnosis.coverage.state}): ${diagnosis.outcomeReason}`,
      );
      expect(
        diagnosis.failures.some((failure) => failure.source.some(({ kind }) => kind === 'model')),
        'a failure that the model named',
      );
      expect(diagnosis.rootCauses.length === diagnosis.failures.length, 'one root cause for each failure');
      expect(setting.modelRequests.length >= 2, 'the stub to have been asked for detection and explanation');
      await untilQuiet(setting);
    },
  ],
  [
    'the same events again: no execution, no version, no model call',
    async (setting) => {
      const executions = await executionCount(setting);
      const asked = setting.modelRequests.length;
      await putEvents(setting, RUNTIME_GROUP, (await records('agentcore-split-logs.json')).slice(0, LATE));
      await putEvents(setting, SPANS_GROUP, await records('agentcore-split-spans.json'));
      await until('the timer to be armed again', async () => {
        for await (const state of setting.index.due(Number.MAX_SAFE_INTEGER))
          if (state.sessionId === SESSION_ID) return true;
        return null;
      });
      await untilQuiet(setting);
      expect((await executionCount(setting)) === executions, 'no new execution');
      expect(setting.modelRequests.length === asked, 'no new model call');
      expect((await setting.store.versions(SESSION_ID)).length === 1, 'one version');
    },
  ],
  [
    'a late record: version 2, the old one superseded',
    async (setting) => {
      await putEvents(setting, RUNTIME_GROUP, (await records('agentcore-split-logs.json')).slice(LATE));
      const second = await untilVersion(setting, SESSION_ID, 2);
      const versions = await setting.store.versions(SESSION_ID);
      expect(versions.length === 2, `two versions, got ${versions.length}`);
      expect(
        versions.find(({ version }) => version === 1)?.superseded === true,
        'version 1 to be superseded',
      );
      expect(
        second.provenance.sessionHash !==
          (await setting.store.version(SESSION_ID, 1))?.provenance.sessionHash,
        'other content',
      );
      await untilQuiet(setting);
    },
  ],
  [
    'an execution that cannot read its session leaves a failure row and a dead letter, and fails',
    async ({ sfn, stack, emulator }) => {
      const { executionArn = '' } = await sfn.send(
        new StartExecutionCommand({
          stateMachineArn: stack.stateMachineArn,
          name: 'no-such-session',
          input: JSON.stringify({ sessionId: 'nobody', sessionKey: 'sessions/nobody/none.json.gz' }),
        }),
      );
      const status = await until('the execution to end', async () => {
        const execution = await sfn.send(new DescribeExecutionCommand({ executionArn }));
        return execution.status === 'RUNNING' ? null : (execution.status ?? null);
      });
      expect(status === 'FAILED', `FAILED, got ${status}`);
      const dynamo = new DynamoDBClient({ endpoint: emulator.endpoint, region: 'us-east-1' });
      const row = await dynamo.send(
        new GetItemCommand({
          TableName: stack.table,
          Key: marshall(failureKey('nobody', 'no-such-session')),
        }),
      );
      // The emulator calls every error of a handler Runtime.HandlerError; names are proved in the parity test.
      const message = row.Item?.message?.S ?? 'no row';
      expect(
        message.includes('no session at sessions/nobody'),
        `a failure row that says why, got: ${message}`,
      );
    },
  ],
];

process.exitCode = await main();
