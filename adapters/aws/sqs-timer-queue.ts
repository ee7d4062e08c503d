import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { MAX_TIMER_SECONDS, type TimerQueue } from '../../core/contracts/ingest-ports.ts';

/** One delayed message a timer; its body names the session, so that the receiver reads the rest from the index. */
export class SqsTimerQueue implements TimerQueue {
  readonly #client: SQSClient;
  readonly #queueUrl: string;

  constructor(client: SQSClient, queueUrl: string) {
    this.#client = client;
    this.#queueUrl = queueUrl;
  }

  async arm(sessionId: string, delaySeconds: number): Promise<void> {
    if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > MAX_TIMER_SECONDS) {
      throw new RangeError(
        `DelaySeconds ${delaySeconds}: SQS takes whole seconds from 0 to ${MAX_TIMER_SECONDS}`,
      );
    }
    await this.#client.send(
      new SendMessageCommand({
        QueueUrl: this.#queueUrl,
        MessageBody: JSON.stringify({ sessionId }),
        DelaySeconds: delaySeconds,
      }),
    );
  }
}
