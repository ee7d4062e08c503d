import wrapAnsi from 'wrap-ansi';
import { plural } from '../core/base/plural.ts';
import type { Diagnosis, Failure, RootCause } from '../core/diagnosis/schema.ts';
import { isHarmless } from '../core/report-build/outcome.ts';
import { type Verdict, type VerdictPolicy, verdict } from '../core/report-build/verdict.ts';
import { categoryName } from './category-name.ts';
import { safeLine, safeText } from './escape.ts';
import { feedbackLines } from './feedback-lines.ts';
import type { StepView } from './html/session-view.ts';

/** Colours as functions, so that the report stays pure and plain text needs no stripping. */
export interface Palette {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const same = (text: string): string => text;
export const PLAIN: Palette = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

export interface TerminalView {
  readonly palette: Palette;
  /** Columns. */
  readonly width: number;
  readonly policy?: VerdictPolicy;
  /** Steps around the critical one, to be shown under it. */
  readonly around?: readonly StepView[];
}

const QUOTE_LIMIT = 240;

/** One diagnosis for a person at a terminal, most important first: verdict, point of no return, failures, what to change. */
export function renderTerminal(diagnosis: Diagnosis, view: TerminalView): string {
  return [
    heading(diagnosis, view),
    turns(diagnosis, view),
    criticalStep(diagnosis, view),
    around(diagnosis, view),
    failures(diagnosis, view),
    harmless(diagnosis, view),
    recommendations(diagnosis, view),
    saidOf(diagnosis, view),
    gaps(diagnosis, view),
    footer(diagnosis, view),
  ]
    .filter((section) => section.length > 0)
    .map((section) => section.join('\n'))
    .join('\n\n')
    .concat('\n');
}

/** What people said of the failures, and what was left out because of it. */
function saidOf(diagnosis: Diagnosis, { palette, width }: TerminalView): string[] {
  const lines = feedbackLines(diagnosis);
  if (lines.length === 0) return [];
  return [palette.bold('Feedback'), ...lines.map((line) => hang('• ', safeLine(line, 300), 2, width))];
}

function indent(text: string, by: number, width: number): string {
  const pad = ' '.repeat(by);
  const room = Math.max(20, width - by);
  return wrapAnsi(text, room, { hard: true })
    .split('\n')
    .map((line) => pad + line)
    .join('\n');
}

/** A text behind a lead ("• ", "why  "), its further lines aligned with its first. */
function hang(lead: string, text: string, by: number, width: number, paint = same): string {
  const [first = '', ...rest] = indent(text, by + lead.length, width).split('\n');
  return [' '.repeat(by) + paint(lead) + first.slice(by + lead.length), ...rest].join('\n');
}

const MARKS: Readonly<Record<Verdict['decision'], string>> = { pass: '✓', fail: '✗', unknown: '?' };

function heading(diagnosis: Diagnosis, { palette, policy, width }: TerminalView): string[] {
  const { text, decision } = verdict(diagnosis, policy);
  const paint = { pass: palette.green, fail: palette.red, unknown: palette.yellow }[decision];
  const mark = MARKS[decision];
  const who = [diagnosis.agent, diagnosis.service].filter((name): name is string => name !== null);
  const about = [...who, diagnosis.format, plural(diagnosis.coverage.spansTotal, 'span')].map((s) =>
    safeLine(s, 60),
  );
  const lines = [
    wrapAnsi(paint(palette.bold(`${mark} ${safeText(text)}`)), width, { hard: true }),
    `${palette.bold(safeLine(diagnosis.sessionId, 100))}  ${palette.dim(about.join(' · '))}`,
  ];
  if (diagnosis.goal !== null) {
    lines.push(indent(palette.dim(`goal: ${safeLine(diagnosis.goal, 200)}`), 2, width));
  }
  return lines;
}

function place(diagnosis: Diagnosis, spanId: string): string {
  const span = diagnosis.spans.find((entry) => entry.spanId === spanId);
  if (span === undefined) return `span ${safeLine(spanId, 60)}`;
  // In logs of group chats a message is named after its speaker.
  const named = span.agent !== null && span.name.startsWith(span.agent);
  const who = span.agent === null || named ? '' : `${safeLine(span.agent, 40)}, `;
  return `step ${span.position} · ${who}${safeLine(span.name, 50)} · span ${safeLine(spanId, 60)}`;
}

function criticalStep(diagnosis: Diagnosis, { palette, width }: TerminalView): string[] {
  const step = diagnosis.criticalStep;
  if (step === null) return [];
  const agreement = step.agreement === null ? '' : `, ${Math.round(step.agreement * 100)} % of votes`;
  const by = step.judgedBy === 'checks' ? 'by checks, without a model' : `by ${step.judgedBy}`;
  const lines = [
    palette.bold('Point of no return'),
    indent(palette.red(place(diagnosis, step.spanId)), 2, width),
    indent(
      `${categoryName(step.category)}, confidence ${step.confidence.toFixed(2)}${agreement} (judged ${by})`,
      2,
      width,
    ),
    indent(safeText(step.reason), 2, width),
    ...step.evidence
      .slice(0, 3)
      .map((item) => indent(palette.cyan(`“${safeLine(item.quote, QUOTE_LIMIT)}”`), 4, width)),
  ];
  if (step.alternatives.length > 0) {
    const others = step.alternatives.map(
      (other) => `step ${other.position} (${categoryName(other.category)}, ${other.confidence.toFixed(2)})`,
    );
    lines.push(indent(palette.dim(`else: ${others.join('; ')}`), 2, width));
  }
  return lines;
}

/** What was said before and after the critical step. */
function around(diagnosis: Diagnosis, { around: steps = [], palette, width }: TerminalView): string[] {
  if (steps.length === 0) return [];
  return [
    palette.bold('Around it'),
    ...steps.flatMap((step) => {
      const critical = step.spanId === diagnosis.criticalStep?.spanId;
      const who =
        step.agent === null || step.name.startsWith(step.agent) ? step.name : `${step.agent}, ${step.name}`;
      const title = `${critical ? '▶' : ' '} step ${step.position} · ${safeLine(who, 80)}`;
      return [
        indent(critical ? palette.red(title) : title, 2, width),
        ...step.parts.map((part) => {
          const lead = part.kind === 'call' ? `calls ${safeLine(part.name ?? 'a tool', 60)} ` : '';
          return indent(lead + safeLine(part.text, QUOTE_LIMIT * 2), 6, width);
        }),
      ];
    }),
  ];
}

function failures(diagnosis: Diagnosis, view: TerminalView): string[] {
  const standing = diagnosis.failures.filter((failure) => !isHarmless(failure)).length;
  if (standing === 0) return [];
  const lines = [view.palette.bold(`Failures (${standing})`)];
  const fixes = new Map<string, number>();
  for (const [index, failure] of diagnosis.failures.entries()) {
    if (isHarmless(failure)) continue;
    const cause = diagnosis.rootCauses[index];
    lines.push(...failureLines(diagnosis, failure, index, view));
    if (cause === undefined) continue;
    const before = fixes.get(cause.fix_recommendation);
    fixes.set(cause.fix_recommendation, before ?? index + 1);
    lines.push(...causeLines(diagnosis, failure, cause, before ?? null, view));
  }
  return lines;
}

function failureLines(diagnosis: Diagnosis, failure: Failure, index: number, view: TerminalView): string[] {
  const { palette, width } = view;
  const lines = [indent(`${index + 1}. ${palette.yellow(place(diagnosis, failure.span_id))}`, 2, width)];
  for (const [i, category] of failure.category.entries()) {
    const source = failure.source[i];
    const by = source === undefined ? '' : source.kind === 'model' ? 'model' : `${source.kind} ${source.ref}`;
    const confidence = (failure.confidence[i] ?? 0).toFixed(2);
    lines.push(
      indent(
        `${safeLine(categoryName(category), 90)}  ${confidence}  ${palette.dim(safeLine(by, 80))}`,
        5,
        width,
      ),
      indent(palette.cyan(safeLine(failure.evidence[i] ?? '', QUOTE_LIMIT)), 5, width),
    );
  }
  return lines;
}

const FOLDED = 5;

/** Failures that cost nothing: a line each, and beyond a handful only their number. */
function harmless(diagnosis: Diagnosis, { palette, width }: TerminalView): string[] {
  const found = diagnosis.failures.filter(isHarmless);
  if (found.length === 0) return [];
  const lines = found.slice(0, FOLDED).map(({ span_id, category, recoveredBy }) => {
    const by = recoveredBy === null ? '' : `, put right at ${place(diagnosis, recoveredBy)}`;
    return hang(
      '• ',
      `${place(diagnosis, span_id)}: ${safeLine(category.map(categoryName).join(', '), 120)}${by}`,
      2,
      width,
      palette.dim,
    );
  });
  const more = found.length - FOLDED;
  return [
    palette.bold(`Put right or harmless (${found.length})`),
    ...lines,
    ...(more > 0 ? [indent(palette.dim(`and ${more} more (--json lists them)`), 2, width)] : []),
  ];
}

/** Of a session with several requests: those that failed, and how the others went. */
function turns(diagnosis: Diagnosis, { palette, width }: TerminalView): string[] {
  if (diagnosis.turns.length < 2) return [];
  const failed = diagnosis.turns.filter(({ outcome }) => outcome === 'FAILED');
  const others = [...Map.groupBy(diagnosis.turns, ({ outcome }) => outcome)]
    .filter(([outcome]) => outcome !== 'FAILED')
    .map(([outcome, { length }]) => `${length} ${outcome}`);
  return [
    palette.bold(`Turns (${diagnosis.turns.length})`),
    ...failed.map(({ index, goal }) =>
      hang(
        '✗ ',
        `turn ${index + 1}: ${safeLine(goal ?? 'no request is recorded', 200)}`,
        2,
        width,
        palette.red,
      ),
    ),
    ...(others.length > 0 ? [indent(palette.dim(`the others: ${others.join(', ')}`), 2, width)] : []),
  ];
}

function causeLines(
  diagnosis: Diagnosis,
  failure: Failure,
  cause: RootCause,
  /** Number of an earlier failure with the same remedy. */
  sameFixAs: number | null,
  { palette, width }: TerminalView,
): string[] {
  const fix = sameFixAs === null ? safeText(cause.fix_recommendation) : `as for ${sameFixAs}`;
  const where = cause.location === failure.span_id ? 'here' : `at ${place(diagnosis, cause.location)}`;
  const kind = cause.causality.replace('_FAILURE', '').toLowerCase();
  return [
    hang('why  ', `${kind}, ${where}: ${safeText(cause.root_cause_explanation)}`, 5, width, palette.dim),
    hang('fix  ', fix, 5, width, palette.dim),
  ];
}

function recommendations(diagnosis: Diagnosis, { palette, width }: TerminalView): string[] {
  // With one remedy the "fix" line of its failure has said it already.
  if (diagnosis.recommendations.length < 2) return [];
  return [
    palette.bold('What to change'),
    ...diagnosis.recommendations.map((item) => {
      const kind = item.fixType === 'OTHERS' ? '' : `${item.fixType.replaceAll('_', ' ').toLowerCase()}: `;
      return hang('• ', `${kind}${safeText(item.text)}`, 2, width);
    }),
  ];
}

function gaps(diagnosis: Diagnosis, { palette, width }: TerminalView): string[] {
  const { coverage, outcomeReason, quarantined } = diagnosis;
  const missing = coverage.gaps.map(({ what, reason, spanIds }) => {
    const spans = spanIds.length === 0 ? '' : ` (${plural(spanIds.length, 'span')})`;
    // The verdict above has said that reason already.
    return `${what}${spans}${reason === outcomeReason ? '' : `: ${reason}`}`;
  });
  // What could not be read of the input is among the gaps.
  const refused = quarantined
    .filter(({ stage }) => stage !== 'read')
    .map(({ stage, reason }) => `quarantined in ${stage}: ${reason}`);
  const lines = [...missing, ...refused].map((text) =>
    hang('• ', palette.dim(safeText(text)), 2, width, palette.dim),
  );
  return lines.length === 0 ? [] : [palette.bold('Not looked at'), ...lines];
}

function footer(diagnosis: Diagnosis, { palette, width }: TerminalView): string[] {
  const { usage, provenance } = diagnosis;
  const cost = usage.costUsd === null ? 'cost unknown (no price on file)' : `USD ${usage.costUsd.toFixed(4)}`;
  const cached = usage.cacheReadTokens > 0 ? `, ${usage.cacheReadTokens} cached` : '';
  const { mode, chunks } = provenance.chunkPlan;
  const parts = [
    `model ${safeLine(provenance.model, 80)}`,
    `depth ${provenance.depth}`,
    mode === 'direct' ? 'one chunk' : `${chunks} chunks`,
    `${usage.inputTokens} tokens in${cached}, ${usage.outputTokens} out`,
    cost,
    diagnosis.version === 0 ? 'not stored' : `version ${diagnosis.version}`,
    'steps count from 0, in the order of the session',
  ];
  return [wrapAnsi(palette.dim(parts.join(' · ')), width, { hard: true })];
}
