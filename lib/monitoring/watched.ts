import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import * as sfn from 'aws-cdk-lib/aws-stepfunctions';
import type { IConstruct } from 'constructs';
import { TABLE } from '../../core/ports/table.ts';

/** `page`: something is lost or stands still until somebody acts. `ticket`: it works, and not as it should. */
export type Severity = 'page' | 'ticket';

/** What is watched of one resource. The heading is that of docs/runbook.md where the alarm sends its reader. */
export interface Watched {
  readonly id: string;
  readonly heading: string;
  readonly severity: Severity;
  readonly metric: cloudwatch.IMetric;
  /** Alarms from this value on. */
  readonly threshold: number;
  /** Periods of five minutes in a row; a single one may be a deployment or a blip that a retry cured. */
  readonly periods: number;
}

const period = Duration.minutes(5);
const sum = { period, statistic: 'Sum' } as const;
const max = { period, statistic: 'Maximum' } as const;

/** A queue of work that is this old is not being worked on. Timers are hidden until they are due, and then served at once. */
const OLD_MESSAGE_SECONDS = 3_600;
/** Half of the six hours after which Lambda drops an asynchronous event. */
const OLD_EVENT_MS = 3 * 3_600_000;
/** Errors that retries cure come in ones and twos; this many in each of three periods is a fault that stays. */
const MANY_ERRORS = 5;

/**
 * Everything below a construct that can go wrong by itself, by the kind of its resource, so that a queue or a function
 * that is added later is watched without anybody thinking of it. Dimensions come from the constructs.
 */
export function watchedBelow(scope: IConstruct): Watched[] {
  return scope.node.findAll().flatMap((construct) => {
    if (construct instanceof sqs.Queue) return ofQueue(construct);
    if (construct instanceof lambda.Function) return ofFunction(construct);
    if (construct instanceof sfn.StateMachine) return ofStateMachine(construct);
    if (construct instanceof dynamodb.Table) return ofTable(construct);
    return [];
  });
}

/** Nothing is lost, as what could not be read is kept; somebody has to look at why. */
export function quarantineWatched(quarantined: cloudwatch.Metric): Watched {
  return {
    id: 'Quarantined',
    heading: 'Records in quarantine',
    severity: 'ticket',
    metric: quarantined.with(sum),
    threshold: 1,
    periods: 1,
  };
}

function ofQueue(queue: sqs.Queue): Watched[] {
  const { id } = queue.node;
  if (id.startsWith('Dead'))
    return [
      {
        id,
        heading: inWords(id),
        severity: 'page',
        metric: queue.metricApproximateNumberOfMessagesVisible(max),
        threshold: 1,
        periods: 1,
      },
    ];
  return [
    {
      id: `${id}Old`,
      heading: 'Work that waits too long',
      severity: 'page',
      metric: queue.metricApproximateAgeOfOldestMessage(max),
      threshold: OLD_MESSAGE_SECONDS,
      periods: 3,
    },
  ];
}

function ofFunction(fn: lambda.Function): Watched[] {
  const id = fn.node.scope?.node.id ?? fn.node.id;
  const asynchronous = fn.node.tryFindChild('EventInvokeConfig') !== undefined;
  const always: Watched[] = [
    {
      id: `${id}Errors`,
      heading: 'Functions that fail',
      severity: 'ticket',
      metric: fn.metricErrors(sum),
      threshold: MANY_ERRORS,
      periods: 3,
    },
    {
      id: `${id}Throttles`,
      heading: 'Functions that are throttled',
      severity: 'ticket',
      metric: fn.metricThrottles(sum),
      threshold: 1,
      periods: 3,
    },
    {
      id: `${id}Recursion`,
      heading: 'Recursive invocations dropped',
      severity: 'page',
      metric: fn.metric('RecursiveInvocationsDropped', sum),
      threshold: 1,
      periods: 1,
    },
  ];
  if (!asynchronous) return always;
  return [
    ...always,
    {
      id: `${id}Dropped`,
      heading: 'Deliveries dropped or late',
      severity: 'page',
      metric: fn.metric('AsyncEventsDropped', sum),
      threshold: 1,
      periods: 1,
    },
    {
      id: `${id}Late`,
      heading: 'Deliveries dropped or late',
      severity: 'page',
      metric: fn.metric('AsyncEventAge', max),
      threshold: OLD_EVENT_MS,
      periods: 1,
    },
    {
      id: `${id}Destination`,
      heading: 'Deliveries dropped or late',
      severity: 'page',
      metric: fn.metric('DestinationDeliveryFailures', sum),
      threshold: 1,
      periods: 1,
    },
  ];
}

function ofStateMachine(machine: sfn.StateMachine): Watched[] {
  return [
    {
      id: 'ExecutionsFailed',
      heading: 'Dead executions',
      severity: 'ticket',
      metric: machine.metricFailed(sum),
      threshold: 1,
      periods: 1,
    },
    {
      id: 'ExecutionsTimedOut',
      heading: 'Executions that time out',
      severity: 'page',
      metric: machine.metricTimedOut(sum),
      threshold: 1,
      periods: 1,
    },
    {
      id: 'ExecutionsThrottled',
      heading: 'Executions that are throttled',
      severity: 'ticket',
      metric: machine.metricThrottled(sum),
      threshold: 1,
      periods: 3,
    },
  ];
}

function ofTable(table: dynamodb.Table): Watched[] {
  const tableOnly = { TableName: table.tableName };
  const index = { ...tableOnly, GlobalSecondaryIndexName: TABLE.index.name };
  const watched = (id: string, metricName: string, dimensionsMap: Record<string, string>): Watched => ({
    id,
    heading: 'Table throttled',
    severity: 'ticket',
    metric: new cloudwatch.Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap, ...sum }),
    threshold: 1,
    periods: 3,
  });
  return [
    watched('TableReadsThrottled', 'ReadThrottleEvents', tableOnly),
    watched('TableWritesThrottled', 'WriteThrottleEvents', tableOnly),
    watched('IndexReadsThrottled', 'ReadThrottleEvents', index),
    watched('IndexWritesThrottled', 'WriteThrottleEvents', index),
  ];
}

/** `DeadExecutions` to "Dead executions": the heading of the runbook. */
function inWords(id: string): string {
  const words = id.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
