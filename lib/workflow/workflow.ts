import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import * as tasks from 'aws-cdk-lib/aws-stepfunctions-tasks';
import { Construct } from 'constructs';
import { acknowledge, arnFinding } from '../step/acknowledge.ts';
import { instanceName, STATE_MACHINE_LOGS } from '../step/own-log-groups.ts';
import type { StepLambda } from '../step/step-lambda.ts';
import { CONFIGURATION_FAULTS, MODEL_OUT_OF_REACH, MODEL_STEP_RETRIES, STEP_RETRIES } from './retries.ts';
import { makeSteps, type StepsProps, type WorkflowSteps } from './steps.ts';

export interface WorkflowProps extends StepsProps {
  /** Chunks of one session analysed at once; an inline Map runs about 40. */
  readonly chunksAtOnce: number;
}

const { stringAt, numberAt, objectAt } = sfn.JsonPath;
const EXECUTION = stringAt('$$.Execution.Name');

/** Where a `Catch` puts the error, and where `Fail` states read it. */
const CAUGHT = '$.error';
const FAIL_AS_CAUGHT = { errorPath: `${CAUGHT}.Error`, causePath: `${CAUGHT}.Cause` };

/**
 * The diagnosis as a state machine: Preflight, AnalyzeChunks (inline Map), Merge, Constraints, RootCause, and one
 * failure path.
 * The state holds references only; each step finds its values under `executions/<name>/`.
 */
export class Workflow extends Construct {
  readonly stateMachine: sfn.StateMachine;
  readonly deadExecutions: sqs.Queue;

  constructor(scope: Construct, id: string, props: WorkflowProps) {
    super(scope, id);
    this.deadExecutions = new sqs.Queue(this, 'DeadExecutions', {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // The longest there is.
      retentionPeriod: Duration.days(14),
    });

    acknowledge(this.deadExecutions, 'AwsSolutions-SQS3', 'It is the dead-letter queue itself.');

    const steps = makeSteps(this, props);
    const fail = this.#failurePath(steps.recordFailure);
    const guarded = <T extends tasks.LambdaInvoke | sfn.Map>(state: T): T => {
      state.addCatch(fail, { errors: [sfn.Errors.ALL], resultPath: CAUGHT });
      return state;
    };

    const preflight = guarded(
      this.#task(steps.preflight, 'Preflight', STEP_RETRIES, {
        executionName: EXECUTION,
        input: objectAt('$$.Execution.Input'),
      }),
    );
    const analyzeChunks = guarded(this.#analyzeChunks(steps, props.chunksAtOnce));
    const merge = guarded(this.#task(steps.merge, 'Merge', STEP_RETRIES, { executionName: EXECUTION }));
    /** A step that asks the model, and the same step doing without it when the model stays out of reach. */
    const modelStep = (step: StepLambda, name: string, without: string, after?: sfn.IChainable) => {
      const event = { executionName: EXECUTION, input: objectAt('$$.Execution.Input') };
      const asking = this.#task(step, name, MODEL_STEP_RETRIES, event);
      const doingWithout = guarded(
        this.#task(step, without, STEP_RETRIES, { ...event, error: objectAt(CAUGHT) }),
      );
      // Before the general catch: the first that matches is taken.
      asking.addCatch(doingWithout, { errors: MODEL_OUT_OF_REACH, resultPath: CAUGHT });
      if (after !== undefined) doingWithout.next(after);
      return after === undefined ? guarded(asking) : guarded(asking).next(after);
    };
    const rootCause = modelStep(steps.rootCause, 'RootCause', 'ExplainByRule');
    const constraints = modelStep(steps.constraints, 'Constraints', 'ConstraintsWithoutModel', rootCause);

    this.stateMachine = new sfn.StateMachine(this, 'StateMachine', {
      stateMachineType: sfn.StateMachineType.STANDARD,
      definitionBody: sfn.DefinitionBody.fromChainable(
        preflight.next(analyzeChunks).next(merge).next(constraints),
      ),
      comment: 'Diagnoses one session',
      // Far above the longest honest run (240 chunks, 10 at once, throttled): ends what hangs, and is alarmed on.
      timeout: Duration.hours(24),
      logs: {
        destination: new logs.LogGroup(this, 'Logs', {
          logGroupName: `${STATE_MACHINE_LOGS}${instanceName(this)}`,
          retention: logs.RetentionDays.ONE_MONTH,
          removalPolicy: RemovalPolicy.DESTROY,
        }),
        level: sfn.LogLevel.ALL,
        includeExecutionData: false,
      },
    });
    // Also older versions, for executions that began before a deployment.
    for (const { function: fn } of Object.values(steps))
      this.stateMachine.addToRolePolicy(
        new iam.PolicyStatement({
          actions: ['lambda:InvokeFunction'],
          resources: [fn.functionArn, `${fn.functionArn}:*`],
        }),
      );
    this.#acknowledgeStateMachine(steps);
  }

  /** The policy that CDK writes for the state machine. */
  #acknowledgeStateMachine(steps: WorkflowSteps): void {
    const rule = 'AwsSolutions-IAM5';
    for (const { function: fn } of Object.values(steps))
      acknowledge(
        this.stateMachine,
        rule,
        'The versions of the function: an execution goes on with the one it began with.',
        arnFinding(fn, ':*'),
      );
    acknowledge(
      this.stateMachine,
      'AwsSolutions-SF2',
      'Its X-Ray spans would come back through aws/spans, which Rootspan reads: each diagnosis would be telemetry for the next.',
    );
    acknowledge(this.stateMachine, rule, 'Vended log deliveries have no ARN to name.', 'Resource::*');
  }

  /** One item a chunk. An item ends with a result whatever happens, unless the configuration is at fault. */
  #analyzeChunks(steps: WorkflowSteps, chunksAtOnce: number): sfn.Map {
    const item = { executionName: stringAt('$.executionName'), index: numberAt('$.index') };
    const analyze = this.#task(steps.analyzeChunk, 'AnalyzeChunk', MODEL_STEP_RETRIES, item);
    const record = this.#task(steps.recordFailure, 'RecordChunkNotAnalyzed', STEP_RETRIES, {
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
      maxConcurrency: chunksAtOnce,
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
      queue: this.deadExecutions,
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
      // CDK's own types say of a version that its role may be undefined, and of a function that it may be absent.
      lambdaFunction: step.function.currentVersion as lambda.IFunction,
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
}
