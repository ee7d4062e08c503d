import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { parseEnvironment } from '../../core/base/parse.ts';
import { startOnce } from '../../core/base/start-once.ts';
import { receiveEnv } from './env.ts';
import { makeReceiveHandler } from './handler.ts';

export const handler = startOnce(async () => {
  const env = parseEnvironment(receiveEnv, process.env);
  const sqs = new SQSClient({ maxAttempts: 8 });
  return makeReceiveHandler(async (body) => {
    await sqs.send(new SendMessageCommand({ QueueUrl: env.DELIVERY_QUEUE_URL, MessageBody: body }));
  });
});
