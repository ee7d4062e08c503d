import { categoryName } from '../category-name.ts';
import type { SessionView, StepView } from '../html/session-view.ts';
import { Card, type Jump } from './card.tsx';
import { partTitle } from './step-detail.tsx';
import { stepTitle } from './words.ts';

const AROUND = 2;
const SHOWN = 420;

/** The point of no return: where, why, what else it might have been, and what was said around it. */
export function CriticalStep({ view, jump }: { readonly view: SessionView; readonly jump: Jump }) {
  const { diagnosis, steps } = view;
  const { criticalStep } = diagnosis;
  if (criticalStep === null) {
    return (
      <Card id="critical" title="Point of no return">
        <p>
          {diagnosis.failures.length === 0
            ? 'No step was found after which the goal could no longer be reached.'
            : 'None of the failures found is known to have cost the goal.'}
        </p>
      </Card>
    );
  }
  const { spanId, reason, evidence, alternatives } = criticalStep;
  const index = steps.findIndex((step) => step.spanId === spanId);
  const step = steps[index];
  const around = index === -1 ? [] : steps.slice(Math.max(0, index - AROUND), index + AROUND + 1);
  return (
    <Card id="critical" title="Point of no return">
      <p class="critical-place">
        <button type="button" class="link strong" onClick={() => jump(spanId, evidence[0]?.quote)}>
          {step === undefined ? `step ${criticalStep.position}` : stepTitle(step)}
        </button>
        <span class="tag">{categoryName(criticalStep.category)}</span>
      </p>
      <p class="reason">{reason}</p>
      {evidence.slice(0, 3).map((item) => (
        <Quote
          key={item.spanId + item.quote}
          text={item.quote}
          note={item.note}
          onClick={() => jump(item.spanId, item.quote)}
        />
      ))}
      <p class="dim">
        {judgedBy(criticalStep)}
        {alternatives.length > 0 && ' · or '}
        {alternatives.map((other, at) => (
          <span key={other.spanId}>
            {at > 0 && ', '}
            <button type="button" class="link" onClick={() => jump(other.spanId)}>
              step {other.position}
            </button>{' '}
            ({categoryName(other.category)})
          </span>
        ))}
      </p>
      {around.length > 1 && (
        <>
          <h3>What was said around it</h3>
          <ol class="around">
            {around.map((near) => (
              <Near key={near.spanId} step={near} critical={near.spanId === spanId} jump={jump} />
            ))}
          </ol>
        </>
      )}
    </Card>
  );
}

function judgedBy({
  judgedBy: by,
  agreement,
}: NonNullable<SessionView['diagnosis']['criticalStep']>): string {
  if (by === 'checks') return 'Set by rule from the checks; no model judged it';
  const votes = agreement === null ? '' : `, ${Math.round(agreement * 100)} % of votes`;
  return by === 'model' ? `Judged by a model${votes}` : 'Judged by the actions that were expected';
}

function Near({
  step,
  critical,
  jump,
}: {
  readonly step: StepView;
  readonly critical: boolean;
  readonly jump: Jump;
}) {
  return (
    <li class={critical ? 'near is-critical' : 'near'}>
      <button type="button" class="link" onClick={() => jump(step.spanId)}>
        {stepTitle(step)}
      </button>
      {step.parts.slice(0, 3).map((part, index) => (
        <div key={index} class="said">
          <span class="who">{partTitle(part)}</span> {folded(part.text).slice(0, SHOWN)}
          {folded(part.text).length > SHOWN && '…'}
        </div>
      ))}
    </li>
  );
}

/** JSON laid out over lines reads as one here. */
const folded = (text: string): string => text.slice(0, SHOWN * 3).replace(/\s*\n\s*/gu, ' ');

export function Quote({
  text,
  note,
  onClick,
}: {
  readonly text: string;
  readonly note?: string;
  onClick(): void;
}) {
  return (
    <button type="button" class="quote" onClick={onClick} title="Show it in the session">
      <q>{text}</q>
      {note !== undefined && note !== '' && <span class="dim"> {note}</span>}
    </button>
  );
}
