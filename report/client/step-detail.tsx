import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { PartView, StepView } from '../html/session-view.ts';
import { CopyButton } from './copy-button.tsx';
import { findQuote } from './find-quote.ts';
import type { Mark } from './marks.ts';
import { count, duration, KIND_NAMES, stepTitle } from './words.ts';

export interface StepDetailProps {
  readonly step: StepView;
  readonly marks: readonly Mark[];
  /** Texts to mark in what the step says; the first of them is brought into view. */
  readonly quotes: readonly string[];
  readonly heading: RefObject<HTMLHeadingElement | null>;
  /** Changes with each jump, so that the same quote is brought into view again. */
  readonly jump: number;
}

const FLAGS: Readonly<Record<string, string>> = {
  'content-absent': 'its content was not recorded',
  'content-redacted': 'the producer removed its content',
  'content-truncated': 'its content was cut by the producer',
  'content-not-arrived': 'its content has not arrived',
  'content-lost': 'its content was lost on the way',
  'missing-parent': 'its parent span is missing',
};

/** What one step says, whole, with the quotes of the diagnosis marked in it. */
export function StepDetail({ step, marks, quotes, heading, jump }: StepDetailProps) {
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (jump === 0) return;
    body.current?.querySelector('mark')?.scrollIntoView({ block: 'center', behavior: 'instant' });
  }, [jump, step]);
  const facts = [
    KIND_NAMES[step.kind],
    step.model,
    step.durationMs === null ? null : duration(step.durationMs),
    step.tokens === null ? null : `${count(step.tokens.input)} tokens in, ${count(step.tokens.output)} out`,
  ].filter((fact) => fact !== null);
  return (
    <section class="detail" aria-label="The selected step">
      <h3 ref={heading} tabIndex={-1}>
        {stepTitle(step)}
      </h3>
      <p class="facts">
        {facts.join(' · ')} · <code>{step.spanId}</code> <CopyButton text={step.spanId} what="span id" />
      </p>
      {marks.length > 0 && (
        <p class="marks">
          {marks.map(({ kind, label }) => (
            <span key={label} class={`mark mark-${kind}`}>
              {label}
            </span>
          ))}
        </p>
      )}
      <div class="parts" ref={body} tabIndex={0} role="group" aria-label="What the step says">
        {step.errors.map((error) => (
          <div key={error} class="part part-error">
            <div class="who">recorded error</div>
            <pre>{highlight(error, quotes)}</pre>
          </div>
        ))}
        {step.parts.map((part, index) => (
          <Part key={index} part={part} quotes={quotes} />
        ))}
        {step.parts.length === 0 && step.errors.length === 0 && (
          <p class="dim">
            Nothing new was said at this step
            {step.flags.map((flag) => (Object.hasOwn(FLAGS, flag) ? `; ${FLAGS[flag]}` : '')).join('')}.
          </p>
        )}
      </div>
    </section>
  );
}

function Part({ part, quotes }: { readonly part: PartView; readonly quotes: readonly string[] }) {
  return (
    <div class={`part part-${part.kind} from-${part.role}`}>
      <div class="who">{partTitle(part)}</div>
      <pre>{highlight(part.text, quotes)}</pre>
      {part.cut > 0 && <p class="dim">… {count(part.cut)} more characters are left out of this page.</p>}
    </div>
  );
}

export function partTitle({ kind, name, role }: PartView): string {
  switch (kind) {
    case 'call':
      return `calls ${name ?? 'a tool'}`;
    case 'result':
      return `result${name === null ? '' : ` of ${name}`}`;
    case 'reasoning':
      return 'reasoning';
    case 'media':
      return 'media';
    case 'text':
      return name ?? role;
  }
}

/** The text with the first place of each quote marked; text nodes only. */
function highlight(text: string, quotes: readonly string[]): ComponentChildren {
  const places = quotes
    .flatMap((quote) => {
      const place = findQuote(text, quote);
      return place === null ? [] : [place];
    })
    .toSorted((a, b) => a[0] - b[0]);
  if (places.length === 0) return text;
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const [start, end] of places) {
    if (start < at) continue;
    pieces.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>);
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces;
}
