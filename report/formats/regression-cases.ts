import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { categoryName } from '../category-name.ts';

/** What an agent that was mended must do where this one failed, in words for a judge. */
function assertions({ failures, rootCauses }: Diagnosis): string[] {
  return failures.map((failure, index) => {
    const cause = rootCauses[index]?.root_cause_explanation ?? '';
    return (
      `The run must not show this fault again: ${failure.category.map(categoryName).join(', ')}. ` +
      `Last time: ${failure.evidence[0] ?? ''} ${cause}`.trimEnd()
    );
  });
}

const about = (diagnosis: Diagnosis) => ({
  rootspan_session: diagnosis.sessionId,
  rootspan_diagnosis: diagnosis.diagnosisId,
  categories: [...new Set(diagnosis.failures.flatMap(({ category }) => category))],
  fingerprints: diagnosis.fingerprints,
});

/** Cases of Strands Evals (`Experiment.from_dict`): one a session that failed, with its goal as the input. */
export function toStrandsCases(diagnoses: readonly Diagnosis[]) {
  return {
    cases: withFailures(diagnoses).map((diagnosis) => ({
      name: `rootspan-${diagnosis.sessionId}`,
      session_id: diagnosis.sessionId,
      input: diagnosis.goal ?? '',
      expected_assertion: assertions(diagnosis).join('\n'),
      metadata: about(diagnosis),
    })),
    evaluators: [],
  };
}

/**
 * The `tests` of a promptfoo configuration: one a session that failed, one assertion a failure. promptfoo takes every text
 * for a template and a value that begins with `file://` for a file to read: text of a trace is written so that it is neither.
 */
export function toPromptfooTests(diagnoses: readonly Diagnosis[]) {
  return withFailures(diagnoses).map((diagnosis) => ({
    description: `rootspan: ${diagnosis.sessionId}`,
    vars: { input: asLiteral(diagnosis.goal ?? '') },
    assert: assertions(diagnosis).map((value) => ({ type: 'llm-rubric', value: asLiteral(value) })),
    metadata: about(diagnosis),
  }));
}

const asLiteral = (text: string): string =>
  text.replace(/\{(?=[{%#])/gu, "{{ '{' }}").replace(/^(?=file:\/\/)/iu, ' ');

const withFailures = (diagnoses: readonly Diagnosis[]): Diagnosis[] =>
  diagnoses.filter(({ failures }) => failures.length > 0);
