import type { JsonObject } from '../../core/base/json.ts';

/**
 * What a model that does its work would answer, by the name of the answer's schema: enough constraints, rubrics and
 * failures that every stage of depth deep has to send what it would really send. Nothing here knows a benchmark.
 */
const constraint = (name: string, parts: JsonObject): JsonObject => ({
  name,
  hint: 'What was asked for stands in what is done at this place.',
  kind: 'protocol',
  targets: ['plan-adherence'],
  severity: 'medium',
  each: 'call',
  guard: 'true',
  assertion: '',
  rubric: [],
  ...parts,
});

const BY_PROGRAM = [
  'supported(call.args)',
  '!prior.exists(p, sameCall(p, call))',
  'call.hasResult',
  'size(call.args) < 12',
  'prior.all(p, !p.failed || p.name != call.name)',
];
const BY_READING = [
  'Does the agent do here what the user asked for, and nothing that the user did not ask for?',
  'Do the values used or stated here agree with the results before?',
];

/** Rules of a run are other rules than those of its agent: an equal rule would be left out as a duplicate. */
const written = (prefix: string, extra: JsonObject): JsonObject[] => [
  ...BY_PROGRAM.map((assertion, at) =>
    constraint(`${prefix}-rule-${at}`, { ...extra, assertion: `(${assertion}) || "${prefix}" == ""` }),
  ),
  // Broken by long texts, so that the judge is handed violations.
  constraint(`${prefix}-short`, {
    ...extra,
    each: 'step',
    guard: 'step.role == "assistant"',
    assertion: `size(step.text) < 150 || "${prefix}" == ""`,
  }),
  constraint(`${prefix}-reading-acts`, {
    ...extra,
    each: 'step',
    guard: `step.role == "assistant" && "${prefix}" != ""`,
    rubric: BY_READING,
  }),
  constraint(`${prefix}-reading-end`, {
    ...extra,
    each: 'step',
    guard: `step.last && "${prefix}" != ""`,
    rubric: BY_READING.slice(0, 1),
  }),
];

const ANSWERS: Readonly<Record<string, JsonObject>> = {
  agent_constraints: { constraints: written('agent', { violating: [], meeting: [] }) },
  run_constraints: { constraints: written('run', { spans: [] }) },
  rubric_rows: {
    rows: ['i1', 'i2', 'i3'].map((item) => ({
      item,
      question: 1,
      verdict: 'CLEAR_PASS',
      span: 's1',
      quote: '',
      note: 'as asked',
    })),
  },
  critical_steps: { analysis: 'none', criticalSteps: [] },
  explain_failures: { analysis: 'none', criticalSteps: [], rootCauses: [], completion: 'COMPLETE_FAILURE' },
};

/** Answers of other schemas are lists of failures, empty. */
export function stubAnswer(schemaName: string): JsonObject {
  return ANSWERS[schemaName] ?? { failures: [] };
}
