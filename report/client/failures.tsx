import { categoryName } from '../category-name.ts';
import type { SessionView } from '../html/session-view.ts';
import { Card, type Jump } from './card.tsx';
import { CopyButton } from './copy-button.tsx';
import { Quote } from './critical-step.tsx';
import { quoteIn } from './find-quote.ts';
import { plainWords, stepTitle } from './words.ts';

type Diagnosis = SessionView['diagnosis'];

const EFFECT_WORDS: Readonly<Record<Diagnosis['failures'][number]['effect'], string>> = {
  'goal-lost': 'cost the goal',
  degraded: 'made the result worse',
  none: 'did no harm',
  unknown: 'effect not known',
};
const RECOVERED_WORDS: Readonly<Record<Diagnosis['failures'][number]['recovered'], string>> = {
  yes: 'put right',
  no: 'not put right',
  unknown: '',
};

/** Each failure with its evidence, its cause and the change that prevents it. */
export function Failures({ view, jump }: { readonly view: SessionView; readonly jump: Jump }) {
  const { diagnosis } = view;
  if (diagnosis.failures.length === 0) return null;
  return (
    <Card id="failures" title={`Failures and what to change (${diagnosis.failures.length})`}>
      <ol class="failures">
        {diagnosis.failures.map((failure, index) => (
          <FailureItem key={failure.span_id} view={view} index={index} jump={jump} />
        ))}
      </ol>
    </Card>
  );
}

function FailureItem({
  view,
  index,
  jump,
}: {
  readonly view: SessionView;
  readonly index: number;
  readonly jump: Jump;
}) {
  const { failures, rootCauses } = view.diagnosis;
  const failure = failures[index];
  const cause = rootCauses[index];
  if (failure === undefined) return null;
  const same = rootCauses.findIndex((other) => other.fix_recommendation === cause?.fix_recommendation);
  return (
    <li class={`failure effect-${failure.effect}`}>
      <h3>
        <span class="number">{index + 1}</span>{' '}
        <button
          type="button"
          class="link strong"
          onClick={() => jump(failure.span_id, quoteIn(failure.evidence[0] ?? ''))}
        >
          <StepName view={view} spanId={failure.span_id} />
        </button>{' '}
        <span class="tag">{EFFECT_WORDS[failure.effect]}</span>
        {RECOVERED_WORDS[failure.recovered] !== '' && (
          <span class="tag">{RECOVERED_WORDS[failure.recovered]}</span>
        )}
        {failure.recoveredBy !== null && (
          <button type="button" class="link" onClick={() => jump(failure.recoveredBy ?? '')}>
            by <StepName view={view} spanId={failure.recoveredBy} />
          </button>
        )}
      </h3>
      {failure.category.map((category, at) => (
        <div key={category} class="finding">
          <strong>{categoryName(category)}</strong> <span class="dim">{source(failure.source[at])}</span>
          <Evidence text={failure.evidence[at] ?? ''} onClick={(quote) => jump(failure.span_id, quote)} />
        </div>
      ))}
      {cause !== undefined && (
        <dl class="cause">
          <dt>Why</dt>
          <dd>
            {cause.root_cause_explanation}{' '}
            {cause.location !== failure.span_id && (
              <>
                Caused at{' '}
                <button type="button" class="link" onClick={() => jump(cause.location)}>
                  <StepName view={view} spanId={cause.location} />
                </button>
                .
              </>
            )}
          </dd>
          <dt>Change</dt>
          <dd class="fix">
            {same < index ? (
              <span>as for failure {same + 1}</span>
            ) : (
              <>
                {cause.fix_type !== 'OTHERS' && (
                  <span class="tag">{plainWords(cause.fix_type.replace(/_FIX$/, ''))}</span>
                )}{' '}
                {cause.fix_recommendation}{' '}
                <CopyButton text={cause.fix_recommendation} what="fix" label="copy" />
              </>
            )}
          </dd>
        </dl>
      )}
    </li>
  );
}

function Evidence({ text, onClick }: { readonly text: string; onClick(quote: string): void }) {
  const quote = quoteIn(text);
  const note = quote === text ? '' : text.slice(0, text.indexOf(' — "'));
  return (
    <>
      {note !== '' && <span> {note}</span>}
      <Quote text={quote} onClick={() => onClick(quote)} />
    </>
  );
}

function StepName({ view, spanId }: { readonly view: SessionView; readonly spanId: string }) {
  const step = view.steps.find((candidate) => candidate.spanId === spanId);
  return <>{step === undefined ? `span ${spanId}` : stepTitle(step)}</>;
}

function source(of: { readonly kind: string; readonly ref: string } | undefined): string {
  if (of === undefined) return '';
  return of.kind === 'model' ? 'found by a model' : `found by ${of.kind} ${of.ref}`;
}
