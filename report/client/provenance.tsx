import { feedbackLines } from '../feedback-lines.ts';
import type { SessionView } from '../html/session-view.ts';
import { Card } from './card.tsx';
import { count, duration, usd } from './words.ts';

export function Provenance({ view }: { readonly view: SessionView }) {
  const { diagnosis, systemPrompt, tools } = view;
  const { provenance, usage } = diagnosis;
  const said = feedbackLines(diagnosis);
  const { mode, chunks } = provenance.chunkPlan;
  const facts: readonly (readonly [string, string])[] = [
    ['Diagnosed', `${diagnosis.createdAt.slice(0, 19).replace('T', ' ')} UTC`],
    ['Version', diagnosis.version === 0 ? 'not stored' : String(diagnosis.version)],
    ['Model', provenance.model],
    ['Depth', provenance.depth],
    ['Chunks', mode === 'direct' ? 'one, the whole session' : String(chunks)],
    [
      'Tokens',
      `${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out, ${count(usage.cacheReadTokens)} from the provider's cache`,
    ],
    ['Cost', usd(usage.costUsd)],
    ['Model time', duration(usage.durationMs)],
    ['Rootspan', `${provenance.rootspanVersion}, taxonomy ${provenance.taxonomyVersion}`],
    ['Session hash', provenance.sessionHash],
    ['Diagnosis id', diagnosis.diagnosisId],
    ...(said.length > 0 ? [['Feedback', said.join('; ')] as const] : []),
    ...(diagnosis.fingerprints.length > 0
      ? [['Fingerprints', diagnosis.fingerprints.join(', ')] as const]
      : []),
  ];
  return (
    <Card id="provenance" title="Cost and provenance">
      <dl class="facts-list">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {provenance.calls.length > 0 && (
        <details>
          <summary>Model calls ({provenance.calls.length})</summary>
          <div class="wide" tabIndex={0} role="group" aria-label="Model calls">
            <table>
              <thead>
                <tr>
                  {['Purpose', 'Prompt', 'Output', 'Tokens in', 'Tokens out', 'Time', 'USD'].map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {provenance.calls.map((call, index) => (
                  <tr key={index}>
                    <td>{call.purpose}</td>
                    <td>{call.promptVersion}</td>
                    <td>{call.outputMode}</td>
                    <td>{count(call.usage.inputTokens)}</td>
                    <td>{count(call.usage.outputTokens)}</td>
                    <td>{call.cached ? 'from cache' : duration(call.durationMs)}</td>
                    <td>{call.usage.costUsd === null ? '–' : call.usage.costUsd.toFixed(4)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </details>
      )}
      {systemPrompt !== null && (
        <details>
          <summary>The agent's system prompt</summary>
          <pre>{systemPrompt}</pre>
        </details>
      )}
      {tools.length > 0 && (
        <details>
          <summary>The agent's tools ({tools.length})</summary>
          <ul class="plain">
            {tools.map((tool) => (
              <li key={tool.name}>
                <strong>{tool.name}</strong> {tool.description}
                {tool.parameters !== undefined && <pre>{JSON.stringify(tool.parameters, null, 2)}</pre>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </Card>
  );
}
