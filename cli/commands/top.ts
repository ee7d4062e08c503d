import { categoryName } from '../../report/category-name.ts';
import { issueTitle } from '../../report/issue-title.ts';
import { groupBy, renderTop } from '../../report/summary-table.ts';
import { openStoreToRead } from '../shell/deps.ts';
import { type CliIo, palette } from '../shell/io.ts';
import { widthOf } from '../shell/output-format.ts';
import { type QueryFlags, queryOf, readSummaries } from '../shell/query.ts';

export interface TopFlags extends QueryFlags {
  readonly store: string;
  readonly json?: boolean;
  readonly limit: number;
  /** Newest diagnoses that are counted. */
  readonly of: number;
}

/** What fails most: categories, critical steps, issues and agents, each with a session to look at. */
export async function topCommand(flags: TopFlags, io: CliIo): Promise<number> {
  const store = await openStoreToRead(flags.store);
  try {
    const { items, more } = await readSummaries(store, queryOf(flags), flags.of);
    const failing = items.filter(({ failureCount }) => failureCount > 0);
    const titles = new Map(
      failing.flatMap(({ issues }) => issues.map((issue) => [issue.issue, issueTitle(issue)] as const)),
    );
    const tables = [
      {
        title: 'Failures by category (sessions)',
        groups: groupBy(failing, ({ categories }) => categories.map(categoryName)),
      },
      {
        title: 'What cost the goal (sessions)',
        groups: groupBy(failing, ({ criticalCategory }) =>
          criticalCategory === null ? [] : [categoryName(criticalCategory)],
        ),
      },
      {
        title: 'Issues in more than one session (rootspan issues show <id>)',
        groups: groupBy(failing, ({ issues }) => issues.map(({ issue }) => issue))
          .filter(({ sessions }) => sessions > 1)
          .map((group) => ({ ...group, name: `${titles.get(group.name)} (${group.name})` })),
      },
      {
        title: 'Agents (failing sessions)',
        groups: groupBy(failing, ({ agent }) => (agent === null ? [] : [agent])),
      },
    ];
    if (flags.json ?? !io.outIsTerminal) {
      io.out(`${JSON.stringify({ counted: items.length, failing: failing.length, tables }, null, 2)}\n`);
      return 0;
    }
    const counted = `of the newest ${items.length} diagnoses${more ? ' (there are more: --of <n>)' : ''}`;
    if (failing.length === 0) io.out(`nothing found to fail ${counted}\n`);
    else
      io.out(
        `${failing.length} failing, ${counted}\n\n${renderTop(tables, flags.limit, { palette: palette(io), width: widthOf(io) })}`,
      );
    return 0;
  } finally {
    await store.close();
  }
}
