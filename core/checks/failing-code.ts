import type { CheckFinding } from '../diagnosis/check-report.ts';
import { classifyError } from '../trajectory/classify-error.ts';
import { codeBlocks, reportedExitCode } from '../trajectory/execution-report.ts';
import { readUtterances, type Utterance } from '../trajectory/utterances.ts';
import { errorClassRow } from '../vocabulary/error-classes.ts';
import type { CategoryId } from '../vocabulary/taxonomy.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'failing-code';

/**
 * Code that an agent wrote and that failed when it was run. The author is at fault, not the executor, so the
 * finding stands at the author's step. Runs are told by reports of an exit code; tool-based execution is seen by
 * the check for explicit errors.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none; they run no code, so the rate on coding agents is
 * unknown (34 of 63 failed group chats).
 */
export const failingCode: Check = {
  id: ID,
  title: 'Code written by an agent failed when it was run',
  categories: [
    'coding-use-case-specific-failure-types-category-edge-case-oversights',
    'coding-use-case-specific-failure-types-category-dependency-issues',
    'execution-error-category-formatting',
    'execution-error-category-authentication',
    'execution-error-category-resource-not-found',
  ],
  run(trajectory) {
    const runs = codeRuns(readUtterances(trajectory));
    const findings: CheckFinding[] = [];
    runs.forEach(({ author, report, failed }, place) => {
      if (!failed) return;
      const later = runs.slice(place + 1, place + 1 + LOOK_AHEAD);
      const recovered = later.length === 0 ? false : later.some((run) => !run.failed) ? null : false;
      const errorAt = lastErrorLine(report.text);
      findings.push({
        checkId: ID,
        spanId: author.step.spanId,
        category: categoryOf(report.text),
        confidence: recovered === false ? 0.9 : 0.5,
        summary: 'The code written here failed when it was run',
        evidence: [
          evidence(
            report.step.spanId,
            quoteAround(report.text, errorAt.start, errorAt.end),
            'what running it reported',
          ),
          evidence(
            author.step.spanId,
            quoteAround(author.text, codeBlocks(author.text)[0]?.start ?? 0),
            'the code',
          ),
        ],
        weight: recovered === false ? 'failure' : 'evidence',
        recovered,
        criticalCategory: 'invalid-invocation',
      });
    });
    return findings;
  },
};

/** Later runs looked at for a recovery; bounds the work on sessions with very many runs. */
const LOOK_AHEAD = 50;

export interface CodeRun {
  readonly author: Utterance;
  readonly report: Utterance;
  readonly failed: boolean;
}

/** Each report of an exit code with the last agent text before it that carries code. */
export function codeRuns(utterances: readonly Utterance[]): readonly CodeRun[] {
  const runs: CodeRun[] = [];
  let author: Utterance | null = null;
  for (const utterance of utterances) {
    if (utterance.voice === 'agent' && utterance.text.includes('```')) author = utterance;
    if (utterance.voice !== 'executor' || author === null) continue;
    const code = reportedExitCode(utterance.text);
    if (code !== null) runs.push({ author, report: utterance, failed: code !== 0 });
  }
  return runs;
}

const ERROR_LINE = /^[ \t]{0,8}(?:[\w.]{1,80}(?:Error|Exception|Warning)\b|Error\b|fatal:)[^\n]{0,300}$/gim;

function lastErrorLine(text: string): { start: number; end: number } {
  const from = Math.max(0, text.length - 20_000);
  let found: { start: number; end: number } = { start: 0, end: 0 };
  for (const match of text.slice(from).matchAll(ERROR_LINE)) {
    found = { start: from + match.index, end: from + match.index + match[0].length };
  }
  return found;
}

function categoryOf(report: string): CategoryId {
  const tail = report.slice(-2_000);
  if (/ModuleNotFoundError|\bImportError\b|NameError|command not found|: not found/.test(tail)) {
    return 'coding-use-case-specific-failure-types-category-dependency-issues';
  }
  const kind = classifyError({ text: tail }).class;
  const category = kind === null ? null : errorClassRow(kind).category;
  if (category !== null && FAILING_CODE_CATEGORIES.has(category)) return category;
  return 'coding-use-case-specific-failure-types-category-edge-case-oversights';
}

const FAILING_CODE_CATEGORIES = new Set<CategoryId>([
  'execution-error-category-formatting',
  'execution-error-category-authentication',
  'execution-error-category-resource-not-found',
]);
