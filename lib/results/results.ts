import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import * as dynamodb from 'aws-cdk-lib/aws-dynamodb';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as s3 from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { budgetKey, TABLE } from '../../core/ports/table.ts';
import { acknowledge, arnFinding } from '../step/acknowledge.ts';
import type { StepLambda } from '../step/step-lambda.ts';

export interface ResultsProps {
  /** Days that sessions and diagnoses are kept. */
  readonly retentionDays: number;
  /** What becomes of bucket and table with the stack. */
  readonly removalPolicy: RemovalPolicy;
}

/** What the steps of an execution left, for a look at one that failed: as long as its dead letter lives, and a week. */
const EXECUTION_DAYS = 21;
/** A retried or redriven step finds its answers; after that a cached answer only serves reruns. */
const ANSWER_DAYS = 30;
/** Objects outlive the table's rows, which DynamoDB deletes up to days late: no pointer points at nothing. */
const GRACE_DAYS = 7;

const string = dynamodb.AttributeType.STRING;

/** Where everything is kept: one bucket, one table (design.md, Storage). */
export class Results extends Construct {
  readonly bucket: s3.Bucket;
  readonly table: dynamodb.Table;
  readonly retentionDays: number;

  constructor(scope: Construct, id: string, props: ResultsProps) {
    super(scope, id);
    const { retentionDays, removalPolicy } = props;
    this.retentionDays = retentionDays;
    const kept = Duration.days(retentionDays + GRACE_DAYS);
    this.bucket = new s3.Bucket(this, 'Bucket', {
      encryption: s3.BucketEncryption.S3_MANAGED,
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      objectOwnership: s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
      enforceSSL: true,
      removalPolicy,
      // A bucket that holds something is not deleted by CloudFormation.
      autoDeleteObjects: removalPolicy === RemovalPolicy.DESTROY,
      lifecycleRules: [
        { id: 'uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
        { id: 'executions', prefix: 'executions/', expiration: Duration.days(EXECUTION_DAYS) },
        { id: 'answers', prefix: 'cache/', expiration: Duration.days(ANSWER_DAYS) },
        ...['raw', 'quarantine', 'sessions', 'diagnoses'].map((prefix) => ({
          id: prefix,
          prefix: `${prefix}/`,
          expiration: kept,
        })),
      ],
    });
    acknowledge(
      this.bucket,
      'AwsSolutions-S1',
      'Only the functions of this stack read and write it; who else does is seen in CloudTrail data events, without a second bucket of logs to keep.',
    );
    this.table = new dynamodb.Table(this, 'Table', {
      partitionKey: { name: TABLE.partitionKey, type: string },
      sortKey: { name: TABLE.sortKey, type: string },
      timeToLiveAttribute: TABLE.expiry,
      billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
      encryption: dynamodb.TableEncryption.AWS_MANAGED,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: removalPolicy === RemovalPolicy.RETAIN,
      removalPolicy,
    });
    this.table.addGlobalSecondaryIndex({
      indexName: TABLE.index.name,
      partitionKey: { name: TABLE.index.partitionKey, type: string },
      sortKey: { name: TABLE.index.sortKey, type: string },
    });
  }

  /**
   * Objects below the prefixes, and the name of the bucket. Listing goes with reading, because without it S3
   * answers 403 for a key that does not exist and "missing" could not be told from "forbidden".
   */
  giveObjects(step: StepLambda, access: { read: readonly string[]; write: readonly string[] }): void {
    const below = (prefixes: readonly string[]): string[] =>
      prefixes.map((prefix) => this.bucket.arnForObjects(`${prefix}/*`));
    for (const prefix of new Set([...access.read, ...access.write]))
      acknowledge(
        step,
        'AwsSolutions-IAM5',
        `Keys below ${prefix}/ derive from sessions and executions and cannot be listed beforehand.`,
        arnFinding(this.bucket, `/${prefix}/*`),
      );
    if (access.read.length > 0) {
      allow(step, ['s3:GetObject'], below(access.read));
      allow(step, ['s3:ListBucket'], [this.bucket.bucketArn]);
    }
    allow(step, ['s3:PutObject'], below(access.write));
    step.function.addEnvironment('BUCKET_NAME', this.bucket.bucketName);
  }

  /** The counter of the day's budget, of which a step may write no other row; without a budget nothing. */
  giveBudget(step: StepLambda, dailyUsd: number | undefined): void {
    step.function.addEnvironment('TABLE_NAME', this.table.tableName);
    step.function.addEnvironment('DAILY_BUDGET_USD', dailyUsd === undefined ? 'none' : String(dailyUsd));
    if (dailyUsd === undefined) return;
    step.function.addToRolePolicy(
      new iam.PolicyStatement({
        actions: ['dynamodb:UpdateItem'],
        resources: [this.table.tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${budgetKey('').pk}*`] } },
      }),
    );
  }

  /** Single-item reads and writes and queries of the table, its name, and how long rows live. */
  giveTable(step: StepLambda, more: readonly string[] = []): void {
    const actions = ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query', ...more];
    allow(step, actions, [this.table.tableArn]);
    this.#nameTable(step);
  }

  /** The due times in the index, and the writes that move them on. */
  giveDueTimes(step: StepLambda): void {
    allow(step, ['dynamodb:Query'], [`${this.table.tableArn}/index/${TABLE.index.name}`]);
    allow(step, ['dynamodb:UpdateItem'], [this.table.tableArn]);
    this.#nameTable(step);
  }

  #nameTable(step: StepLambda): void {
    step.function.addEnvironment('TABLE_NAME', this.table.tableName);
    step.function.addEnvironment('RETENTION_DAYS', String(this.retentionDays));
  }
}

function allow(step: StepLambda, actions: string[], resources: string[]): void {
  step.function.addToRolePolicy(new iam.PolicyStatement({ actions, resources }));
}
