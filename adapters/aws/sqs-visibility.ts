import { ChangeMessageVisibilityCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { QueueDeps } from '../../core/ingest/serve-queue.ts';

/** A received message is hidden for so many seconds more (SQS: 0 to 12 hours). */
export const comeAgainFrom =
  (client: SQSClient, queueUrl: string): QueueDeps['comeAgain'] =>
  async (receiptHandle, seconds) => {
    await client.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: queueUrl,
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: seconds,
      }),
    );
  };
