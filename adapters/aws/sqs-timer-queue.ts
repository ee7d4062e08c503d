import { GetQueueAttributesCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { checkTimerDelay, type Timer, type TimerQueue } from '../../core/ports/ingest-ports.ts';

const COUNTS = [
  'ApproximateNumberOfMessages',
  'ApproximateNumberOfMessagesNotVisible',
  'ApproximateNumberOfMessagesDelayed',
] as const;

/** One delayed message a timer; its body names the session, so that the receiver reads the rest from the index. */
export class SqsTimerQueue implements TimerQueue {
  readonly #client: SQSClient;
  readonly #queueUrl: string;

  constructor(client: SQSClient, queueUrl: string) {
    this.#client = client;
    this.#queueUrl = queueUrl;
  }

  async arm(timer: Timer, delaySeconds: number): Promise<void> {
    checkTimerDelay(delaySeconds);
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#queueUrl,
        MessageBody: JSON.stringify(timer),
        DelaySeconds: delaySeconds,
      }),
    );
  }

  async backlog(): Promise<number> {
    const { Attributes = {} } = await this.#client.send(
      new GetQueueAttributesCommand({ QueueUrl: this.#queueUrl, AttributeNames: [...COUNTS] }),
    );
    return COUNTS.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
  }
}
