import wrapAnsi from 'wrap-ansi';
import type { DiagnosisSummary } from '../core/diagnosis/summary.ts';
import { categoryName } from './category-name.ts';
import { safeLine } from './escape.ts';
import type { Palette, TerminalView } from './terminal.ts';

type View = Pick<TerminalView, 'palette' | 'width'>;

export function outcomePaint(
  outcome: DiagnosisSummary['outcome'],
  palette: Palette,
): (text: string) => string {
  return { FAILED: palette.red, UNKNOWN: palette.yellow, FLAWED: palette.yellow, CLEAN: palette.green }[
    outcome
  ];
}

/** A list of diagnoses, newest first: two lines each, so that it reads on 80 columns. */
export function renderSummaries(items: readonly DiagnosisSummary[], view: View): string {
  return items.map((item) => summaryLines(item, view)).join('');
}

export function summaryLines(item: DiagnosisSummary, { palette, width }: View): string {
  const head =
    `${item.createdAt.slice(0, 16).replace('T', ' ')}  ` +
    `${outcomePaint(item.outcome, palette)(item.outcome.padEnd(7))}  ${palette.bold(safeLine(item.sessionId, 60))}` +
    `${item.version > 1 ? ` v${item.version}` : ''}${item.superseded ? palette.yellow(' superseded') : ''}`;
  const facts = [
    item.agent === null ? null : safeLine(item.agent, 40),
    item.failureCount === 0 ? null : `${item.failureCount} failing`,
    item.criticalCategory === null ? null : `lost by ${categoryName(item.criticalCategory)}`,
    item.categories.length === 0 ? null : item.categories.map(categoryName).join('; '),
    item.coverage === null || item.coverage === 'COMPLETE' ? null : `coverage ${item.coverage.toLowerCase()}`,
  ].filter((fact) => fact !== null);
  const rest =
    facts.length === 0
      ? []
      : wrapAnsi(facts.join(' · '), Math.max(20, width - 4), { hard: true }).split('\n');
  return `${[head, ...rest.map((line) => `    ${palette.dim(line)}`)].join('\n')}\n`;
}

export interface Group {
  readonly name: string;
  readonly sessions: number;
  /** Newest session of the group. */
  readonly example: string;
}

/** Groups by what `keys` gives of each diagnosis, the largest first. Superseded ones do not count: their session is counted by its newest. */
export function groupBy(
  items: readonly DiagnosisSummary[],
  keys: (item: DiagnosisSummary) => readonly string[],
): Group[] {
  const groups = new Map<string, { sessions: Set<string>; example: string }>();
  for (const item of items) {
    if (item.superseded) continue;
    for (const key of new Set(keys(item))) {
      const group = groups.get(key) ?? { sessions: new Set<string>(), example: item.sessionId };
      group.sessions.add(item.sessionId);
      groups.set(key, group);
    }
  }
  return [...groups]
    .map(([name, { sessions, example }]) => ({ name, sessions: sessions.size, example }))
    .sort((a, b) => b.sessions - a.sessions || (a.name < b.name ? -1 : 1));
}

/** What fails most: one table a question, each row with a session to look at. */
export function renderTop(
  tables: readonly { readonly title: string; readonly groups: readonly Group[] }[],
  limit: number,
  { palette, width }: View,
): string {
  return tables
    .filter(({ groups }) => groups.length > 0)
    .map(({ title, groups }) => {
      const digits = String(groups[0]?.sessions ?? 0).length;
      const rows = groups.slice(0, limit).map(({ name, sessions, example }) => {
        const room = Math.max(20, width - digits - 6);
        const [first = '', ...more] = wrapAnsi(safeLine(name, 200), room, { hard: true }).split('\n');
        const pad = ' '.repeat(digits + 4);
        return [
          `  ${String(sessions).padStart(digits)}  ${first}`,
          ...more.map((line) => pad + line),
          `${pad}${palette.dim(`e.g. ${safeLine(example, Math.max(10, room - 6))}`)}`,
        ].join('\n');
      });
      const left = groups.length - limit;
      return [palette.bold(title), ...rows, ...(left > 0 ? [palette.dim(`  and ${left} more`)] : [])].join(
        '\n',
      );
    })
    .join('\n\n')
    .concat('\n');
}
