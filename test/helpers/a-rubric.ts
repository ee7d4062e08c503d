/** A constraint as a model writes it that only a reader can decide, for scripted answers. */
export const RUBRIC = {
  name: 'answer-is-true',
  hint: 'The last answer says what was done.',
  kind: 'provenance',
  targets: ['misinterpretation'],
  severity: 'high',
  each: 'step',
  guard: 'step.last',
  assertion: '',
  rubric: ['Does the answer state the amount that was refunded?'],
  spans: [],
};
