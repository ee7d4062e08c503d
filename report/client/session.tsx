import './report.css';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SessionView } from '../html/session-view.ts';
import { SessionPage } from './session-page.tsx';

/** Entry of the report of one or several sessions. */
function Report({ sessions }: { readonly sessions: readonly SessionView[] }) {
  const [at, setAt] = useState(() => indexOfHash(sessions));
  useEffect(() => {
    const follow = (): void => setAt(indexOfHash(sessions));
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, [sessions]);
  const view = sessions[at];
  if (view === undefined) return <p>The report holds no session.</p>;
  return (
    <>
      {sessions.length > 1 && (
        <nav class="sessions" aria-label="Sessions of this report">
          <label>
            Session{' '}
            <select
              value={at}
              onChange={(event) => {
                location.hash = `session=${encodeURIComponent(sessions[Number(event.currentTarget.value)]?.diagnosis.sessionId ?? '')}`;
              }}
            >
              {sessions.map(({ diagnosis }, index) => (
                <option key={diagnosis.diagnosisId} value={index}>
                  {diagnosis.outcome} · {diagnosis.sessionId}
                </option>
              ))}
            </select>
          </label>
          <span class="dim">
            {at + 1} of {sessions.length}
          </span>
        </nav>
      )}
      <SessionPage key={view.diagnosis.diagnosisId} view={view} />
    </>
  );
}

/** `#session=<id>` names one; the first otherwise. */
function indexOfHash(sessions: readonly SessionView[]): number {
  const wanted = new URLSearchParams(location.hash.slice(1)).get('session');
  const found = sessions.findIndex(({ diagnosis }) => diagnosis.sessionId === wanted);
  return Math.max(0, found);
}

const data = document.getElementById('data')?.textContent ?? '{"sessions":[]}';
const root = document.getElementById('app');
if (root !== null)
  render(<Report sessions={(JSON.parse(data) as { sessions: SessionView[] }).sessions} />, root);
