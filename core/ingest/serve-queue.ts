import * as z from 'zod';
import { sha256Hex } from '../base/hash.ts';
import { parseAtDoor } from '../base/parse.ts';

const queueEventSchema = z.object({
  Records: z.array(
    z.object({
      messageId: z.string(),
      receiptHandle: z.string().optional(),
      body: z.string(),
      attributes: z.object({ ApproximateReceiveCount: z.coerce.number().optional() }).optional(),
    }),
  ),
});

export interface PartialBatch {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export interface QueueDeps {
  /** Makes a message that was received come again after so many seconds, instead of after the queue's own time. */
  readonly comeAgain: (receiptHandle: string, seconds: number) => Promise<void>;
  /** Hears why, because SQS does not. */
  readonly report: (body: string, error: unknown) => void;
}

const FIRST_BACKOFF_SECONDS = 5;
const MAX_BACKOFF_SECONDS = 900;

/** 5 s, doubling to 15 minutes; drawn from the upper half by the message, so that they do not come back together. */
export function backoffSeconds(messageId: string, received: number): number {
  const whole = Math.min(FIRST_BACKOFF_SECONDS * 2 ** Math.min(received - 1, 10), MAX_BACKOFF_SECONDS);
  const share = Number.parseInt(sha256Hex(`${messageId} ${received}`).slice(0, 8), 16) / 0x1_0000_0000;
  return Math.ceil(whole * (1 - share / 2));
}

/**
 * Messages of a queue, each on its own: one that fails comes again after its backoff, the others are done. After the
 * queue's receive count it is a dead letter.
 */
export async function serveQueue(
  event: unknown,
  work: (body: unknown) => Promise<void>,
  { comeAgain, report }: QueueDeps,
): Promise<PartialBatch> {
  const { Records } = parseAtDoor(queueEventSchema, event, 'the event of the queue');
  const batchItemFailures: { itemIdentifier: string }[] = [];
  for (const { messageId, receiptHandle, body, attributes } of Records) {
    try {
      await work(parseJson(body));
    } catch (error) {
      report(body, error);
      batchItemFailures.push({ itemIdentifier: messageId });
      if (receiptHandle === undefined) continue;
      try {
        await comeAgain(receiptHandle, backoffSeconds(messageId, attributes?.ApproximateReceiveCount ?? 1));
      } catch (fault) {
        // It comes again all the same, only later.
        report(body, fault);
      }
    }
  }
  return { batchItemFailures };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
