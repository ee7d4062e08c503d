import { App, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { TABLE } from '../../core/ports/table.ts';
import { SessionDiagnosis } from '../../lib/session-diagnosis.ts';
import { emptyBundles, synthesise } from '../helpers/synthesised.ts';

const template = synthesise();

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
}
const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);
const statementsOf = (given: Template): Statement[] =>
  Object.values(given.findResources('AWS::IAM::Policy')).flatMap(
    (policy): Statement[] => policy.Properties.PolicyDocument.Statement,
  );
const statements = statementsOf(template);
const bedrockStatements = (props: Parameters<typeof synthesise>[0]): Statement[] =>
  statementsOf(synthesise(props)).filter(({ Action }) => list(Action).includes('bedrock:InvokeModel'));

describe('what is stored', () => {
  it('the bucket is closed, encrypted, speaks TLS only, and outlives the stack', () => {
    template.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Retain',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        BucketEncryption: Match.anyValue(),
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      },
    });
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        ]),
      },
    });
  });

  it('every kind of object expires, bodies not before the rows that point at them', () => {
    const [bucket] = Object.values(synthesise({ retentionDays: 30 }).findResources('AWS::S3::Bucket'));
    const rules: { Prefix?: string; ExpirationInDays?: number }[] =
      bucket?.Properties.LifecycleConfiguration.Rules;
    const days = Object.fromEntries(
      rules.filter((rule) => rule.Prefix).map((rule) => [rule.Prefix, rule.ExpirationInDays]),
    );
    expect(days).toEqual({
      'executions/': 21,
      'cache/': 30,
      'raw/': 37,
      'quarantine/': 37,
      'sessions/': 37,
      'diagnoses/': 37,
    });
  });

  it('the table is the one of the contract, recoverable, encrypted, protected, and outlives the stack', () => {
    template.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: {
        KeySchema: [
          { AttributeName: TABLE.partitionKey, KeyType: 'HASH' },
          { AttributeName: TABLE.sortKey, KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [Match.objectLike({ IndexName: TABLE.index.name })],
        TimeToLiveSpecification: { AttributeName: TABLE.expiry, Enabled: true },
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        SSESpecification: { SSEEnabled: true },
        DeletionProtectionEnabled: true,
        BillingMode: 'PAY_PER_REQUEST',
      },
    });
  });

  it('goes with the stack only when that is asked for', () => {
    const throwaway = synthesise({ removalPolicy: RemovalPolicy.DESTROY });
    throwaway.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { DeletionProtectionEnabled: false },
    });
    throwaway.hasResource('AWS::S3::Bucket', { DeletionPolicy: 'Delete' });
  });
});

describe('permissions', () => {
  it('no data action is allowed on everything, and no action is a wildcard', () => {
    // What has no ARN to name: tracing and the delivery of vended logs.
    const unnamed = /^(xray|logs):/;
    for (const { Action, Resource } of statements) {
      const data = list(Action).filter((action) => !unnamed.test(action));
      if (list(Resource).includes('*')) expect(data).toEqual([]);
      for (const action of list(Action)) expect(action).not.toContain('*');
    }
    expect(statements.length).toBeGreaterThan(10);
  });

  it('a global inference profile needs its own ARN and the model of every Region, nothing else is allowed', () => {
    const asked = bedrockStatements({ models: ['bedrock:global.anthropic.claude-sonnet-4-6'] });
    expect(asked).toHaveLength(3);
    for (const { Action, Resource } of asked) {
      expect(Action).toBe('bedrock:InvokeModel');
      const arns = list(Resource).map((arn) => JSON.stringify(arn));
      expect(arns).toHaveLength(3);
      expect(arns[0]).toContain(':inference-profile/global.anthropic.claude-sonnet-4-6');
      expect(arns[1]).toContain(':bedrock:*::foundation-model/anthropic.claude-sonnet-4-6');
      expect(arns[2]).toContain(':bedrock:::foundation-model/anthropic.claude-sonnet-4-6');
    }
  });

  it('a model without a profile is allowed in its own Region only, and other specs need no permission', () => {
    const plain = synthesise({ models: ['bedrock:openai.gpt-oss-120b-1:0', 'none'] });
    const arns = JSON.stringify(plain.findResources('AWS::IAM::Policy'));
    expect(arns).toContain('::foundation-model/openai.gpt-oss-120b-1:0');
    expect(arns).not.toContain('inference-profile');
    expect(arns).not.toContain('bedrock:*');
    expect(JSON.stringify(synthesise({ models: ['none'] }).toJSON())).not.toContain('bedrock:InvokeModel');
  });

  it('an application inference profile is allowed, and models by way of it only', () => {
    const arn = 'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/abc123';
    const asked = bedrockStatements({ models: [`bedrock:${arn}`] });
    expect(asked).toHaveLength(6);
    for (const { Resource, Condition } of asked) {
      if (Resource === arn) expect(Condition).toBeUndefined();
      else expect(Condition).toEqual({ StringEquals: { 'bedrock:InferenceProfileArn': arn } });
    }
  });

  it.each([
    'arn:aws:bedrock:eu-west-1:123456789012:provisioned-model/abc123',
    'arn:aws:bedrock:eu-west-1::foundation-model/openai.gpt-oss-120b-1:0',
  ])('%s is allowed and nothing else', (arn) => {
    const asked = bedrockStatements({ models: [`bedrock:${arn}`] });
    expect(asked.map(({ Resource }) => Resource)).toEqual([arn, arn, arn]);
  });

  it('an ARN of another account, another Region or another kind is refused by name', () => {
    const refused = (arn: string) => () => {
      const stack = new Stack(new App(), 'Mine', { env: { account: '123456789012', region: 'eu-west-1' } });
      new SessionDiagnosis(stack, 'Diagnosis', { bundles: emptyBundles(), models: [`bedrock:${arn}`] });
    };
    for (const place of ['eu-west-1:999999999999', 'us-east-1:123456789012']) {
      const arn = `arn:aws:bedrock:${place}:application-inference-profile/abc123`;
      expect(refused(arn)).toThrow(`model bedrock:${arn} belongs to account`);
    }
    for (const arn of [
      'arn:aws:bedrock:eu-west-1:123456789012:guardrail/abc',
      'arn:aws:bedrock:eu-west-1::foundation-model/*',
    ])
      expect(refused(arn)).toThrow(`model bedrock:${arn}: expected`);
  });

  it("an agent's own model is allowed beside the stack's", () => {
    const own = synthesise({
      models: ['none'],
      agents: { agents: { airline: { model: 'bedrock:amazon.nova-2-lite-v1:0' } } },
    });
    const arns = JSON.stringify(own.findResources('AWS::IAM::Policy'));
    expect(arns).toContain('::foundation-model/amazon.nova-2-lite-v1:0');
  });

  it('a model id that would widen the permission is refused', () => {
    for (const model of ['bedrock:*', 'bedrock:', 'bedrock:a/b', 'bedrock:anthropic.*'] as const)
      expect(() => synthesise({ models: [model] })).toThrow(/expected bedrock:/);
  });

  it('a model that only a desk can ask is refused before it is deployed', () => {
    for (const model of ['batch:answers', 'replay:answers', 'global.anthropic.claude-sonnet-4-6', 'openai:x'])
      expect(() => synthesise({ models: [model] })).toThrow(`model ${model}: in an account expected`);
    expect(() => synthesise({ models: ['openai:x@https://models.example/v1'] })).not.toThrow();
  });
});

describe('the model that is asked when none is chosen', () => {
  const defaultIn = (region?: string) => {
    const stack = new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Mine', {
      ...(region === undefined ? {} : { env: { region } }),
    });
    new SessionDiagnosis(stack, 'Diagnosis', { bundles: emptyBundles() });
    return JSON.stringify(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
  };

  it.each([
    ['us-west-2', 'us'],
    ['eu-central-1', 'eu'],
    ['ap-northeast-1', 'jp'],
    ['ap-southeast-2', 'au'],
  ])('in %s is that of its geography', (region, geography) => {
    const policies = defaultIn(region);
    expect(policies).toContain(`:inference-profile/${geography}.anthropic.claude-sonnet-4-6`);
    expect(policies).not.toContain('global.');
  });

  it('must be named where no geography is known, and what leaves the Region says so', () => {
    for (const region of [undefined, 'af-south-1', 'eu-west-2', 'us-gov-west-1'])
      expect(() => defaultIn(region)).toThrow(/no model is chosen.*name it in `models`.*any Region/);
  });
});

describe('functions', () => {
  it('all run on ARM and the pinned Node, with a log group of their own that expires', () => {
    const functions = Object.values(template.findResources('AWS::Lambda::Function'));
    expect(functions).toHaveLength(10);
    for (const { Properties } of functions) {
      expect(Properties).toMatchObject({ Runtime: 'nodejs24.x', Architectures: ['arm64'] });
      expect(Properties.LoggingConfig.LogGroup).toBeDefined();
      // Nothing of ours sends to what invokes it: AWS may end what does.
      expect(Properties.RecursiveLoop).toBe('Terminate');
    }
    const groups = Object.values(template.findResources('AWS::Logs::LogGroup'));
    expect(groups).toHaveLength(11);
    for (const { Properties } of groups) {
      expect(Properties.RetentionInDays).toBe(30);
      expect(Properties.LogGroupName).toMatch(
        /^(\/rootspan\/Rootspan\/|\/aws\/vendedlogs\/states\/rootspan\/)/,
      );
    }
  });
});

describe('a daily budget', () => {
  const stepsOf = (given: ReturnType<typeof synthesise>) =>
    Object.values(given.findResources('AWS::Lambda::Function')).flatMap((fn) => {
      const variables: Record<string, unknown> = fn.Properties.Environment?.Variables ?? {};
      return 'DAILY_BUDGET_USD' in variables ? [variables.DAILY_BUDGET_USD] : [];
    });

  it('reaches the three steps that pay, each of which may move the counter and no other row', () => {
    const limited = synthesise({ dailyBudgetUsd: 25 });
    expect(stepsOf(limited)).toEqual(['25', '25', '25']);
    const counters = Object.values(limited.findResources('AWS::IAM::Policy')).flatMap((policy) =>
      policy.Properties.PolicyDocument.Statement.filter(
        (statement: { Condition?: unknown }) =>
          JSON.stringify(statement.Condition ?? null) ===
          '{"ForAllValues:StringLike":{"dynamodb:LeadingKeys":["BUDGET#*"]}}',
      ),
    );
    expect(counters.map(({ Action }: Statement) => Action)).toEqual(Array(3).fill('dynamodb:UpdateItem'));
  });

  it('is none where none is set, and then no step may touch a counter', () => {
    expect(stepsOf(template)).toEqual(['none', 'none', 'none']);
    expect(JSON.stringify(template.toJSON())).not.toContain('dynamodb:LeadingKeys');
  });
});
