import { ISSUE_STATES, type Issue, type IssueState } from '../../core/diagnosis/issue.ts';
import { renderIssue, renderIssues } from '../../report/issue-table.ts';
import { type OpenStore, openStoreToRead } from '../shell/deps.ts';
import { UsageError } from '../shell/errors.ts';
import { type CliIo, palette } from '../shell/io.ts';
import { widthOf } from '../shell/output-format.ts';
import { issueId } from '../shell/query.ts';

interface Flags {
  readonly store: string;
  readonly json?: boolean;
}

export interface IssuesListFlags extends Flags {
  /** Open and regressed ones when absent. */
  readonly state?: IssueState;
  readonly agent?: string;
  readonly limit: number;
}

const SHOWN: readonly IssueState[] = ['regressed', 'open'];

/** Faults across sessions, those that came back first, then by when they were seen last. */
export async function issuesListCommand(flags: IssuesListFlags, io: CliIo): Promise<number> {
  const store = await openStoreToRead(flags.store);
  try {
    const states = flags.state === undefined ? SHOWN : ISSUE_STATES.filter((state) => state === flags.state);
    const found: Issue[] = [];
    for (const state of states) found.push(...(await store.issues.list(state, flags.limit + 1, flags.agent)));
    const issues = found.slice(0, flags.limit);
    if (found.length > issues.length)
      io.err(`rootspan: ${issues.length} issues; there are more: --limit <n>\n`);
    if (issues.length === 0) io.err(`rootspan: no issue is ${states.join(' or ')}\n`);
    if (flags.json ?? !io.outIsTerminal) io.out(issues.map((issue) => `${JSON.stringify(issue)}\n`).join(''));
    else io.out(renderIssues(issues, nowIso(), { palette: palette(io), width: widthOf(io) }));
    return 0;
  } finally {
    await store.close();
  }
}

export async function issuesShowCommand(id: string, flags: Flags, io: CliIo): Promise<number> {
  return await withIssue(id, flags, io, (store, issue) => store.issues.get(issue));
}

export async function issuesStateCommand(
  id: string,
  state: 'open' | 'resolved' | 'muted',
  flags: Flags,
  io: CliIo,
): Promise<number> {
  return await withIssue(id, flags, io, (store, issue) => store.issues.setState(issue, state));
}

async function withIssue(
  id: string,
  flags: Flags,
  io: CliIo,
  work: (store: OpenStore, id: string) => Promise<Issue | null>,
): Promise<number> {
  const wanted = issueId('<issue>', id);
  const store = await openStoreToRead(flags.store);
  try {
    const issue = await work(store, wanted);
    if (issue === null)
      throw new UsageError(
        `no issue ${wanted} in ${flags.store}; \`rootspan issues list\` shows what there is`,
      );
    if (flags.json ?? !io.outIsTerminal) io.out(`${JSON.stringify(issue, null, 2)}\n`);
    else io.out(renderIssue(issue, nowIso(), { palette: palette(io), width: widthOf(io) }));
    return 0;
  } finally {
    await store.close();
  }
}

const nowIso = (): string => new Date().toISOString();
