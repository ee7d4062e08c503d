import { readFileSync } from 'node:fs';
import path from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as sns from 'aws-cdk-lib/aws-sns';
import { describe, expect, it } from 'vitest';
import { SessionDiagnosis } from '../../lib/session-diagnosis.ts';
import { emptyBundles, synthesise } from '../helpers/synthesised.ts';

const template = synthesise({ logGroups: ['aws/spans'] });
const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties,
);
/** As the pages "metrics" of each service name them. */
const PUBLISHED = [
  ...['ApproximateNumberOfMessagesVisible', 'ApproximateAgeOfOldestMessage'].map((name) => `AWS/SQS ${name}`),
  ...['Errors', 'Throttles', 'RecursiveInvocationsDropped'].map((name) => `AWS/Lambda ${name}`),
  ...['AsyncEventsDropped', 'AsyncEventAge', 'DestinationDeliveryFailures'].map(
    (name) => `AWS/Lambda ${name}`,
  ),
  ...['ExecutionsFailed', 'ExecutionsTimedOut', 'ExecutionThrottled'].map((name) => `AWS/States ${name}`),
  ...['ReadThrottleEvents', 'WriteThrottleEvents'].map((name) => `AWS/DynamoDB ${name}`),
];
const watchedText = JSON.stringify(alarms);

describe('alarms', () => {
  it.each([
    'AWS::SQS::Queue',
    'AWS::Lambda::Function',
    'AWS::StepFunctions::StateMachine',
    'AWS::DynamoDB::Table',
  ])('watch every %s', (type) => {
    const ids = Object.entries(template.findResources(type))
      // CDK's own helpers (a custom resource's function) are none of ours.
      .filter(
        ([, { Properties }]) => type !== 'AWS::Lambda::Function' || Properties.Description !== undefined,
      )
      .map(([id]) => id);
    expect(ids.length).toBeGreaterThan(0);
    for (const id of ids) expect(watchedText, id).toContain(`"${id}"`);
  });

  it('each lead to a heading of the runbook', () => {
    const runbook = readFileSync(path.resolve(import.meta.dirname, '../../docs/runbook.md'), 'utf8');
    const headings = [...runbook.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    for (const { AlarmDescription } of alarms) {
      const [, heading] = /^(?:page|ticket): (.+) \(docs\/runbook\.md\)$/.exec(AlarmDescription) ?? [];
      expect(headings, AlarmDescription).toContain(heading);
    }
  });

  it('take their dimensions from the resources, never from a name typed by hand', () => {
    const ofResources = alarms.filter(({ Namespace }) => Namespace.startsWith('AWS/'));
    for (const { Dimensions, MetricName } of ofResources)
      expect(Dimensions?.length, MetricName).toBeGreaterThan(0);
    const dimensions = alarms.flatMap(({ Dimensions }) => Dimensions ?? []);
    for (const { Name, Value } of dimensions)
      if (Name !== 'GlobalSecondaryIndexName') expect(typeof Value, Name).toBe('object');
  });

  it('are on metrics that AWS publishes for the resource, or that a filter of this stack writes', () => {
    const written = Object.values(template.findResources('AWS::Logs::MetricFilter')).flatMap(
      ({ Properties }) =>
        Properties.MetricTransformations.map(
          (each: { MetricNamespace: string; MetricName: string }) =>
            `${each.MetricNamespace} ${each.MetricName}`,
        ),
    );
    expect(written.length).toBeGreaterThan(0);
    for (const { Namespace, MetricName } of alarms)
      expect([...PUBLISHED, ...written]).toContain(`${Namespace} ${MetricName}`);
    for (const metric of written)
      expect(alarms.map(({ Namespace, MetricName }) => `${Namespace} ${MetricName}`)).toContain(metric);
  });

  it('go to the topic that was given, and come back from it', () => {
    const stack = new Stack(new App(), 'Watched');
    const topic = new sns.Topic(stack, 'Pager');
    new SessionDiagnosis(stack, 'Diagnosis', {
      alarmTopic: topic,
      models: ['none'],
      bundles: emptyBundles(),
    });
    const all = Object.values(Template.fromStack(stack).findResources('AWS::CloudWatch::Alarm'));
    expect(all.length).toBe(alarms.length);
    for (const { Properties } of all) {
      expect(Properties.AlarmActions).toHaveLength(1);
      expect(Properties.OKActions).toEqual(Properties.AlarmActions);
    }
  });
});
