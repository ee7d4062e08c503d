import { Duration, Stack } from 'aws-cdk-lib';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { countsLine } from '../../lambdas/ingest/handler.ts';
import { readSettings } from '../../lib/read-settings.ts';
import { StepLambda } from '../../lib/step/step-lambda.ts';
import { emptyBundles, synthesise } from '../helpers/synthesised.ts';

const template = synthesise({
  logGroups: ['aws/spans', 'arn:aws:logs:eu-west-1:123456789012:log-group:/agents/support:*'],
  agents: { agents: { airline: { idleSeconds: 300 } } },
});
const functionOf = (step: string): { id: string; properties: Record<string, unknown> } => {
  const found = Object.entries(
    template.findResources('AWS::Lambda::Function', {
      Properties: { Description: Match.anyValue() },
    }),
  ).find(([id]) => id.includes(step));
  if (found === undefined) throw new Error(`no function for ${step}`);
  return { id: found[0], properties: found[1].Properties };
};

describe('the way in', () => {
  it('every named log group, by name or ARN, delivers all its records to ingest', () => {
    const filters = Object.values(template.findResources('AWS::Logs::SubscriptionFilter'));
    expect(filters.map(({ Properties }) => [Properties.LogGroupName, Properties.FilterPattern])).toEqual([
      ['aws/spans', ''],
      ['/agents/support', ''],
    ]);
    const { id } = functionOf('IngestIngestStep');
    for (const { Properties } of filters)
      expect(Properties.DestinationArn).toEqual({ 'Fn::GetAtt': [id, 'Arn'] });
  });

  it.each([
    '/rootspan/Rootspan/ingest',
    'arn:aws:logs:eu-west-1:123456789012:log-group:/rootspan/Other/merge:*',
    '/aws/vendedlogs/states/rootspan/Rootspan',
  ])('refuses to read its own telemetry in %s', (logGroup) => {
    expect(() => synthesise({ logGroups: [logGroup] })).toThrow(/own telemetry never ends/);
  });

  it.each(['', 'with space', 'arn:aws:s3:::bucket'])('refuses %j as a log group', (logGroup) => {
    expect(() => synthesise({ logGroups: [logGroup] })).toThrow(/expected the name or the ARN/);
  });

  it('a delivery that cannot be stored is kept, not dropped', () => {
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: functionOf('IngestIngestStep').id },
      MaximumRetryAttempts: 2,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('DeadDeliveries'), 'Arn'] } },
      },
    });
  });

  it('the first timer waits the shortest idle time of any agent', () => {
    expect(functionOf('IngestIngestStep').properties).toMatchObject({
      Environment: {
        Variables: { IDLE_SECONDS: '300', OWN_LOG_GROUPS: expect.stringContaining('/rootspan/') },
      },
    });
  });

  it('refuses an idle time in which spans are still on their way, and settings that do not exist', () => {
    expect(() => synthesise({ agents: { default: { idleSeconds: 60 } } })).toThrow(/at least 180/);
    expect(() => synthesise({ agents: { default: { idle: 900 } as object } })).toThrow(/idle/);
  });
});

describe('what could not be read', () => {
  it('is counted as a metric, without dimensions to mistype', () => {
    template.hasResourceProperties('AWS::Logs::MetricFilter', {
      FilterPattern: '{ $.what = "ingest" }',
      MetricTransformations: [
        { MetricNamespace: 'Rootspan/Rootspan', MetricName: 'quarantined', MetricValue: '$.quarantined' },
      ],
    });
    const line: unknown = JSON.parse(
      countsLine({ stored: 2, duplicates: 1, dropped: 0, unrelated: 3, quarantined: ['a', 'b'] }),
    );
    expect(line).toEqual({
      what: 'ingest',
      stored: 2,
      duplicates: 1,
      dropped: 0,
      unrelated: 3,
      quarantined: 2,
    });
  });
});

describe('settings of the agents', () => {
  it('that do not fit into the environment of a function are refused at synthesis', () => {
    const agents = Object.fromEntries(
      Array.from({ length: 150 }, (_, n) => [`agent-${n}`, { depth: 'deep' as const }]),
    );
    expect(() => synthesise({ agents: { agents } })).toThrow(/room for 3000/);
  });
});

describe('the state machine', () => {
  it('is not traced: its spans would come back through aws/spans and be diagnosed', () => {
    const [machine] = Object.values(template.findResources('AWS::StepFunctions::StateMachine'));
    expect(machine?.Properties.TracingConfiguration).toBeUndefined();
  });
});

describe('timers', () => {
  it('fail one by one and end in a dead-letter queue of the longest retention', () => {
    template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 1,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
    template.hasResourceProperties('AWS::SQS::Queue', {
      RedrivePolicy: {
        deadLetterTargetArn: { 'Fn::GetAtt': [Match.stringLikeRegexp('DeadTimers'), 'Arn'] },
        maxReceiveCount: 5,
      },
    });
    const dead = Object.entries(template.findResources('AWS::SQS::Queue')).filter(([id]) => /Dead/.test(id));
    expect(dead).toHaveLength(3);
    for (const [, { Properties }] of dead) expect(Properties.MessageRetentionPeriod).toBe(14 * 86_400);
  });

  it('stay hidden six times as long as the function may run', () => {
    const [queue] = Object.values(
      template.findResources('AWS::SQS::Queue', { Properties: { RedrivePolicy: Match.anyValue() } }),
    );
    const { properties } = functionOf('CloseSessionStep');
    expect(queue?.Properties.VisibilityTimeout).toBe(6 * Number(properties.Timeout));
  });

  it('may start this state machine and look at its executions, nothing else', () => {
    const statements = Object.entries(template.findResources('AWS::IAM::Policy'))
      .filter(([id]) => id.includes('CloseSessionStep'))
      .flatMap(
        ([, policy]): { Action: string; Resource: unknown }[] => policy.Properties.PolicyDocument.Statement,
      )
      .filter(({ Action }) => JSON.stringify(Action).includes('states:'));
    expect(statements.map(({ Action }) => Action)).toEqual([
      'states:StartExecution',
      'states:DescribeExecution',
    ]);
    expect(JSON.stringify(statements[1]?.Resource)).toContain(':execution:');
  });
});

describe('a step', () => {
  it('whose variables are not all set does not synthesise', () => {
    const stack = new Stack();
    new StepLambda(stack, 'Step', {
      step: 'merge',
      env: z.object({ BUCKET_NAME: z.string(), FORGOTTEN: z.string() }),
      description: 'test',
      memoryMb: 128,
      timeout: Duration.seconds(1),
      bundles: emptyBundles(),
    }).function.addEnvironment('BUCKET_NAME', 'b');
    const errors = stack.node.findAll().flatMap((child) => child.node.validate());
    expect(errors).toEqual(['step merge needs the variable FORGOTTEN: no grant has set it']);
  });
});

describe('settings from the context', () => {
  it('come as an object or as its text, and are checked', () => {
    expect(readSettings(undefined)).toEqual({});
    expect(readSettings('{"logGroups":["aws/spans"]}')).toEqual({ logGroups: ['aws/spans'] });
    expect(readSettings({ models: ['none'], throwaway: true })).toEqual({
      models: ['none'],
      removalPolicy: 'destroy',
    });
    for (const wrong of ['{', '{"logGroup":[]}', { models: [] }, { retentionDays: 0 }, 7])
      expect(() => readSettings(wrong)).toThrow(/context `rootspan`/);
  });
});
