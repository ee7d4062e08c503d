import {
  type CloudWatchLogsClient,
  FilterLogEventsCommand,
  InvalidParameterException,
} from '@aws-sdk/client-cloudwatch-logs';
import type { LogPage, LogReader } from '../../core/ingest/fetch-session.ts';

/** The most that one call gives. */
const PAGE_EVENTS = 10_000;

/** Log groups by name or ARN through FilterLogEvents, whose pages go on beyond the 10,000 rows of Logs Insights. */
export class CloudWatchLogReader implements LogReader {
  readonly #client: CloudWatchLogsClient;

  constructor(client: CloudWatchLogsClient) {
    this.#client = client;
  }

  async page({
    logGroup,
    start,
    end,
    pattern,
    token,
  }: Parameters<LogReader['page']>[0]): Promise<LogPage | 'expired'> {
    try {
      const { events = [], nextToken } = await this.#client.send(
        new FilterLogEventsCommand({
          ...(logGroup.startsWith('arn:')
            ? { logGroupIdentifier: logGroup.replace(/:\*$/, '') }
            : { logGroupName: logGroup }),
          startTime: start,
          endTime: end,
          limit: PAGE_EVENTS,
          ...(pattern === undefined ? {} : { filterPattern: pattern }),
          ...(token === undefined ? {} : { nextToken: token }),
        }),
      );
      const rows = events.map((event) => ({
        logGroup,
        logStreamName: event.logStreamName ?? '',
        timestamp: event.timestamp ?? 0,
        ingestionTime: event.ingestionTime ?? 0,
        eventId: event.eventId ?? '',
        message: event.message ?? '',
      }));
      return { rows, next: nextToken ?? null };
    } catch (error) {
      // A token lives for 24 hours.
      if (token !== undefined && error instanceof InvalidParameterException) return 'expired';
      throw error;
    }
  }
}
