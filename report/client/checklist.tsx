import type { SessionView } from '../html/session-view.ts';
import { Card } from './card.tsx';
import { count, usd } from './words.ts';

interface Line {
  readonly what: string;
  readonly state: 'yes' | 'partly' | 'no';
  readonly looked: string;
  readonly found: string;
}

const STATES = { yes: '✓', partly: '◐', no: '✗' } as const;
const STATE_WORDS = { yes: 'looked at', partly: 'looked at in part', no: 'not looked at' } as const;

/** What was looked for and what came of it: a clean run reads as inspected, not as empty. */
export function Checklist({ view }: { readonly view: SessionView }) {
  const { usage, provenance } = view.diagnosis;
  return (
    <Card id="checklist" title="What was looked at">
      <table class="checklist">
        <thead>
          <tr>
            <th scope="col">Looked for</th>
            <th scope="col">Where</th>
            <th scope="col">Found</th>
          </tr>
        </thead>
        <tbody>
          {linesOf(view).map(({ what, state, looked, found }) => (
            <tr key={what} class={`state-${state}`}>
              <th scope="row">
                <span class="state" role="img" aria-label={STATE_WORDS[state]}>
                  {STATES[state]}
                </span>{' '}
                {what}
              </th>
              <td>{looked}</td>
              <td>{found}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="dim">
        {provenance.model === 'none'
          ? 'No model was asked'
          : `${provenance.model}, ${count(usage.calls)} calls`}{' '}
        · depth {provenance.depth} · {count(usage.inputTokens + usage.outputTokens)} tokens ·{' '}
        {usd(usage.costUsd)}
      </p>
    </Card>
  );
}

function linesOf({ diagnosis }: SessionView): Line[] {
  const { checks, coverage, failures, validationLog, criticalStep, rootCauses, provenance } = diagnosis;
  const ran = checks.filter(({ state }) => state === 'ran').length;
  const found = checks.reduce((sum, { findings }) => sum + findings.length, 0);
  const byModel = failures.filter(({ source }) => source.some(({ kind }) => kind === 'model')).length;
  const constraints = validationLog.filter(({ origin }) => origin !== 'built-in');
  const decided = constraints.filter(({ verdict }) => verdict === 'violated' || verdict === 'satisfied');
  const violated = constraints.filter(({ verdict }) => verdict === 'violated').length;
  const { spansAnalysed, spansTotal } = coverage;
  const explained = rootCauses.filter(({ source }) => source.kind === 'model').length;
  return [
    {
      what: 'Explicit signs of failure',
      state: ran === checks.length ? 'yes' : ran === 0 ? 'no' : 'partly',
      looked: `${ran} of ${checks.length} checks could look`,
      found: found === 0 ? 'nothing' : `${found} finding${found === 1 ? '' : 's'}`,
    },
    {
      what: 'Failures without a sign',
      state: spansAnalysed === 0 ? 'no' : spansAnalysed < spansTotal ? 'partly' : 'yes',
      looked: `${count(spansAnalysed)} of ${count(spansTotal)} spans read by a model`,
      found:
        spansAnalysed === 0
          ? '–'
          : byModel === 0
            ? 'nothing'
            : `${byModel} failing span${byModel === 1 ? '' : 's'}`,
    },
    {
      what: 'Broken constraints',
      state: constraints.length === 0 ? 'no' : decided.length < constraints.length ? 'partly' : 'yes',
      looked:
        constraints.length === 0
          ? 'none given, none made'
          : `${decided.length} of ${constraints.length} decided`,
      found: constraints.length === 0 ? '–' : violated === 0 ? 'nothing' : `${violated} violated`,
    },
    {
      what: 'Point of no return',
      state:
        criticalStep === null
          ? provenance.model === 'none'
            ? 'no'
            : 'yes'
          : criticalStep.judgedBy === 'checks'
            ? 'partly'
            : 'yes',
      looked:
        criticalStep?.judgedBy === 'checks'
          ? 'by rule, from the checks'
          : criticalStep === null
            ? ''
            : `by ${criticalStep.judgedBy}`,
      found: criticalStep === null ? 'none' : `step ${criticalStep.position}`,
    },
    {
      what: 'Root causes',
      state:
        rootCauses.length === 0
          ? provenance.model === 'none'
            ? 'no'
            : 'yes'
          : explained === rootCauses.length
            ? 'yes'
            : explained === 0
              ? 'no'
              : 'partly',
      looked:
        rootCauses.length === 0
          ? ''
          : explained === 0
            ? 'by rule'
            : `${explained} of ${rootCauses.length} by a model`,
      found: rootCauses.length === 0 ? 'none' : String(rootCauses.length),
    },
  ];
}
