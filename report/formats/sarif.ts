import type { Diagnosis, Failure } from '../../core/diagnosis/schema.ts';
import { ROOTSPAN_VERSION } from '../../core/diagnosis/version.ts';
import { TAXONOMY } from '../../core/vocabulary/taxonomy.ts';
import { categoryName } from '../category-name.ts';
import { safeText } from '../escape.ts';
import { placeOf } from './place.ts';

const LEVELS: Readonly<Record<Failure['effect'], 'error' | 'warning' | 'note'>> = {
  'goal-lost': 'error',
  degraded: 'warning',
  unknown: 'warning',
  none: 'note',
};

/**
 * SARIF 2.1.0: one run, one result for each failing span and category, at the span as a logical location, since a trace
 * has no file and no line. What was not looked at is a notification of the invocation, so that no result does not read
 * as clean.
 */
export function toSarif(diagnoses: readonly Diagnosis[]) {
  const used = [
    ...new Set(diagnoses.flatMap(({ failures }) => failures.flatMap(({ category }) => category))),
  ].sort();
  const meanings = new Map<string, string>(TAXONOMY.map(({ id, meaning }) => [id, meaning]));
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: {
          driver: {
            name: 'Rootspan',
            version: ROOTSPAN_VERSION,
            rules: used.map((id) => ({
              id,
              shortDescription: { text: categoryName(id) },
              fullDescription: { text: meanings.get(id) ?? categoryName(id) },
            })),
          },
        },
        invocations: [
          {
            executionSuccessful: diagnoses.every(({ coverage }) => coverage.state !== 'NONE'),
            toolExecutionNotifications: diagnoses.flatMap(({ sessionId, coverage }) =>
              coverage.gaps.map(({ what, reason }) => ({
                level: 'warning',
                message: { text: safeText(`${sessionId}: not looked at: ${what} (${reason})`) },
              })),
            ),
          },
        ],
        results: diagnoses.flatMap((diagnosis) => resultsOf(diagnosis, used)),
      },
    ],
  };
}

function resultsOf(diagnosis: Diagnosis, rules: readonly string[]) {
  return diagnosis.failures.flatMap((failure, index) => {
    const cause = diagnosis.rootCauses[index];
    return failure.category.map((category, at) => ({
      ruleId: category,
      ruleIndex: rules.indexOf(category),
      level: LEVELS[failure.effect],
      message: {
        text: safeText(
          [
            `${diagnosis.sessionId}, ${placeOf(diagnosis, failure.span_id)}: ${failure.evidence[at] ?? ''}`,
            ...(cause === undefined
              ? []
              : [`Why: ${cause.root_cause_explanation}`, `Change: ${cause.fix_recommendation}`]),
          ].join('\n'),
        ),
      },
      locations: [
        {
          // Viewers want a file; this one names the session.
          physicalLocation: {
            artifactLocation: { uri: `session/${encodeURIComponent(diagnosis.sessionId.toWellFormed())}` },
          },
          logicalLocations: [
            {
              name: placeOf(diagnosis, failure.span_id),
              fullyQualifiedName: `${diagnosis.sessionId}/${failure.span_id}`,
              kind: 'function',
            },
          ],
        },
      ],
      partialFingerprints: { 'rootspan/v1': `${diagnosis.sessionId}/${failure.span_id}/${category}` },
      properties: { outcome: diagnosis.outcome, recovered: failure.recovered, effect: failure.effect },
    }));
  });
}
