import wrapAnsi from 'wrap-ansi';
import { plural } from '../core/base/plural.ts';
import { type Issue, trendOf } from '../core/diagnosis/issue.ts';
import { safeLine } from './escape.ts';
import { issueTitle } from './issue-title.ts';
import type { Palette, TerminalView } from './terminal.ts';

type View = Pick<TerminalView, 'palette' | 'width'>;

/** Issues as lists show them, three or four lines each. */
export function renderIssues(issues: readonly Issue[], nowIso: string, view: View): string {
  return issues.map((issue) => `${issueLines(issue, nowIso, view).join('\n')}\n`).join('');
}

function issueLines(issue: Issue, nowIso: string, { palette, width }: View): string[] {
  const wrapped = (text: string): string[] =>
    wrapAnsi(text, Math.max(20, width - 4), { hard: true }).split('\n');
  const facts = [
    plural(issue.sessions, 'session'),
    trendText(issue, nowIso),
    `first ${minute(issue.firstSeen)}`,
    `last ${minute(issue.lastSeen)}`,
    issue.agent === null ? null : safeLine(issue.agent, 40),
    issue.releases[0] === undefined ? null : `since release ${safeLine(issue.releases[0].release, 40)}`,
  ].filter((fact) => fact !== null);
  return [
    `${palette.bold(issue.issue)}  ${paintOf(issue, palette)(issue.state)}`,
    ...wrapped(issueTitle(issue)).map((line) => `    ${line}`),
    ...wrapped(facts.join(' · ')).map((line) => `    ${palette.dim(line)}`),
    `    ${palette.dim(`e.g. ${safeLine(issue.example, Math.max(10, width - 9))}`)}`,
  ];
}

/** One issue with everything that is known of it. */
export function renderIssue(issue: Issue, nowIso: string, view: View): string {
  const days = Object.entries(issue.days).map(([day, sessions]) => `    ${day}  ${sessions}`);
  const releases = issue.releases.map(({ release, sessions }) => `    ${safeLine(release, 60)}  ${sessions}`);
  return `${[
    ...issueLines(issue, nowIso, view),
    ...(issue.resolvedAt === null ? [] : [`    resolved ${minute(issue.resolvedAt)}`]),
    '',
    view.palette.bold('Sessions by day'),
    ...days,
    ...(releases.length === 0 ? [] : ['', view.palette.bold('Sessions by release'), ...releases]),
  ].join('\n')}\n`;
}

function trendText(issue: Issue, nowIso: string): string {
  const { week, before } = trendOf(issue, nowIso);
  return `${week} in 7 days, ${before} in the 7 before`;
}

const minute = (iso: string): string => iso.slice(0, 16).replace('T', ' ');

function paintOf({ state }: Issue, palette: Palette): (text: string) => string {
  return { open: palette.yellow, regressed: palette.red, resolved: palette.green, muted: palette.dim }[state];
}
