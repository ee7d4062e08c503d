import type { Outcome } from '../../core/diagnosis/schema.ts';
import type { DiagnosisSummary } from '../../core/diagnosis/summary.ts';
import type { DiagnosisStore } from '../../core/ports/ports.ts';
import { categoryMatches } from '../../core/report-build/verdict.ts';
import { CATEGORY_IDS } from '../../core/vocabulary/taxonomy.ts';
import type { OpenStore } from './deps.ts';
import { UsageError } from './errors.ts';

/** Which diagnoses a command is about. All that are given hold together. */
export interface QueryFlags {
  readonly agent?: string;
  readonly service?: string;
  readonly outcome?: Outcome;
  readonly category?: string;
  readonly issue?: string;
  readonly model?: string;
  readonly since?: string;
}

type Query = Parameters<DiagnosisStore['recent']>[0];

/** UsageError for a word that no diagnosis can have. */
export function queryOf(flags: QueryFlags): Query {
  const { agent, service, outcome, category, issue, model, since } = flags;
  if (category !== undefined && !CATEGORY_IDS.some((id) => categoryMatches(id, category)))
    throw new UsageError(
      `--category: unknown category "${category}"; ids and parents are listed in docs/taxonomy.md`,
    );
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(service === undefined ? {} : { service }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(category === undefined ? {} : { category }),
    ...(issue === undefined ? {} : { issue: issueId('--issue', issue) }),
    ...(model === undefined ? {} : { model }),
    ...(since === undefined ? {} : { since: sinceIso(since, Date.now()) }),
  };
}

/** UsageError for what no issue can be called. */
export function issueId(flag: string, text: string): string {
  if (/^[0-9a-f]{16}$/u.test(text)) return text;
  throw new UsageError(
    `${flag}: expected the id of an issue, 16 hex digits as \`rootspan issues\` prints it, got "${text}"`,
  );
}

const PAGE = 200;

/** The newest ones, up to `limit`, and whether there are more. */
export async function readSummaries(
  { diagnoses }: OpenStore,
  query: Query,
  limit: number,
): Promise<{ items: readonly DiagnosisSummary[]; more: boolean }> {
  const items: DiagnosisSummary[] = [];
  let next: string | undefined;
  do {
    const page = await diagnoses.recent({
      ...query,
      limit: Math.min(PAGE, limit - items.length),
      ...(next === undefined ? {} : { next }),
    });
    items.push(...page.items);
    next = page.next;
  } while (next !== undefined && items.length < limit);
  return { items, more: next !== undefined };
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `24h`, `7d`, `30m`, or an ISO time. */
export function sinceIso(text: string, nowMs: number): string {
  const age = /^(\d{1,6})([mhd])$/.exec(text);
  if (age !== null)
    return new Date(nowMs - Number(age[1]) * UNITS[age[2] as keyof typeof UNITS]).toISOString();
  const time = Date.parse(text);
  if (Number.isNaN(time))
    throw new UsageError(`--since: expected an ISO time or an age such as 24h or 7d, got "${text}"`);
  return new Date(time).toISOString();
}
