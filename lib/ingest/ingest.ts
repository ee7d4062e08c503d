import { ArnFormat, Duration, Stack } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as destinations from 'aws-cdk-lib/aws-lambda-destinations';
import * as sources from 'aws-cdk-lib/aws-lambda-event-sources';
import * as logs from 'aws-cdk-lib/aws-logs';
import * as logsDestinations from 'aws-cdk-lib/aws-logs-destinations';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import type * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import {
  type AgentConfiguration,
  MIN_IDLE_SECONDS,
  parseAgentConfiguration,
  settingsFor,
  shortestIdleSeconds,
} from '../../core/ports/agent-settings.ts';
import { closeSessionEnv } from '../../lambdas/close-session/env.ts';
import { ingestEnv } from '../../lambdas/ingest/env.ts';
import type { Results } from '../results/results.ts';
import { acknowledge, attributeOf } from '../step/acknowledge.ts';
import { OWN_LOG_GROUPS } from '../step/own-log-groups.ts';
import { StepLambda } from '../step/step-lambda.ts';

export interface IngestProps {
  readonly results: Results;
  readonly stateMachine: sfn.StateMachine;
  /** Names or ARNs of existing log groups with agent telemetry. CloudWatch allows two subscriptions a group. */
  readonly logGroups: readonly string[];
  readonly agents: AgentConfiguration;
  readonly bundles?: string;
}

/** The longest there is. */
const DEAD_LETTER_DAYS = Duration.days(14);
/** Deliveries of a timer before it is a dead letter: an outage of minutes passes, a poisonous session does not stay. */
const TIMER_DELIVERIES = 5;

/**
 * The way in: subscriptions deliver to ingest, which stores raw records, keeps the session index and arms a timer a
 * session; close-session hears the timers, freezes what is silent and starts its diagnosis.
 */
export class Ingest extends Construct {
  readonly timers: sqs.Queue;
  /** Timers that close-session could not serve. */
  readonly deadTimers: sqs.Queue;
  /** Deliveries that ingest could not store. */
  readonly deadDeliveries: sqs.Queue;
  readonly ingest: StepLambda;
  /** Records and envelopes that could not be read and were kept as they came. */
  readonly quarantined: cloudwatch.Metric;
  readonly closeSession: StepLambda;

  constructor(scope: Construct, id: string, props: IngestProps) {
    super(scope, id);
    refuseShortIdle(props.agents);
    this.deadDeliveries = this.#deadLetters('DeadDeliveries');
    this.deadTimers = this.#deadLetters('DeadTimers');
    const closeTimeout = Duration.minutes(10);
    this.timers = new sqs.Queue(this, 'Timers', {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      // Six times the function's own time, as Lambda asks for, so that no timer is served twice at once.
      visibilityTimeout: Duration.minutes(6 * closeTimeout.toMinutes()),
      deadLetterQueue: { queue: this.deadTimers, maxReceiveCount: TIMER_DELIVERIES },
    });
    this.ingest = this.#ingestStep(props);
    this.quarantined = this.#countOf('quarantined');
    this.closeSession = this.#closeSessionStep(props, closeTimeout);
    for (const [index, logGroup] of props.logGroups.entries()) this.#subscribe(index, logGroup);
  }

  #deadLetters(id: string): sqs.Queue {
    const queue = new sqs.Queue(this, id, {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: DEAD_LETTER_DAYS,
    });
    acknowledge(queue, 'AwsSolutions-SQS3', 'It is a dead-letter queue itself.');
    return queue;
  }

  #ingestStep({ results, agents, bundles }: IngestProps): StepLambda {
    const step = new StepLambda(this, 'IngestStep', {
      step: 'ingest',
      env: ingestEnv,
      description: 'Stores telemetry records and keeps the session index',
      // A delivery inflates to 64 MB at most, and is held as text, records and objects.
      memoryMb: 1024,
      timeout: Duration.minutes(2),
      ...(bundles === undefined ? {} : { bundles }),
    });
    results.giveObjects(step, { read: [], write: ['raw', 'quarantine'] });
    results.giveTable(step, ['dynamodb:UpdateItem']);
    this.#giveTimers(step);
    step.function.addEnvironment('IDLE_SECONDS', String(shortestIdleSeconds(agents)));
    step.function.addEnvironment('OWN_LOG_GROUPS', OWN_LOG_GROUPS.join(','));
    step.function.configureAsyncInvoke({
      // Subscriptions invoke asynchronously; Lambda tries again after one and after two minutes.
      retryAttempts: 2,
      maxEventAge: Duration.hours(6),
      onFailure: new destinations.SqsDestination(this.deadDeliveries),
    });
    return step;
  }

  #closeSessionStep({ results, stateMachine, agents, bundles }: IngestProps, timeout: Duration): StepLambda {
    const step = new StepLambda(this, 'CloseSessionStep', {
      step: 'close-session',
      env: closeSessionEnv,
      description: 'Freezes silent sessions and starts their diagnosis',
      // core/ingest/close-session.ts refuses what a function of this size could not assemble.
      memoryMb: 3008,
      timeout,
      ...(bundles === undefined ? {} : { bundles }),
    });
    results.giveObjects(step, { read: ['raw'], write: ['sessions'] });
    results.giveTable(step, ['dynamodb:UpdateItem']);
    this.#giveTimers(step);
    step.function.addEnvironment('AGENT_CONFIGURATION', configurationText(agents));
    this.#giveWorkflow(step, stateMachine);
    step.function.addEventSource(
      new sources.SqsEventSource(this.timers, {
        // Each may be a large session: one at a time in memory, many functions side by side.
        batchSize: 1,
        reportBatchItemFailures: true,
      }),
    );
    return step;
  }

  /** Sum of a count in the lines that ingest writes (lambdas/ingest/handler.ts, `countsLine`). */
  #countOf(field: string): cloudwatch.Metric {
    const filter = new logs.MetricFilter(this, `Count-${field}`, {
      logGroup: this.ingest.function.logGroup,
      filterPattern: logs.FilterPattern.stringValue('$.what', '=', 'ingest'),
      metricNamespace: `Rootspan/${Stack.of(this).stackName}`,
      metricName: field,
      metricValue: `$.${field}`,
    });
    return filter.metric({ statistic: 'Sum' });
  }

  #giveTimers(step: StepLambda): void {
    step.function.addToRolePolicy(
      new iam.PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.timers.queueArn] }),
    );
    step.function.addEnvironment('TIMER_QUEUE_URL', this.timers.queueUrl);
  }

  #giveWorkflow(step: StepLambda, stateMachine: sfn.StateMachine): void {
    const executions = Stack.of(this).formatArn({
      service: 'states',
      resource: 'execution',
      resourceName: `${stateMachine.stateMachineName}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    step.function.addToRolePolicy(
      new iam.PolicyStatement({
        actions: ['states:StartExecution'],
        resources: [stateMachine.stateMachineArn],
      }),
    );
    step.function.addToRolePolicy(
      new iam.PolicyStatement({ actions: ['states:DescribeExecution'], resources: [executions] }),
    );
    acknowledge(
      step,
      'AwsSolutions-IAM5',
      'Executions of this one state machine; their names derive from sessions.',
      `Resource::arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:${attributeOf(stateMachine, 'Name')}:*`,
    );
    step.function.addEnvironment('STATE_MACHINE_ARN', stateMachine.stateMachineArn);
  }

  #subscribe(index: number, nameOrArn: string): void {
    const name = nameOrArn.startsWith('arn:')
      ? (nameOrArn.split(':log-group:')[1] ?? '').replace(/:\*$/, '')
      : nameOrArn;
    if (!/^[A-Za-z0-9_./#-]{1,512}$/.test(name))
      throw new Error(`log group ${nameOrArn}: expected the name or the ARN of an existing log group`);
    if (OWN_LOG_GROUPS.some((own) => name.startsWith(own)))
      throw new Error(
        `log group ${name} is Rootspan's own: a pipeline that reads its own telemetry never ends`,
      );
    new logs.SubscriptionFilter(this, `Subscription${index}`, {
      logGroup: logs.LogGroup.fromLogGroupName(this, `LogGroup${index}`, name),
      destination: new logsDestinations.LambdaDestination(this.ingest.function),
      // Which records matter is decided in code, where what does not is counted.
      filterPattern: logs.FilterPattern.allEvents(),
    });
  }
}

/** A Lambda's environment holds 4 KB in all; the other variables take less than one. */
const MAX_CONFIGURATION_BYTES = 3000;

function configurationText(agents: AgentConfiguration): string {
  const text = JSON.stringify(agents);
  const size = Buffer.byteLength(text);
  if (size > MAX_CONFIGURATION_BYTES)
    throw new Error(
      `the settings of the agents take ${size} bytes; a function's environment has room for ${MAX_CONFIGURATION_BYTES}. ` +
        'Put what most agents share into `default`',
    );
  return text;
}

function refuseShortIdle(agents: AgentConfiguration): void {
  const checked = parseAgentConfiguration(JSON.stringify(agents));
  for (const name of [null, ...Object.keys(checked.agents ?? {})]) {
    const { idleSeconds } = settingsFor(checked, name);
    if (idleSeconds < MIN_IDLE_SECONDS)
      throw new Error(
        `agent ${name ?? '(default)'}: idleSeconds ${idleSeconds} would close sessions whose spans are still on ` +
          `their way; expected at least ${MIN_IDLE_SECONDS}`,
      );
  }
}
