import type { DiagnosisSummary } from '../../core/diagnosis/summary.ts';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import type { DiagnosisStore } from '../../core/ports/ports.ts';
import type { TimelinePattern } from '../../core/ports/table.ts';
import { categoryMatches } from '../../core/report-build/verdict.ts';

/** In which lists a diagnosis stands, which list answers a query, and where a page of it ends. */

export function patternsFor(summary: Omit<DiagnosisSummary, 'superseded'>): TimelinePattern[] {
  return [
    { by: 'all' },
    { by: 'outcome', value: summary.outcome },
    ...summary.issues.map(({ issue }) => ({ by: 'issue', value: issue }) as const),
    ...(summary.agent === null ? [] : [{ by: 'agent', value: summary.agent } as const]),
    ...(summary.service === null ? [] : [{ by: 'service', value: summary.service } as const]),
    // Under each category and under its parent, so that both are lists of their own.
    ...[...new Set(summary.categories.flatMap((id) => [id, parentOf(id)]))].map(
      (value) => ({ by: 'category', value }) as const,
    ),
  ];
}

/** `hallucination` of `hallucination-category-hall-usage`. */
const parentOf = (id: string): string => id.replace(/-category-.*$/u, '');

type Filters = Parameters<DiagnosisStore['recent']>[0];

export function patternOf(query: Filters): TimelinePattern {
  if (query.issue !== undefined) return { by: 'issue', value: query.issue };
  if (query.agent !== undefined) return { by: 'agent', value: query.agent };
  if (query.service !== undefined) return { by: 'service', value: query.service };
  if (query.outcome !== undefined) return { by: 'outcome', value: query.outcome };
  if (query.category !== undefined) return { by: 'category', value: query.category };
  return { by: 'all' };
}

export function matches(summary: Omit<DiagnosisSummary, 'superseded'>, query: Filters): boolean {
  return (
    (query.agent === undefined || summary.agent === query.agent) &&
    (query.service === undefined || summary.service === query.service) &&
    (query.outcome === undefined || summary.outcome === query.outcome) &&
    (query.category === undefined ||
      summary.categories.some((id) => categoryMatches(id, query.category ?? ''))) &&
    (query.model === undefined || summary.model === query.model) &&
    (query.issue === undefined || summary.issues.some(({ issue }) => issue === query.issue))
  );
}

export const encodeNext = (sk: string): string => Buffer.from(sk, 'utf8').toString('base64url');

export function decodeNext(next: string): string {
  const sk = Buffer.from(next, 'base64url').toString('utf8');
  // DynamoDB takes sort keys of 1 to 1,024 bytes.
  if (sk === '' || Buffer.byteLength(sk) > 1024 || encodeNext(sk) !== next)
    throw new ConfigurationInvalidError(
      'the continuation of a list is not one that was given out: start the list again',
    );
  return sk;
}
