import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SFNClient } from '@aws-sdk/client-sfn';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoSessionIndex } from '../../adapters/aws/dynamo-session-index.ts';
import { DynamoTable } from '../../adapters/aws/dynamo-table.ts';
import { SfnWorkflowStarter } from '../../adapters/aws/sfn-workflow-starter.ts';
import { SqsTimerQueue } from '../../adapters/aws/sqs-timer-queue.ts';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import {
  maxAgeSeconds,
  parseAgentConfiguration,
  shortestIdleSeconds,
} from '../../core/ports/agent-settings.ts';
import { sweepEnv } from './env.ts';
import { makeSweepHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(sweepEnv, process.env);
  const clock = { now: () => Date.now() };
  const configuration = parseAgentConfiguration(env.AGENT_CONFIGURATION);
  const table = new DynamoTable(new DynamoDBClient({}), env.TABLE_NAME, clock);
  return makeSweepHandler(
    {
      index: new DynamoSessionIndex(table, clock, { retentionDays: env.RETENTION_DAYS }),
      timers: new SqsTimerQueue(new SQSClient({}), env.TIMER_QUEUE_URL),
      workflow: new SfnWorkflowStarter(new SFNClient({}), env.STATE_MACHINE_ARN),
      clock,
      shortestIdleSeconds: shortestIdleSeconds(configuration),
      maxAgeSeconds: maxAgeSeconds(configuration),
      maxRunning: env.MAX_RUNNING,
    },
    (report) => process.stdout.write(`${JSON.stringify({ what: 'sweep', ...report })}\n`),
  );
});
