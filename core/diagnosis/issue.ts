import * as z from 'zod';

/** `muted`: still counted, no longer brought up. `regressed`: seen again in a session after it was resolved. */
export const ISSUE_STATES = ['open', 'regressed', 'resolved', 'muted'] as const;
export type IssueState = (typeof ISSUE_STATES)[number];

/** A fault across sessions. Times are ISO. */
export const issueSchema = z.object({
  /** 16 hex digits: the fingerprint of the fault that was seen first. */
  issue: z.string(),
  category: z.string(),
  agent: z.string().nullable(),
  place: z.string().nullable(),
  /** The stated error without ids, numbers and values, as it was seen first. */
  cause: z.string(),
  state: z.enum(ISSUE_STATES),
  firstSeen: z.string(),
  lastSeen: z.string(),
  /** Sessions in which it was seen, each counted once. */
  sessions: z.number().int().positive(),
  /** Sessions by day (UTC) of the newest 28 days on which it was seen. */
  days: z.record(z.string(), z.number().int()),
  /** Sessions by release of the agent, of the 20 seen most recently; the first is that in which it was seen first. */
  releases: z.array(z.object({ release: z.string(), sessions: z.number().int() })),
  /** The session in which it was seen last. */
  example: z.string(),
  resolvedAt: z.string().nullable(),
});
export type Issue = z.infer<typeof issueSchema>;

/** What a stored diagnosis did to an issue. */
export interface IssueChange {
  readonly issue: string;
  readonly change: 'opened' | 'regressed';
}

const DAY_MS = 86_400_000;
const MOST_DAYS = 28;
const MOST_RELEASES = 20;

export interface Occurrence {
  readonly sessionId: string;
  readonly release: string | null;
  /** When the session ended, ISO. */
  readonly at: string;
}

/** The issue after one more session. */
export function withOccurrence(issue: Issue, { sessionId, release, at }: Occurrence): Issue {
  const newest = at >= issue.lastSeen;
  const day = at.slice(0, 10);
  const days = Object.entries({ ...issue.days, [day]: (issue.days[day] ?? 0) + 1 }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return {
    ...issue,
    firstSeen: at < issue.firstSeen ? at : issue.firstSeen,
    lastSeen: newest ? at : issue.lastSeen,
    example: newest ? sessionId : issue.example,
    sessions: issue.sessions + 1,
    days: Object.fromEntries(days.slice(-MOST_DAYS)),
    releases: release === null ? issue.releases : withRelease(issue.releases, release),
    // A session that ended before is of the fault as it was, not a return of it.
    state:
      issue.state === 'resolved' && issue.resolvedAt !== null && at > issue.resolvedAt
        ? 'regressed'
        : issue.state,
  };
}

function withRelease(releases: Issue['releases'], release: string): Issue['releases'] {
  const known = releases.find((entry) => entry.release === release);
  if (known !== undefined)
    return releases.map((entry) => (entry === known ? { release, sessions: entry.sessions + 1 } : entry));
  const kept = releases.length < MOST_RELEASES ? releases : [...releases.slice(0, 1), ...releases.slice(2)];
  return [...kept, { release, sessions: 1 }];
}

/** Sessions of the last seven days and of the seven before, by the day of `nowIso`. */
export function trendOf({ days }: Issue, nowIso: string): { readonly week: number; readonly before: number } {
  const today = Date.parse(`${nowIso.slice(0, 10)}T00:00:00Z`);
  let [week, before] = [0, 0];
  for (const [day, sessions] of Object.entries(days)) {
    const age = (today - Date.parse(`${day}T00:00:00Z`)) / DAY_MS;
    if (age < 7) week += sessions;
    else if (age < 14) before += sessions;
  }
  return { week, before };
}
