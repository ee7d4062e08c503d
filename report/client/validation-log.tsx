import type { SessionView } from '../html/session-view.ts';
import { Card, type Jump } from './card.tsx';
import { Quote } from './critical-step.tsx';

type Entry = SessionView['diagnosis']['validationLog'][number];

const ORDER: readonly Entry['verdict'][] = [
  'violated',
  'error',
  'unclear',
  'not-evaluated',
  'satisfied',
  'not-applicable',
];

/** What was checked, what needs a reader first; what held is folded away. */
export function ValidationLog({ view, jump }: { readonly view: SessionView; readonly jump: Jump }) {
  const log = view.diagnosis.validationLog;
  const groups = ORDER.map((verdict) => ({
    verdict,
    entries: log.filter((entry) => entry.verdict === verdict),
  })).filter(({ entries }) => entries.length > 0);
  return (
    <Card id="log" title="Validation log">
      {groups.length === 0 && <p>No constraint was evaluated at depth {view.diagnosis.provenance.depth}.</p>}
      {groups.map(({ verdict, entries }) => (
        <details key={verdict} open={verdict === 'violated' || verdict === 'error'}>
          <summary>
            {verdict} <span class="dim">({entries.length})</span>
          </summary>
          <ul class="plain">
            {entries.map((entry, index) => (
              <li key={index}>
                <strong>{entry.constraint}</strong>{' '}
                <span class="dim">
                  {entry.origin}, {entry.severity}
                </span>{' '}
                {verdict === 'violated' && (
                  <button
                    type="button"
                    class="link"
                    onClick={() => jump(entry.spanId, entry.evidence[0]?.quote)}
                  >
                    step {entry.position}
                  </button>
                )}
                <div>
                  {entry.reason}
                  {entry.healthyFiringRate !== null && (
                    <span class="dim">
                      {' '}
                      Fires on {(entry.healthyFiringRate * 100).toFixed(0)} % of healthy runs.
                    </span>
                  )}
                </div>
                {entry.evidence.map((item) => (
                  <Quote
                    key={item.spanId + item.quote}
                    text={item.quote}
                    note={item.note}
                    onClick={() => jump(item.spanId, item.quote)}
                  />
                ))}
              </li>
            ))}
          </ul>
        </details>
      ))}
    </Card>
  );
}
