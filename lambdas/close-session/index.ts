import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoFailureLog } from '../../adapters/aws/dynamo-failure-log.ts';
import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { S3ObjectStore } from '../../adapters/aws/s3-object-store.ts';
import { SfnWorkflowStarter } from '../../adapters/aws/sfn-workflow-starter.ts';
import { comeAgainFrom } from '../../adapters/aws/sqs-visibility.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { faultLine } from '../../core/ingest/report-fault.ts';
import {
  maxAgeSeconds,
  parseAgentConfiguration,
  settingsFor,
  shortestIdleSeconds,
} from '../../core/ports/agent-settings.ts';
import { closeSessionEnv } from './env.ts';
import { makeCloseSessionHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(closeSessionEnv, process.env);
  const clock = { now: () => Date.now() };
  const configuration = parseAgentConfiguration(env.AGENT_CONFIGURATION);
  const table = new DynamoTable(new DynamoDBClient({ maxAttempts: 8 }), env.TABLE_NAME, clock);
  return makeCloseSessionHandler(
    {
      objects: new S3ObjectStore(new S3Client({ maxAttempts: 8 }), env.BUCKET_NAME),
      failures: new DynamoFailureLog(table, clock, env.RETENTION_DAYS),
      index: new DynamoSessionIndex(table, clock, {
        retentionDays: env.RETENTION_DAYS,
      }),
      workflow: new SfnWorkflowStarter(new SFNClient({}), env.STATE_MACHINE_ARN),
      clock,
      maxAgeSeconds: maxAgeSeconds(configuration),
      shortestIdleSeconds: shortestIdleSeconds(configuration),
      settingsFor: (agent) => settingsFor(configuration, agent),
    },
    {
      comeAgain: comeAgainFrom(new SQSClient({}), env.TIMER_QUEUE_URL),
      report: (body, error) => process.stderr.write(`${faultLine(body, error)}\n`),
    },
  );
});
