import { App, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import * as logs from 'aws-cdk-lib/aws-logs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { countsLine } from '../../lambdas/ingest/handler.ts';
import { readSettings } from '../../lib/read-settings.ts';
import { SessionDiagnosis } from '../../lib/session-diagnosis.ts';
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
  it('every named log group, by name or ARN, delivers all its records to receive', () => {
    const filters = Object.values(template.findResources('AWS::Logs::SubscriptionFilter'));
    expect(filters.map(({ Properties }) => [Properties.LogGroupName, Properties.FilterPattern])).toEqual([
      ['aws/spans', ''],
      ['/agents/support', ''],
    ]);
    const { id } = functionOf('IngestReceiveStep');
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

  it('a group that is named twice is subscribed once, and with two patterns refused', () => {
    const stack = new Stack(new App(), 'Twice');
    const diagnosis = new SessionDiagnosis(stack, 'Diagnosis', {
      models: ['none'],
      logGroups: ['aws/spans', 'aws/spans'],
      bundles: emptyBundles(),
    });
    const own = new logs.LogGroup(stack, 'Agents');
    diagnosis.addLogGroup(own, { filterPattern: '"gen_ai"' });
    diagnosis.addLogGroup(own, { filterPattern: '"gen_ai"' });
    expect(() => diagnosis.addLogGroup('aws/spans', { filterPattern: 'agent' })).toThrow(
      /two filter patterns, "" and "agent"/,
    );
    Template.fromStack(stack).resourceCountIs('AWS::Logs::SubscriptionFilter', 2);
  });

  it('where nothing is subscribed, synthesis warns; a group added later ends the warning', () => {
    const warned = (add: boolean): boolean => {
      const stack = new Stack(new App(), 'Idle');
      const diagnosis = new SessionDiagnosis(stack, 'Diagnosis', {
        bundles: emptyBundles(),
        models: ['none'],
      });
      if (add) diagnosis.addLogGroup('aws/spans');
      return Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('no log group')).length > 0;
    };
    expect([warned(false), warned(true)]).toEqual([true, false]);
  });

  it('a delivery that cannot be stored is kept, not dropped', () => {
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      FunctionName: { Ref: functionOf('IngestReceiveStep').id },
      MaximumRetryAttempts: 2,
      DestinationConfig: {
        OnFailure: { Destination: { 'Fn::GetAtt': [Match.stringLikeRegexp('DeadDeliveries'), 'Arn'] } },
      },
    });
  });

  it('a session is due at the earliest after the shortest idle time of any agent', () => {
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
      countsLine({
        stored: 2,
        duplicates: 1,
        deferred: 4,
        dropped: 0,
        unrelated: 3,
        quarantined: ['a', 'b'],
      }),
    );
    expect(line).toEqual({
      what: 'ingest',
      stored: 2,
      duplicates: 1,
      deferred: 4,
      dropped: 0,
      unrelated: 3,
      quarantined: 2,
    });
  });
});

describe('settings of the agents', () => {
  it('that do not fit into the environment of a function are refused at synthesis', () => {
    const agents = Object.fromEntries(
      Array.from({ length: 150 }, (_, n) => [`agent-${n}`, { depth: 'checks' as const }]),
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
        maxReceiveCount: 20,
      },
    });
    const dead = Object.entries(template.findResources('AWS::SQS::Queue')).filter(([id]) => /Dead/.test(id));
    expect(dead).toHaveLength(3);
    for (const [, { Properties }] of dead) expect(Properties.MessageRetentionPeriod).toBe(14 * 86_400);
  });

  it.each([
    ['Deliveries', 'IngestIngestStep', 20],
    ['Timers', 'CloseSessionStep', 10],
  ])(
    '%s wait for 14 days, hidden six times as long as the function may run, which takes a bounded number of them',
    (queue, step, atOnce) => {
      const [id, found] =
        Object.entries(template.findResources('AWS::SQS::Queue')).find(([name]) =>
          name.includes(`Ingest${queue}`),
        ) ?? [];
      const { id: functionId, properties } = functionOf(step);
      expect(found?.Properties).toMatchObject({
        MessageRetentionPeriod: 14 * 86_400,
        VisibilityTimeout: 6 * Number(properties.Timeout),
      });
      template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        EventSourceArn: { 'Fn::GetAtt': [id, 'Arn'] },
        FunctionName: { Ref: functionId },
        ScalingConfig: { MaximumConcurrency: atOnce },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
      });
    },
  );

  it('are sent by the sweeper alone, once a minute, and to as many sessions as may run', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: [Match.objectLike({ Arn: { 'Fn::GetAtt': [functionOf('SweepStep').id, 'Arn'] } })],
    });
    expect(functionOf('SweepStep').properties).toMatchObject({
      Environment: { Variables: { MAX_RUNNING: '100', TIMER_QUEUE_URL: expect.anything() } },
    });
    const senders = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([, policy]) =>
      policy.Properties.PolicyDocument.Statement.some(
        ({ Action, Resource }: { Action: unknown; Resource: unknown }) =>
          JSON.stringify(Action).includes('sqs:SendMessage') && /IngestTimers/.test(JSON.stringify(Resource)),
      ),
    );
    expect(senders.map(([name]) => /Ingest(\w+?)Step/.exec(name)?.[1])).toEqual(['Sweep']);
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

describe('log groups of an account', () => {
  const idsOf = (made: Template): string[] =>
    Object.keys(made.findResources('AWS::Logs::SubscriptionFilter')).sort();

  it('removing the first of three leaves the subscriptions of the others as they are', () => {
    const three = idsOf(synthesise({ logGroups: ['/a', '/b', '/c'] }));
    const two = idsOf(synthesise({ logGroups: ['/b', '/c'] }));
    expect(three).toHaveLength(3);
    expect(three.filter((id) => two.includes(id))).toEqual(two);
  });

  it('sixty are one permission: a permission each would fill the policy of the function', () => {
    const many = synthesise({ logGroups: Array.from({ length: 60 }, (_, n) => `/agents/${n}`) });
    expect(idsOf(many)).toHaveLength(60);
    const [permission, ...more] = Object.values(
      many.findResources('AWS::Lambda::Permission', { Properties: { Principal: 'logs.amazonaws.com' } }),
    );
    expect(more).toEqual([]);
    expect(permission?.Properties.SourceAccount).toEqual({ Ref: 'AWS::AccountId' });
    expect(JSON.stringify(permission?.Properties.SourceArn)).toContain(':log-group:*');
  });

  it('one that the same app makes is read by its name, whatever that will be', () => {
    const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
    const stack = new Stack(app, 'Mine');
    const logGroup = new logs.LogGroup(stack, 'Agents');
    new SessionDiagnosis(stack, 'Diagnosis', {
      bundles: emptyBundles(),
      models: ['none'],
      logGroups: [{ logGroup }],
    });
    const [filter] = Object.values(Template.fromStack(stack).findResources('AWS::Logs::SubscriptionFilter'));
    expect(filter?.Properties.LogGroupName).toEqual({ Ref: expect.stringMatching(/^Agents/) });
  });

  it('a filter pattern goes with its group', () => {
    const made = synthesise({ logGroups: [{ logGroup: 'aws/spans', filterPattern: '?gen_ai ?session.id' }] });
    made.hasResourceProperties('AWS::Logs::SubscriptionFilter', { FilterPattern: '?gen_ai ?session.id' });
  });

  it.each([
    ['another account', 'arn:aws:logs:eu-west-1:999999999999:log-group:/agents/support:*'],
    ['another Region', 'arn:aws:logs:us-east-1:123456789012:log-group:/agents/support:*'],
  ])('of %s is refused by name', (_what, arn) => {
    const stack = new Stack(new App(), 'Mine', { env: { account: '123456789012', region: 'eu-west-1' } });
    expect(
      () =>
        new SessionDiagnosis(stack, 'Diagnosis', {
          bundles: emptyBundles(),
          models: ['none'],
          logGroups: [arn],
        }),
    ).toThrow(/\/agents\/support.* belongs to account .*deploy Rootspan there/);
  });
});

describe('side by side', () => {
  it('two instances in one stack share no name', () => {
    const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Mine');
    for (const id of ['Diagnosis', 'Second'])
      new SessionDiagnosis(stack, id, {
        bundles: emptyBundles(),
        models: ['none'],
        logGroups: ['aws/spans'],
      });
    const made = Template.fromStack(stack);
    const names = Object.values(made.findResources('AWS::Logs::LogGroup')).map(
      ({ Properties }) => Properties.LogGroupName,
    );
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('/rootspan/Mine/ingest');
    expect(names).toContain('/rootspan/Mine-Second/ingest');
    expect(Object.keys(made.findOutputs('*'))).toEqual(expect.arrayContaining(['Store', 'SecondStore']));
    const spaces = Object.values(made.findResources('AWS::Logs::MetricFilter')).map(
      ({ Properties }) => Properties.MetricTransformations[0].MetricNamespace,
    );
    expect(new Set(spaces).size).toBe(2);
  });

  it('a bucket that is thrown away is emptied first', () => {
    const made = synthesise({ removalPolicy: RemovalPolicy.DESTROY });
    made.resourceCountIs('Custom::S3AutoDeleteObjects', 1);
    template.resourceCountIs('Custom::S3AutoDeleteObjects', 0);
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
