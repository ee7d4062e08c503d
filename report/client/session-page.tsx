import { useCallback, useMemo, useRef, useState } from 'preact/hooks';
import type { SessionView } from '../html/session-view.ts';
import { Card, type Jump } from './card.tsx';
import { Checklist } from './checklist.tsx';
import { CriticalStep } from './critical-step.tsx';
import { Failures } from './failures.tsx';
import { quoteIn } from './find-quote.ts';
import { marksBySpan } from './marks.ts';
import { Provenance } from './provenance.tsx';
import { StepDetail } from './step-detail.tsx';
import { Timeline } from './timeline.tsx';
import { ValidationLog } from './validation-log.tsx';
import { count } from './words.ts';

const OUTCOME_WORDS: Readonly<Record<string, string>> = {
  FAILED: 'failed',
  FLAWED: 'flawed',
  CLEAN: 'clean',
  UNKNOWN: 'unknown',
};

export function SessionPage({ view }: { readonly view: SessionView }) {
  const { diagnosis, steps } = view;
  const marks = useMemo(() => marksBySpan(view), [view]);
  const indexBySpan = useMemo(() => new Map(steps.map(({ spanId }, index) => [spanId, index])), [steps]);
  const first = diagnosis.criticalStep?.spanId ?? diagnosis.failures[0]?.span_id;
  const [selected, setSelected] = useState(() => (first === undefined ? 0 : (indexBySpan.get(first) ?? 0)));
  const [aimed, setAimed] = useState<{ readonly quote: string | null; readonly jump: number }>({
    quote: null,
    jump: 0,
  });
  const heading = useRef<HTMLHeadingElement>(null);
  const section = useRef<HTMLElement>(null);
  const step = steps[selected];

  const select = (index: number): void => {
    setSelected(index);
    setAimed({ quote: null, jump: 0 });
  };
  const jump: Jump = useCallback(
    (spanId, quote) => {
      const index = indexBySpan.get(spanId);
      if (index === undefined) return;
      setSelected(index);
      setAimed(({ jump: n }) => ({ quote: quote ?? null, jump: n + 1 }));
      section.current?.scrollIntoView({ block: 'start', behavior: 'instant' });
      heading.current?.focus({ preventScroll: true });
    },
    [indexBySpan],
  );
  const quotes = useMemo(
    () => (step === undefined ? [] : quotesOf(view, step.spanId, aimed.quote)),
    [view, step, aimed.quote],
  );

  return (
    <>
      <Head view={view} />
      <main>
        <div class="first">
          <CriticalStep view={view} jump={jump} />
          <Checklist view={view} />
        </div>
        <Turns view={view} jump={jump} />
        <Failures view={view} jump={jump} />
        <section class="card session" id="session" ref={section} aria-labelledby="session-title">
          <h2 id="session-title">The session</h2>
          {!view.whole && (
            <p class="notice">
              The session itself is not in the store: only the spans that the diagnosis names are shown, by
              their first words.
            </p>
          )}
          <div class="split">
            <Timeline
              steps={steps}
              marks={marks}
              selected={selected}
              onSelect={select}
              onOpen={() => heading.current?.focus()}
            />
            {step !== undefined && (
              <StepDetail
                step={step}
                marks={marks.get(step.spanId) ?? []}
                quotes={quotes}
                heading={heading}
                jump={aimed.jump}
              />
            )}
          </div>
        </section>
        <NotLookedAt view={view} />
        <ValidationLog view={view} jump={jump} />
        <Provenance view={view} />
      </main>
      <footer>
        Rootspan {diagnosis.provenance.rootspanVersion} · this page loads nothing and sends nothing.
      </footer>
    </>
  );
}

function Head({ view }: { readonly view: SessionView }) {
  const { diagnosis, verdict } = view;
  const { coverage } = diagnosis;
  const facts = [
    diagnosis.agent,
    diagnosis.service === diagnosis.agent ? null : diagnosis.service,
    diagnosis.format,
    `${count(coverage.spansTotal)} spans`,
    diagnosis.startedAt === null ? null : diagnosis.startedAt.slice(0, 16).replace('T', ' '),
  ].filter((fact) => fact !== null);
  return (
    <header class={`head outcome-${diagnosis.outcome}`}>
      <div class="title">
        <h1>
          <span class="badge">{OUTCOME_WORDS[diagnosis.outcome] ?? diagnosis.outcome}</span>
          <span class="id">{diagnosis.sessionId}</span>
        </h1>
        <span
          class={`coverage coverage-${coverage.state}`}
          title="How much of what can be looked for was looked for"
        >
          coverage {coverage.state.toLowerCase()}
        </span>
      </div>
      <p class="verdict">{sentence(verdict)}</p>
      {diagnosis.goal !== null && (
        <p class="goal">
          <span class="label">Goal</span> {diagnosis.goal}
        </p>
      )}
      <p class="facts">{facts.join(' · ')}</p>
      <nav class="places" aria-label="Parts of the report">
        <a href="#critical">Critical step</a>
        {diagnosis.turns.length > 1 && <a href="#turns">Requests ({diagnosis.turns.length})</a>}
        {diagnosis.failures.length > 0 && <a href="#failures">Failures ({diagnosis.failures.length})</a>}
        <a href="#session">Session</a>
        <a href="#not-looked-at">Not looked at ({coverage.gaps.length})</a>
        <a href="#log">Validation log</a>
        <a href="#provenance">Cost and provenance</a>
      </nav>
    </header>
  );
}

/** Of a session with several requests: how each of them went. */
function Turns({ view: { diagnosis }, jump }: { readonly view: SessionView; readonly jump: Jump }) {
  const { turns } = diagnosis;
  if (turns.length < 2) return null;
  return (
    <Card id="turns" title={`Requests (${turns.length})`}>
      <ol class="plain turns">
        {turns.map(({ index, goal, outcome, firstSpanId, criticalStep }) => (
          <li key={index}>
            <span class="number">{index + 1}</span>{' '}
            <span class={`badge small outcome-${outcome}`}>{OUTCOME_WORDS[outcome] ?? outcome}</span>{' '}
            <button type="button" class="link" onClick={() => jump(firstSpanId)}>
              {goal === null ? 'no request is recorded' : firstWords(goal)}
            </button>
            {criticalStep !== null && (
              <>
                {' · lost at '}
                <button type="button" class="link" onClick={() => jump(criticalStep.spanId)}>
                  step {criticalStep.position}
                </button>
              </>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

const firstWords = (text: string): string => (text.length > 160 ? `${text.slice(0, 160)}…` : text);

function NotLookedAt({ view: { diagnosis } }: { readonly view: SessionView }) {
  const { coverage, quarantined } = diagnosis;
  const refused = quarantined.filter(({ stage }) => stage !== 'read');
  return (
    <Card id="not-looked-at" title="Not looked at">
      {coverage.gaps.length + refused.length === 0 ? (
        <p>Everything that this depth looks for was looked for, in every span.</p>
      ) : (
        <ul class="plain">
          {coverage.gaps.map(({ what, reason, spanIds }) => (
            <li key={`${what}${reason}`}>
              <strong>{what}</strong>
              {spanIds.length > 0 && ` (${count(spanIds.length)} spans)`}
              <span class="dim"> {reason}</span>
            </li>
          ))}
          {refused.map(({ stage, reason, content }) => (
            <li key={`${stage}${reason}${content}`}>
              <strong>An answer refused in {stage}</strong> <span class="dim">{reason}</span>
              <details>
                <summary>what was said</summary>
                <pre>{content}</pre>
              </details>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Every quote that the diagnosis takes from a span, the one that was asked for first. */
function quotesOf({ diagnosis }: SessionView, spanId: string, aimed: string | null): string[] {
  const { criticalStep, failures, checks, validationLog } = diagnosis;
  const evidence = [
    ...(criticalStep?.evidence ?? []),
    ...checks.flatMap(({ findings }) => findings.flatMap((finding) => finding.evidence)),
    ...validationLog.flatMap((entry) => entry.evidence),
  ].filter((item) => item.spanId === spanId);
  const quotes = failures
    .filter((failure) => failure.span_id === spanId)
    .flatMap((failure) => failure.evidence.map(quoteIn));
  // Only what was asked for is marked after a jump: the reader came for that.
  return aimed !== null ? [aimed] : [...new Set([...evidence.map(({ quote }) => quote), ...quotes])];
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
