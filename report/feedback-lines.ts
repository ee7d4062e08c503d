import type { Diagnosis } from '../core/diagnosis/schema.ts';
import { categoryName } from './category-name.ts';

/** What people said of the failures, and what was left out because of it: a line each, of untrusted text. */
export function feedbackLines({ feedback, suppressed, failures }: Diagnosis): string[] {
  return [
    ...feedback.map(({ spanId, verdict, at, note }) => {
      const index = failures.findIndex((failure) => failure.span_id === spanId);
      const what = index < 0 ? `span ${spanId}` : `failure ${index + 1} (span ${spanId})`;
      return `${what} ${verdict} on ${at.slice(0, 10)}${note === null ? '' : `: ${note}`}`;
    }),
    ...suppressed.map(
      ({ spanId, category, issue, rejectedIn, at }) =>
        `left out at span ${spanId}: ${categoryName(category)}, issue ${issue}, rejected in ${rejectedIn} on ${at.slice(0, 10)}`,
    ),
  ];
}
