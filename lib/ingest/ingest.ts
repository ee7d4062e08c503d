import { createHash } from 'node:crypto';
import { Annotations, ArnFormat, Aspects, Duration, Names, Stack, Token } from 'aws-cdk-lib';
import type * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as events from 'aws-cdk-lib/aws-events';
import * as targets from 'aws-cdk-lib/aws-events-targets';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as destinations from 'aws-cdk-lib/aws-lambda-destinations';
import * as sources from 'aws-cdk-lib/aws-lambda-event-sources';
import * as logs from 'aws-cdk-lib/aws-logs';
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
import { receiveEnv } from '../../lambdas/receive/env.ts';
import { sweepEnv } from '../../lambdas/sweep/env.ts';
import type { Results } from '../results/results.ts';
import { acknowledge, attributeOf } from '../step/acknowledge.ts';
import { instanceName, OWN_LOG_GROUPS } from '../step/own-log-groups.ts';
import { StepLambda } from '../step/step-lambda.ts';

/** A log group with agent telemetry. */
export interface LogGroupSource {
  /** Name or ARN of an existing group, or one that the same app makes. */
  readonly logGroup: string | logs.ILogGroup;
  /**
   * CloudWatch filter pattern: what does not match is not delivered. Default: everything, because a record without a word
   * of an agent may belong to an agent's trace.
   */
  readonly filterPattern?: string;
}

export interface IngestProps {
  readonly results: Results;
  readonly stateMachine: sfn.StateMachine;
  /** CloudWatch allows two subscriptions a group. */
  readonly logGroups: readonly LogGroupSource[];
  readonly agents: AgentConfiguration;
  /** Diagnoses that may run at the same time. */
  readonly maxRunning: number;
  readonly bundles?: string;
}

/** The longest there is: an incident of days loses nothing. */
const KEPT = Duration.days(14);
/** With the backoff of core/ingest/serve-queue.ts, a delivery is tried for a day. */
const DELIVERY_TRIES = 100;
/** For three hours. The session stays due, so the sweeper sends another when this one is a dead letter. */
const TIMER_TRIES = 20;
/** Functions side by side: the account's other functions keep theirs, and what does not fit waits in the queue. */
const INGEST_AT_ONCE = 20;
const CLOSE_AT_ONCE = 10;

/**
 * The way in: subscriptions deliver to receive, which queues the delivery as it came; ingest stores raw records and keeps
 * the session index with its due times. Once a minute the sweeper sends a timer to each session that is due, and
 * close-session hears the timers, freezes what is silent and starts its diagnosis.
 */
export class Ingest extends Construct {
  /** Deliveries that wait to be stored. */
  readonly deliveries: sqs.Queue;
  readonly timers: sqs.Queue;
  /** Timers that close-session could not serve. */
  readonly deadTimers: sqs.Queue;
  /** Deliveries that ingest could not store. */
  readonly deadDeliveries: sqs.Queue;
  readonly receive: StepLambda;
  readonly ingest: StepLambda;
  readonly sweeper: StepLambda;
  /** Records and envelopes that could not be read and were kept as they came. */
  readonly quarantined: cloudwatch.Metric;
  readonly closeSession: StepLambda;
  readonly #destination: logs.ILogSubscriptionDestination;
  /** Filter patterns of the groups that are subscribed, by the group's name. */
  readonly #subscribed = new Map<string, string>();

  constructor(scope: Construct, id: string, props: IngestProps) {
    super(scope, id);
    refuseShortIdle(props.agents);
    this.deadDeliveries = this.#deadLetters('DeadDeliveries');
    this.deadTimers = this.#deadLetters('DeadTimers');
    const [ingestTimeout, closeTimeout] = [Duration.minutes(2), Duration.minutes(10)];
    this.deliveries = this.#queue('Deliveries', ingestTimeout, this.deadDeliveries, DELIVERY_TRIES);
    this.timers = this.#queue('Timers', closeTimeout, this.deadTimers, TIMER_TRIES);
    this.receive = this.#receiveStep(props);
    this.ingest = this.#ingestStep(props, ingestTimeout);
    this.quarantined = this.#countOf('quarantined');
    this.closeSession = this.#closeSessionStep(props, closeTimeout);
    this.sweeper = this.#sweepStep(props);
    this.#destination = new ReceiveDestination(this.receive);
    for (const source of props.logGroups) this.subscribe(source);
    // At synthesis, because groups may be added until then.
    Aspects.of(this).add({
      visit: (node) => {
        if (node === this && this.#subscribed.size === 0)
          Annotations.of(this).addWarningV2(
            'rootspan:nothing-subscribed',
            'no log group is subscribed, so no session arrives by itself: name them in `logGroups` or call `addLogGroup`',
          );
      },
    });
  }

  #queue(id: string, served: Duration, dead: sqs.Queue, tries: number): sqs.Queue {
    return new sqs.Queue(this, id, {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEPT,
      // Six times the function's own time, as Lambda asks for, so that no message is served twice at once. A function that
      // fails brings its message back sooner (backoff); only one that dies waits so long.
      visibilityTimeout: Duration.seconds(6 * served.toSeconds()),
      deadLetterQueue: { queue: dead, maxReceiveCount: tries },
    });
  }

  #deadLetters(id: string): sqs.Queue {
    const queue = new sqs.Queue(this, id, {
      encryption: sqs.QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: KEPT,
    });
    acknowledge(queue, 'AwsSolutions-SQS3', 'It is a dead-letter queue itself.');
    return queue;
  }

  #receiveStep({ bundles }: IngestProps): StepLambda {
    const step = new StepLambda(this, 'ReceiveStep', {
      step: 'receive',
      env: receiveEnv,
      description: 'Queues deliveries of telemetry as they came',
      memoryMb: 256,
      timeout: Duration.seconds(30),
      ...(bundles === undefined ? {} : { bundles }),
    });
    this.#giveSend(step, this.deliveries, 'DELIVERY_QUEUE_URL');
    step.function.configureAsyncInvoke({
      // Subscriptions invoke asynchronously; Lambda tries again after one and after two minutes.
      retryAttempts: 2,
      maxEventAge: Duration.hours(6),
      onFailure: new destinations.SqsDestination(this.deadDeliveries),
    });
    return step;
  }

  #ingestStep({ results, agents, bundles }: IngestProps, timeout: Duration): StepLambda {
    const step = new StepLambda(this, 'IngestStep', {
      step: 'ingest',
      env: ingestEnv,
      description: 'Stores telemetry records and keeps the session index',
      // A delivery inflates to 64 MB at most, and is held as text, records and objects.
      memoryMb: 1024,
      timeout,
      ...(bundles === undefined ? {} : { bundles }),
    });
    results.giveObjects(step, { read: [], write: ['raw', 'quarantine'] });
    results.giveTable(step, ['dynamodb:UpdateItem']);
    step.function.addEnvironment('IDLE_SECONDS', String(shortestIdleSeconds(agents)));
    step.function.addEnvironment('OWN_LOG_GROUPS', OWN_LOG_GROUPS.join(','));
    step.function.addEnvironment('DELIVERY_QUEUE_URL', this.deliveries.queueUrl);
    step.function.addEventSource(
      new sources.SqsEventSource(this.deliveries, {
        batchSize: 5,
        maxConcurrency: INGEST_AT_ONCE,
        reportBatchItemFailures: true,
      }),
    );
    return step;
  }

  #closeSessionStep({ results, stateMachine, agents, bundles }: IngestProps, timeout: Duration): StepLambda {
    const step = new StepLambda(this, 'CloseSessionStep', {
      step: 'close-session',
      env: closeSessionEnv,
      description: 'Freezes silent sessions and starts their diagnosis',
      // core/ingest/session-records.ts reads no more at once than a function of this size can assemble.
      memoryMb: 3008,
      timeout,
      ...(bundles === undefined ? {} : { bundles }),
    });
    results.giveObjects(step, { read: ['raw', 'sessions'], write: ['sessions'] });
    results.giveTable(step, ['dynamodb:UpdateItem']);
    step.function.addEnvironment('TIMER_QUEUE_URL', this.timers.queueUrl);
    step.function.addEnvironment('AGENT_CONFIGURATION', configurationText(agents));
    this.#giveWorkflow(step, stateMachine);
    step.function.addEventSource(
      new sources.SqsEventSource(this.timers, {
        // Each may be a large session: one at a time in memory, several functions side by side.
        batchSize: 1,
        maxConcurrency: CLOSE_AT_ONCE,
        reportBatchItemFailures: true,
      }),
    );
    return step;
  }

  #sweepStep({ results, stateMachine, agents, maxRunning, bundles }: IngestProps): StepLambda {
    const step = new StepLambda(this, 'SweepStep', {
      step: 'sweep',
      env: sweepEnv,
      description: 'Sends a timer to each session that is due',
      // Sixty thousand sessions a minute are found and hinted at.
      memoryMb: 1024,
      timeout: Duration.minutes(5),
      ...(bundles === undefined ? {} : { bundles }),
    });
    results.giveDueTimes(step);
    this.#giveSend(step, this.timers, 'TIMER_QUEUE_URL', ['sqs:GetQueueAttributes']);
    step.function.addToRolePolicy(
      new iam.PolicyStatement({
        actions: ['states:ListExecutions'],
        resources: [stateMachine.stateMachineArn],
      }),
    );
    step.function.addEnvironment('STATE_MACHINE_ARN', stateMachine.stateMachineArn);
    step.function.addEnvironment('MAX_RUNNING', String(maxRunning));
    step.function.addEnvironment('AGENT_CONFIGURATION', configurationText(agents));
    new events.Rule(this, 'EveryMinute', {
      schedule: events.Schedule.rate(Duration.minutes(1)),
      // A sweep that fails is made up for by the next.
      targets: [new targets.LambdaFunction(step.function, { retryAttempts: 0 })],
    });
    return step;
  }

  /** Sum of a count in the lines that ingest writes (lambdas/ingest/handler.ts, `countsLine`). */
  #countOf(field: string): cloudwatch.Metric {
    const filter = new logs.MetricFilter(this, `Count-${field}`, {
      logGroup: this.ingest.function.logGroup,
      filterPattern: logs.FilterPattern.stringValue('$.what', '=', 'ingest'),
      metricNamespace: `Rootspan/${instanceName(this)}`,
      metricName: field,
      metricValue: `$.${field}`,
    });
    return filter.metric({ statistic: 'Sum' });
  }

  #giveSend(step: StepLambda, queue: sqs.Queue, variable: string, more: readonly string[] = []): void {
    step.function.addToRolePolicy(
      new iam.PolicyStatement({ actions: ['sqs:SendMessage', ...more], resources: [queue.queueArn] }),
    );
    step.function.addEnvironment(variable, queue.queueUrl);
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

  /**
   * Subscribes a log group, once however often it is named. Throws where one group is named with two patterns, is
   * Rootspan's own, or belongs to another account or Region.
   */
  subscribe({ logGroup: nameOrArn, filterPattern }: LogGroupSource): void {
    const { account, region } = Stack.of(this);
    const isName = typeof nameOrArn === 'string';
    const name = isName ? nameOf(nameOrArn, account, region) : nameOrArn.logGroupName;
    if (!Token.isUnresolved(name) && OWN_LOG_GROUPS.some((prefix) => name.startsWith(prefix)))
      throw new Error(
        `log group ${name} is Rootspan's own: a pipeline that reads its own telemetry never ends`,
      );
    // A name that only deployment knows is told by its token, which is one for each construct.
    const known = this.#subscribed.get(name);
    if (known !== undefined && known !== (filterPattern ?? ''))
      throw new Error(
        `log group ${name} is named with two filter patterns, ${JSON.stringify(known)} and ${JSON.stringify(filterPattern ?? '')}: expected one`,
      );
    if (known !== undefined) return;
    this.#subscribed.set(name, filterPattern ?? '');
    // Named after the group and not by its place in the list: removing one leaves the others as they are.
    const id = isName
      ? createHash('sha256').update(name).digest('hex').slice(0, 8)
      : Names.nodeUniqueId(nameOrArn.node).slice(-32);
    const filter = new logs.SubscriptionFilter(this, `Subscription${id}`, {
      logGroup: isName ? logs.LogGroup.fromLogGroupName(this, `LogGroup${id}`, name) : nameOrArn,
      destination: this.#destination,
      // By default which records matter is decided in code, where what does not is counted.
      filterPattern:
        filterPattern === undefined
          ? logs.FilterPattern.allEvents()
          : logs.FilterPattern.literal(filterPattern),
    });
    filter.node.addDependency(this.receive.function.node.findChild(ReceiveDestination.PERMISSION));
  }
}

/**
 * The receiving function, with one permission for all log groups of the account: a permission each would fill the
 * function's policy (20 KB) at about 60 groups.
 */
class ReceiveDestination implements logs.ILogSubscriptionDestination {
  static readonly PERMISSION = 'Subscriptions';
  readonly #function: StepLambda['function'];

  constructor({ function: fn }: StepLambda) {
    this.#function = fn;
    const stack = Stack.of(fn);
    fn.addPermission(ReceiveDestination.PERMISSION, {
      principal: new iam.ServicePrincipal('logs.amazonaws.com'),
      sourceAccount: stack.account,
      sourceArn: stack.formatArn({
        service: 'logs',
        resource: 'log-group',
        resourceName: '*',
        arnFormat: ArnFormat.COLON_RESOURCE_NAME,
      }),
    });
  }

  bind(): logs.LogSubscriptionDestinationConfig {
    return { arn: this.#function.functionArn };
  }
}

/** The name of a log group of this account and Region. */
function nameOf(nameOrArn: string, account: string, region: string): string {
  const [, , service, itsRegion = '', itsAccount = ''] = nameOrArn.split(':');
  const isArn = nameOrArn.startsWith('arn:');
  const name = isArn ? (nameOrArn.split(':log-group:')[1] ?? '').replace(/:\*$/, '') : nameOrArn;
  if (!/^[A-Za-z0-9_./#-]{1,512}$/.test(name) || (isArn && service !== 'logs'))
    throw new Error(`log group ${nameOrArn}: expected the name or the ARN of an existing log group`);
  const isForeign = (ours: string, its: string): boolean => !Token.isUnresolved(ours) && ours !== its;
  if (isArn && (isForeign(account, itsAccount) || isForeign(region, itsRegion)))
    throw new Error(
      `log group ${nameOrArn} belongs to account ${itsAccount} in ${itsRegion}, this stack to ${account} in ${region}: ` +
        'a subscription reads only its own account and Region; deploy Rootspan there',
    );
  return name;
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
