import './report.css';
import { render } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { categoryName } from '../category-name.ts';
import type { FleetView } from '../html/fleet-view.ts';
import { issueTitle } from '../issue-title.ts';
import { Card } from './card.tsx';
import { CopyButton } from './copy-button.tsx';
import { Trend } from './trend.tsx';
import { count, duration, usd } from './words.ts';

type Row = FleetView['sessions'][number];

/** Ways to divide the sessions: each gives a table, and a click on a row the sessions of it. */
const DIMENSIONS = {
  category: { title: 'Failures by category', of: (row: Row) => row.categories, name: categoryName },
  critical: { title: 'What cost the goal', of: (row: Row) => [row.criticalCategory], name: categoryName },
  cause: { title: 'Causes', of: (row: Row) => row.issues.map(issueTitle), name: (id: string) => id },
  agent: { title: 'Agents', of: (row: Row) => [row.agent], name: (id: string) => id },
  release: { title: 'Releases', of: (row: Row) => [row.release], name: (id: string) => id },
  model: { title: 'Judged by', of: (row: Row) => [row.model], name: (id: string) => id },
  outcome: { title: 'Outcomes', of: (row: Row) => [row.outcome], name: (id: string) => id.toLowerCase() },
  coverage: { title: 'Coverage', of: (row: Row) => [row.coverage], name: (id: string) => id.toLowerCase() },
  day: { title: 'Days', of: (row: Row) => [row.createdAt.slice(0, 10)], name: (id: string) => id },
} as const;
type Dimension = keyof typeof DIMENSIONS;
/** As tables; a day is chosen in the chart and its table. */
const TABLES: readonly Dimension[] = [
  'category',
  'critical',
  'cause',
  'agent',
  'release',
  'model',
  'coverage',
];

type Filter = { readonly [D in Dimension]?: string };

const OUTCOMES = [
  { name: 'FAILED', color: '--red' },
  { name: 'UNKNOWN', color: '--dim' },
  { name: 'FLAWED', color: '--amber' },
  { name: 'CLEAN', color: '--green' },
] as const;

const valuesOf = (row: Row, dimension: Dimension): string[] =>
  [...new Set(DIMENSIONS[dimension].of(row).filter((value) => value !== null))] as string[];

const fits = (row: Row, filter: Filter): boolean =>
  (Object.keys(filter) as Dimension[]).every((dimension) =>
    valuesOf(row, dimension).includes(filter[dimension] ?? ''),
  );

function Fleet({ view }: { readonly view: FleetView }) {
  const [filter, setFilter] = useState<Filter>({});
  const rows = useMemo(() => view.sessions.filter((row) => fits(row, filter)), [view, filter]);
  const choose = (dimension: Dimension, value: string): void => {
    const { [dimension]: selected, ...others } = filter;
    setFilter(selected === value ? others : { ...filter, [dimension]: value });
  };
  const chosen = Object.entries(filter) as [Dimension, string][];
  return (
    <>
      <header class="head">
        <div class="title">
          <h1>
            <span class="id">
              Sessions{view.since === null ? '' : ` since ${view.since.slice(0, 16).replace('T', ' ')}`}
            </span>
          </h1>
          <span class="dim">
            {count(view.sessions.length)} sessions{view.more ? ', the newest only' : ''} · made{' '}
            {view.madeAt.slice(0, 16).replace('T', ' ')} UTC
          </span>
        </div>
        <Figures rows={rows} />
        <p class="filters" role="status">
          {chosen.length === 0
            ? 'Every number below leads to its sessions; arrows set the newest seven days against the seven before.'
            : `Only ${chosen.map(([dimension, value]) => DIMENSIONS[dimension].name(value)).join(' and ')}: ${count(rows.length)} of ${count(view.sessions.length)} sessions.`}{' '}
          {chosen.length > 0 && (
            <button type="button" class="link" onClick={() => setFilter({})}>
              Show all
            </button>
          )}
        </p>
      </header>
      <main>
        <Days rows={rows} onDay={(day) => choose('day', day)} />
        <div class="tables">
          {TABLES.map((dimension) => (
            <Division
              key={dimension}
              dimension={dimension}
              rows={rows}
              chosen={filter[dimension]}
              onChoose={choose}
            />
          ))}
        </div>
        <Sessions rows={rows} />
      </main>
      <footer>This page loads nothing and sends nothing.</footer>
    </>
  );
}

function Figures({ rows }: { readonly rows: readonly Row[] }) {
  const failed = rows.filter(({ outcome }) => outcome === 'FAILED').length;
  const partial = rows.filter(({ coverage }) => coverage !== 'COMPLETE').length;
  const priced = rows.flatMap(({ costUsd }) => (costUsd === null ? [] : [costUsd]));
  const cost = priced.reduce((sum, usd) => sum + usd, 0);
  const waits = rows
    .flatMap(({ createdAt, endedAt }) =>
      endedAt === null ? [] : [Date.parse(createdAt) - Date.parse(endedAt)],
    )
    .filter((ms) => ms >= 0)
    .sort((a, b) => a - b);
  const median = waits[Math.floor(waits.length / 2)];
  const share = (n: number): string => (rows.length === 0 ? '–' : `${Math.round((n / rows.length) * 100)} %`);
  const figures: readonly (readonly [string, string, string])[] = [
    ['Failed', count(failed), share(failed)],
    ['Not wholly looked at', count(partial), share(partial)],
    [
      'Cost',
      usd(priced.length === 0 ? null : cost),
      priced.length === 0 ? '' : `${usd(cost / priced.length)} a session`,
    ],
    [
      'End to diagnosis',
      median === undefined ? '–' : duration(median),
      median === undefined ? 'no end is recorded' : 'median',
    ],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong> <span class="dim">{note}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Days({ rows, onDay }: { readonly rows: readonly Row[]; onDay(day: string): void }) {
  const { days, series } = useMemo(() => {
    const found = [...new Set(rows.map(({ createdAt }) => createdAt.slice(0, 10)))].sort();
    return {
      days: found,
      series: OUTCOMES.map(({ name, color }) => ({
        name: name.toLowerCase(),
        color,
        values: found.map(
          (day) => rows.filter((row) => row.outcome === name && row.createdAt.startsWith(day)).length,
        ),
      })),
    };
  }, [rows]);
  if (days.length === 0)
    return (
      <Card id="days" title="By day">
        <p>No session.</p>
      </Card>
    );
  return (
    <Card id="days" title="By day">
      <Trend days={days} series={series} onDay={onDay} />
      <details>
        <summary>As a table</summary>
        <div class="wide" tabIndex={0} role="group" aria-label="Sessions a day">
          <table>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {series.map(({ name }) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.map((day, at) => (
                <tr key={day}>
                  <th scope="row">
                    <button type="button" class="link" onClick={() => onDay(day)}>
                      {day}
                    </button>
                  </th>
                  {series.map(({ name, values }) => (
                    <td key={name}>{values[at]}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </Card>
  );
}

const SHOWN = 8;

interface DivisionProps {
  readonly dimension: Dimension;
  readonly rows: readonly Row[];
  readonly chosen: string | undefined;
  onChoose(dimension: Dimension, value: string): void;
}

function Division({ dimension, rows, chosen, onChoose }: DivisionProps) {
  const [all, setAll] = useState(false);
  const { title, name } = DIMENSIONS[dimension];
  const groups = useMemo(() => {
    const weekOf = weeksBack(rows);
    const counts = new Map<string, { all: number; week: number; before: number }>();
    for (const row of rows)
      for (const value of valuesOf(row, dimension)) {
        const held = counts.get(value) ?? { all: 0, week: 0, before: 0 };
        counts.set(value, held);
        held.all += 1;
        if (weekOf(row) === 0) held.week += 1;
        else if (weekOf(row) === 1) held.before += 1;
      }
    return [...counts].sort(([, a], [, b]) => b.all - a.all);
  }, [rows, dimension]);
  const most = groups[0]?.[1].all ?? 1;
  const trended = groups.some(([, { before }]) => before > 0);
  return (
    <Card id={`by-${dimension}`} title={title}>
      {groups.length === 0 && <p class="dim">none</p>}
      <ul class="plain groups">
        {groups.slice(0, all ? groups.length : SHOWN).map(([value, { all: n, week, before }]) => (
          <li key={value}>
            <button
              type="button"
              class="group"
              aria-pressed={chosen === value}
              onClick={() => onChoose(dimension, value)}
            >
              <span class="share" aria-hidden="true" style={{ width: `${(n / most) * 100}%` }} />
              <span class="group-name">{name(value)}</span>
              {trended && (
                <span class="dim nowrap" title="Sessions of the newest seven days against the seven before">
                  {trendWords(week, before)}
                </span>
              )}
              <strong>{count(n)}</strong>
            </button>
          </li>
        ))}
      </ul>
      {groups.length > SHOWN && (
        <button type="button" class="link" onClick={() => setAll(!all)}>
          {all ? 'fewer' : `${groups.length - SHOWN} more`}
        </button>
      )}
    </Card>
  );
}

const DAY_MS = 86_400_000;

/** 0: of the newest seven days of the rows, 1: of the seven before, and so on. */
function weeksBack(rows: readonly Row[]): (row: Row) => number {
  const dayOf = (row: Row): number => Math.floor(Date.parse(row.createdAt) / DAY_MS);
  const newest = rows.reduce((last, row) => Math.max(last, dayOf(row)), 0);
  return (row) => Math.floor((newest - dayOf(row)) / 7);
}

const trendWords = (week: number, before: number): string =>
  week === before ? `= ${week}` : `${week > before ? '▲' : '▼'} ${before} → ${week}`;

const PAGE = 50;

function Sessions({ rows }: { readonly rows: readonly Row[] }) {
  const [shown, setShown] = useState(PAGE);
  return (
    <Card id="sessions" title={`Sessions (${count(rows.length)})`}>
      <div class="wide" tabIndex={0} role="group" aria-label="Sessions">
        <table>
          <thead>
            <tr>
              {['When', 'Outcome', 'Session', 'Agent', 'What cost the goal', 'Failures', 'Report'].map(
                (name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, shown).map((row) => (
              <tr key={row.sessionId}>
                <td class="nowrap">{row.createdAt.slice(0, 16).replace('T', ' ')}</td>
                <td>
                  <span class={`badge small outcome-${row.outcome}`}>{row.outcome.toLowerCase()}</span>
                </td>
                <th scope="row">{row.sessionId}</th>
                <td>{row.agent}</td>
                <td>{row.criticalCategory === null ? '' : categoryName(row.criticalCategory)}</td>
                <td>{row.categories.map(categoryName).join('; ')}</td>
                <td>
                  <CopyButton
                    text={`rootspan report ${shellWord(row.sessionId)} --open`}
                    what={`command for the report of ${row.sessionId}`}
                    label="copy command"
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown && (
        <button type="button" class="link" onClick={() => setShown(shown + PAGE * 4)}>
          {count(rows.length - shown)} more
        </button>
      )}
    </Card>
  );
}

/** An id comes from telemetry: as one word of a POSIX shell, whatever stands in it. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

const data = document.getElementById('data')?.textContent;
const root = document.getElementById('app');
if (root !== null && data !== undefined && data !== null)
  render(<Fleet view={JSON.parse(data) as FleetView} />, root);
