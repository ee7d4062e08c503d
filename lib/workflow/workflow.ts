import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import * as tasks from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { Construct } from 'constructs';
import { analyzeChunkEnv } from '../../lambdas/analyze-chunk/env.ts';
import { mergeEnv } from '../../lambdas/merge/env.ts';
import { preflightEnv } from '../../lambdas/preflight/env.ts';
import { recordFailureEnv } from '../../lambdas/record-failure/env.ts';
import { rootCauseEnv } from '../../lambdas/root-cause/env.ts';
import { acknowledge, arnFinding } from '../acknowledge.ts';
import { STATE_MACHINE_LOGS } from '../own-log-groups.ts';
import type { Results } from '../results/results.ts';
import { StepLambda } from '../step-lambda.ts';
import { giveModels } from './model-access.ts';
import { CONFIGURATION_FAULTS, MODEL_OUT_OF_REACH, MODEL_STEP_RETRIES, STEP_RETRIES } from './retries.ts';

export interface WorkflowProps {
  readonly results: Results;
  /** Model specs that sessions may use; the first is the default. */
  readonly models: readonly [string, ...string[]];
  /** Chunks of one session analysed at once; an inline Map runs about 40. */
  readonly chunksAtOnce: number;
  readonly bundles?: string;
}

const { stringAt, numberAt, objectAt } = sfn.JsonPath;
const EXECUTION = stringAt('$$.Execution.Name');

/** Where a `Catch` puts the error, and where `Fail` states read it. */
const CAUGHT = '$.error';
const FAIL_AS_CAUGHT = { errorPath: `${CAUGHT}.Error`, causePath: `${CAUGHT}.Cause` };

/**
 * The diagnosis as a state machine: Preflight, AnalyzeChunks (inline Map), Merge, RootCause, and one failure path.
 * The state holds references only; each step finds its values under `executions/<name>/`.
 */
export class Workflow extends Construct {
  readonly stateMachine: sfn.StateMachine;
  readonly deadLetters: sqs.Queue;
  readonly #props: WorkflowProps;
  readonly #steps: StepLambda[] = [];

  constructor(scope: Construct, id: string, props: WorkflowProps) {
    super(scope, id);
    this.#props = props;
    this.deadLetters = new sqs.Queue(this, 'DeadLetters', {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // The longest there is.
      retentionPeriod: Duration.days(14),
    });

    acknowledge(this.deadLetters, 'AwsSolutions-SQS3', 'It is the dead-letter queue itself.');

    const recordFailure = this.#recordFailureStep();
    const fail = this.#failurePath(recordFailure);
    const guarded = <T extends tasks.LambdaInvoke | sfn.Map>(state: T): T => {
      state.addCatch(fail, { errors: [sfn.Errors.ALL], resultPath: CAUGHT });
      return state;
    };

    const preflight = guarded(
      this.#task(this.#preflightStep(), 'Preflight', STEP_RETRIES, {
        executionName: EXECUTION,
        input: objectAt('$$.Execution.Input'),
      }),
    );
    const analyzeChunks = guarded(this.#analyzeChunks(recordFailure));
    const merge = guarded(this.#task(this.#mergeStep(), 'Merge', STEP_RETRIES, { executionName: EXECUTION }));
    const rootCauseStep = this.#rootCauseStep();
    const rootCause = this.#task(rootCauseStep, 'RootCause', MODEL_STEP_RETRIES, {
      executionName: EXECUTION,
    });
    const explainByRule = guarded(
      this.#task(rootCauseStep, 'ExplainByRule', STEP_RETRIES, {
        executionName: EXECUTION,
        error: objectAt(CAUGHT),
      }),
    );
    // Before the general catch: the first that matches is taken.
    rootCause.addCatch(explainByRule, { errors: MODEL_OUT_OF_REACH, resultPath: CAUGHT });
    guarded(rootCause);

    this.stateMachine = new sfn.StateMachine(this, 'StateMachine', {
      stateMachineType: sfn.StateMachineType.STANDARD,
      definitionBody: sfn.DefinitionBody.fromChainable(
        preflight.next(analyzeChunks).next(merge).next(rootCause),
      ),
      comment: 'Diagnoses one session',
      // Far above the longest honest run (500 chunks, 10 at once, throttled): ends what hangs, and is alarmed on.
      timeout: Duration.hours(24),
      tracingEnabled: true,
      logs: {
        destination: new logs.LogGroup(this, 'Logs', {
          logGroupName: `${STATE_MACHINE_LOGS}${Stack.of(this).stackName}`,
          retention: logs.RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        level: sfn.LogLevel.ALL,
        includeExecutionData: false,
      },
    });
    this.#acknowledgeStateMachine();
  }

  /** The policy that CDK writes for the state machine. */
  #acknowledgeStateMachine(): void {
    const rule = 'AwsSolutions-IAM5';
    for (const { function: fn } of this.#steps)
      acknowledge(
        this.stateMachine,
        rule,
        'CDK allows the versions of the function as well; they are the same step.',
        arnFinding(fn, ':*'),
      );
    acknowledge(
      this.stateMachine,
      rule,
      'X-Ray segments and vended log deliveries have no ARN to name.',
      'Resource::*',
    );
  }

  /** One item a chunk. An item ends with a result whatever happens, unless the configuration is at fault. */
  #analyzeChunks(recordFailure: StepLambda): sfn.Map {
    const item = { executionName: stringAt('$.executionName'), index: numberAt('$.index') };
    const analyze = this.#task(this.#analyzeChunkStep(), 'AnalyzeChunk', MODEL_STEP_RETRIES, item);
    const record = this.#task(recordFailure, 'RecordChunkNotAnalyzed', STEP_RETRIES, {
      what: 'chunk',
      ...item,
      error: objectAt(CAUGHT),
    });
    analyze.addCatch(new sfn.Fail(this, 'ConfigurationFault', FAIL_AS_CAUGHT), {
      errors: CONFIGURATION_FAULTS,
      resultPath: CAUGHT,
    });
    analyze.addCatch(record, { errors: [sfn.Errors.ALL], resultPath: CAUGHT });
    return new sfn.Map(this, 'AnalyzeChunks', {
      stateName: 'AnalyzeChunks',
      itemsPath: '$.chunks',
      itemSelector: { executionName: EXECUTION, index: numberAt('$$.Map.Item.Value') },
      maxConcurrency: this.#props.chunksAtOnce,
      // Results are found by their index; the state needs none of them.
      resultPath: sfn.JsonPath.DISCARD,
    }).itemProcessor(analyze);
  }

  /** A row beside the session, the input in the dead-letter queue for a redrive, then the original error. */
  #failurePath(recordFailure: StepLambda): sfn.IChainable {
    const record = this.#task(
      recordFailure,
      'RecordFailure',
      STEP_RETRIES,
      {
        what: 'execution',
        executionName: EXECUTION,
        input: objectAt('$$.Execution.Input'),
        error: objectAt(CAUGHT),
      },
      sfn.JsonPath.DISCARD,
    );
    const send = new tasks.SqsSendMessage(this, 'SendToDeadLetters', {
      queue: this.deadLetters,
      messageBody: sfn.TaskInput.fromObject({
        executionName: EXECUTION,
        input: objectAt('$$.Execution.Input'),
        error: objectAt(CAUGHT),
      }),
      resultPath: sfn.JsonPath.DISCARD,
    });
    // 2 + 4 + 8 s: the queue is the last net.
    send.addRetry({
      errors: [sfn.Errors.ALL],
      interval: Duration.seconds(2),
      maxAttempts: 3,
      backoffRate: 2,
    });
    // The row may fail to be written; the message must go out all the same.
    record.addCatch(send, { errors: [sfn.Errors.ALL], resultPath: sfn.JsonPath.DISCARD });
    return record.next(send).next(new sfn.Fail(this, 'DiagnosisFailed', FAIL_AS_CAUGHT));
  }

  #task(
    step: StepLambda,
    name: string,
    retries: readonly sfn.RetryProps[],
    payload: Record<string, unknown>,
    resultPath?: string,
  ): tasks.LambdaInvoke {
    const task = new tasks.LambdaInvoke(this, name, {
      lambdaFunction: step.function,
      payloadResponseOnly: true,
      retryOnServiceExceptions: false,
      payload: sfn.TaskInput.fromObject(payload),
      // Longer than the function's own, which then reports what it was doing.
      taskTimeout: sfn.Timeout.duration(step.timeout.plus(Duration.seconds(30))),
      ...(resultPath === undefined ? {} : { resultPath }),
    });
    for (const retry of retries) task.addRetry(retry);
    return task;
  }

  #step(
    id: string,
    step: string,
    env: typeof preflightEnv | typeof analyzeChunkEnv | typeof mergeEnv | typeof rootCauseEnv,
    description: string,
    memoryMb: number,
    timeout: Duration,
  ): StepLambda {
    const { bundles } = this.#props;
    const made = new StepLambda(this, id, {
      step,
      env,
      description,
      memoryMb,
      timeout,
      ...(bundles === undefined ? {} : { bundles }),
    });
    this.#steps.push(made);
    return made;
  }

  #preflightStep(): StepLambda {
    const { results, models } = this.#props;
    const step = this.#step(
      'PreflightStep',
      'preflight',
      preflightEnv,
      'Loads a session, runs the checks, plans the chunks',
      // A full vCPU for counting tokens, and room for a session of 10,000 spans.
      2048,
      Duration.minutes(5),
    );
    results.giveObjects(step, { read: ['sessions'], write: ['executions'] });
    step.function.addEnvironment('MODEL_SPEC', models[0]);
    return step;
  }

  #analyzeChunkStep(): StepLambda {
    const { results, models } = this.#props;
    const step = this.#step(
      'AnalyzeChunkStep',
      'analyze-chunk',
      analyzeChunkEnv,
      'Asks the model about one chunk',
      1024,
      // An answer may take 5 minutes; with its repair 10.
      Duration.minutes(15),
    );
    results.giveObjects(step, { read: ['executions', 'cache'], write: ['executions', 'cache'] });
    giveModels(step, models);
    return step;
  }

  #mergeStep(): StepLambda {
    const step = this.#step(
      'MergeStep',
      'merge',
      mergeEnv,
      'Joins the results of all chunks',
      1024,
      Duration.minutes(2),
    );
    this.#props.results.giveObjects(step, { read: ['executions'], write: ['executions'] });
    return step;
  }

  #rootCauseStep(): StepLambda {
    const { results, models } = this.#props;
    const step = this.#step(
      'RootCauseStep',
      'root-cause',
      rootCauseEnv,
      'Judges the critical step, explains each failure, stores the diagnosis',
      2048,
      Duration.minutes(15),
    );
    results.giveObjects(step, {
      read: ['executions', 'cache'],
      write: ['cache', 'diagnoses'],
    });
    results.giveTable(step);
    giveModels(step, models);
    return step;
  }

  #recordFailureStep(): StepLambda {
    const { results } = this.#props;
    const step = this.#step(
      'RecordFailureStep',
      'record-failure',
      recordFailureEnv,
      'Writes down what could not be done',
      1024,
      Duration.minutes(1),
    );
    results.giveObjects(step, { read: ['executions'], write: ['executions'] });
    results.giveTable(step);
    return step;
  }
}
