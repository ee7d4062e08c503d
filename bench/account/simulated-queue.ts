import { randomInt } from './seeded.ts';

/** What AWS's documents say of SQS and Lambda, as far as losing a session depends on it. */
export const LOOP_HOPS = 16;
const DAY = 86_400_000;

interface Message {
  readonly body: string;
  /** Invocations before it in the chain of functions that send to what invokes them. */
  readonly hops: number;
  visibleAt: number;
  readonly sentAt: number;
  received: number;
}

export interface QueueRules {
  readonly retentionDays: number;
  readonly visibilitySeconds: number;
  readonly maxReceiveCount: number;
  /** Of a hundred messages so many are delivered twice. */
  readonly twicePercent: number;
  /** Of a hundred polls so many are throttled and get nothing. */
  readonly throttledPercent: number;
}

/** A standard queue: delayed, at least once, unordered, kept for so many days, with a dead-letter queue. */
export class SimulatedQueue {
  readonly rules: QueueRules;
  readonly dead: string[] = [];
  expired = 0;
  /** Chains that Lambda's recursive-loop detection ended. */
  looped = 0;
  #messages: Message[] = [];

  constructor(rules: QueueRules) {
    this.rules = rules;
  }

  get size(): number {
    return this.#messages.length;
  }

  get nextAt(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...this.#messages.map(({ visibleAt }) => visibleAt));
  }

  send(body: string, now: number, delaySeconds: number, hops: number): void {
    if (hops >= LOOP_HOPS) {
      this.looped += 1;
      return;
    }
    this.#messages.push({ body, hops, sentAt: now, visibleAt: now + delaySeconds * 1000, received: 0 });
    if (randomInt(100) < this.rules.twicePercent)
      this.#messages.push({ body, hops, sentAt: now, visibleAt: now + delaySeconds * 1000 + 1, received: 0 });
  }

  /** Delivers what is visible, a message an invocation; what throws comes again after its visibility or its backoff. */
  async serve(
    now: number,
    work: (body: string, received: number, hops: number) => Promise<number | null>,
  ): Promise<void> {
    const kept = this.#messages.filter((message) => now - message.sentAt < this.rules.retentionDays * DAY);
    this.expired += this.#messages.length - kept.length;
    this.#messages = kept;
    for (const message of kept.filter(({ visibleAt }) => visibleAt <= now)) {
      if (randomInt(100) < this.rules.throttledPercent) {
        message.visibleAt = now + 1000;
        continue;
      }
      message.received += 1;
      const backoff = await work(message.body, message.received, message.hops);
      if (backoff === null) this.#messages = this.#messages.filter((other) => other !== message);
      else if (message.received >= this.rules.maxReceiveCount) {
        this.dead.push(message.body);
        this.#messages = this.#messages.filter((other) => other !== message);
      } else message.visibleAt = now + backoff * 1000;
    }
  }
}
