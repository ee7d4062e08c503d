import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { type VerdictPolicy, verdict } from '../../core/report-build/verdict.ts';
import { categoryName } from '../category-name.ts';
import { safeLine } from '../escape.ts';
import { feedbackLines } from '../feedback-lines.ts';
import { placeOf } from './place.ts';

const LIMIT = 600;

/** For a pull request, an issue or the summary of a CI run: verdict, critical step, failures with what to change, gaps. */
export function renderMarkdown(diagnosis: Diagnosis, policy?: VerdictPolicy): string {
  const { criticalStep, failures, rootCauses, coverage, usage, provenance } = diagnosis;
  const lines = [
    `## ${mark(diagnosis)} ${plain(diagnosis.sessionId)}: ${diagnosis.outcome}`,
    '',
    `**${plain(verdict(diagnosis, policy).text)}** (coverage ${coverage.state})`,
  ];
  if (diagnosis.goal !== null) lines.push('', `Goal: ${plain(diagnosis.goal)}`);
  if (criticalStep !== null) {
    lines.push(
      '',
      `### Point of no return: ${plain(placeOf(diagnosis, criticalStep.spanId))}`,
      '',
      `${plain(categoryName(criticalStep.category))}: ${plain(criticalStep.reason)}`,
      ...criticalStep.evidence.slice(0, 3).flatMap(({ quote }) => ['', `> ${plain(quote)}`]),
    );
  }
  if (failures.length > 0) {
    lines.push('', '### Failures', '', '| # | where | what | evidence | change |', '|---|---|---|---|---|');
    for (const [index, failure] of failures.entries()) {
      lines.push(
        `| ${index + 1} | ${plain(placeOf(diagnosis, failure.span_id))} | ${plain(failure.category.map(categoryName).join(', '))} ` +
          `| ${plain(failure.evidence[0] ?? '')} | ${plain(rootCauses[index]?.fix_recommendation ?? '')} |`,
      );
    }
  }
  if (coverage.gaps.length > 0) {
    lines.push(
      '',
      '### Not looked at',
      '',
      ...coverage.gaps.map(({ what, reason }) => `- ${plain(what)}: ${plain(reason)}`),
    );
  }
  const said = feedbackLines(diagnosis);
  if (said.length > 0) lines.push('', '### Feedback', '', ...said.map((line) => `- ${plain(line)}`));
  const cost = usage.costUsd === null ? 'no price on file' : `USD ${usage.costUsd.toFixed(4)}`;
  lines.push('', `Model ${plain(provenance.model)}, depth ${provenance.depth}, ${cost}.`, '');
  return lines.join('\n');
}

const mark = ({ outcome }: Diagnosis): string =>
  ({ FAILED: '❌', FLAWED: '⚠️', CLEAN: '✅', UNKNOWN: '❔' })[outcome];

/** One line of text that stays text: no mark-up, link, mention or table cell of a trace's making. */
export const plain = (text: string): string =>
  safeLine(text, LIMIT)
    .replace(/[\\`*_{}[\]<>|#~!&]/gu, (char) => `\\${char}`)
    // What some renderers link by themselves.
    .replace(/@(?=\w)/gu, '@\u200b')
    .replace(/:\/\//gu, ':\u200b//')
    .replace(/\bwww\./giu, 'www\u200b.');
