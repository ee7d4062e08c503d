import type { Usage } from '../../core/model/port.ts';
import { PUBLISHED } from './published.ts';
import type { GroupResult } from './run.ts';
import { type Rate, rateOf } from './wilson.ts';

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`;

/** `46.2 % [33.4, 59.4] 6/13`; a dash where nothing was measured. */
function rate(value: Rate): string {
  if (value.n === 0) return '–';
  const interval = `[${(value.low * 100).toFixed(1)}, ${(value.high * 100).toFixed(1)}]`;
  return `${percent(value.share)} ${interval} ${Number(value.hits.toFixed(2))}/${value.n}`;
}

const short = (value: Rate): string => (value.n === 0 ? '–' : percent(value.share));

/** All figures of a run as text: the same results give the same text, so no time or machine stands in it. */
export function accuracyTable(groups: readonly GroupResult[]): string {
  return groups.map(groupTable).join('\n\n');
}

function groupTable(result: GroupResult): string {
  const lines = [`== ${result.group}: ${result.failedRuns} failed, ${result.healthyRuns} healthy runs`];
  const { metrics } = result;
  if (metrics !== null) {
    const columns = ['', 'measured (95 % Wilson)', ...result.baselines.map((baseline) => baseline.name)];
    const line = (label: string, measured: string, other: (index: number) => string): string[] => [
      label,
      measured,
      ...result.baselines.map((_, index) => other(index)),
    ];
    const rows = [
      ...metrics.within.map(({ k, rate: ourRate }, i) =>
        line(k === 0 ? 'exact step' : `within ±${k}`, rate(ourRate), (index) => {
          const other = result.baselines[index]?.within[i]?.rate;
          return other === undefined ? '–' : short(other);
        }),
      ),
      line('in first three', rate(metrics.topThree), () => ''),
      line(
        'mean distance',
        metrics.meanDistance.toFixed(1),
        (index) => result.baselines[index]?.meanDistance.toFixed(1) ?? '–',
      ),
      line('category: critical', rate(metrics.category.critical), (index) => {
        const other = result.baselines[index]?.categoryCritical;
        return other === undefined ? '–' : short(other);
      }),
      line('category: any', rate(metrics.category.any), () => ''),
      line('category: earliest', rate(metrics.category.earliest), () => ''),
      line('category: terminal', rate(metrics.category.terminal), () => ''),
      line('agent', rate(metrics.agent), (index) => {
        const other = result.baselines[index]?.agent;
        return other === undefined ? '–' : short(other);
      }),
      line('named a step', `${metrics.answered}/${metrics.runs}`, () => ''),
    ];
    lines.push(...align([columns, ...rows]), ...publishedLines(result), ...categoryLines(result));
  }
  if (result.falseAlarms !== null) {
    lines.push('', `false alarms on healthy runs (confidence ≥ 0.75): ${rate(result.falseAlarms)}`);
  }
  lines.push(...outcomeLines(result));
  if (result.agreement !== null) {
    const { repeats, step, category } = result.agreement;
    lines.push(`agreement of ${repeats} repeats: step ${percent(step)}, category ${percent(category)}`);
  }
  lines.push('', ...costLines(result));
  return lines.join('\n');
}

/** What a user sees: the outcomes of first diagnoses. */
function outcomeLines({ runs }: GroupResult): string[] {
  const shareOf = (healthy: boolean, outcome: string): string => {
    const part = runs.filter((run) => run.healthy === healthy);
    return rate(
      rateOf(part.filter(({ predictions }) => predictions[0]?.outcome === outcome).length, part.length),
    );
  };
  return [
    ...(runs.some(({ healthy }) => healthy)
      ? [`healthy runs FAILED: ${shareOf(true, 'FAILED')}`, `healthy runs FLAWED: ${shareOf(true, 'FLAWED')}`]
      : []),
    ...(runs.some(({ healthy }) => !healthy) ? [`failed runs FAILED: ${shareOf(false, 'FAILED')}`] : []),
  ];
}

function publishedLines({ group }: GroupResult): string[] {
  const figures = PUBLISHED[group];
  if (figures.length === 0) return [];
  return [
    '',
    'published, full set (exact step / category):',
    ...figures.map(
      ({ what, step, category }) =>
        `  ${what}: ${step.toFixed(1)} % / ${category === null ? '–' : `${category.toFixed(1)} %`}`,
    ),
  ];
}

function categoryLines({ metrics }: GroupResult): string[] {
  if (metrics === null || metrics.perCategory.length === 0) return [];
  const ratio = (value: number | null): string => (value === null ? '–' : percent(value));
  return [
    '',
    ...align([
      ['category', 'gold', 'predicted', 'hits', 'precision', 'recall'],
      ...metrics.perCategory.map((score) => [
        score.category,
        String(score.gold),
        String(score.predicted),
        String(score.hits),
        ratio(score.precision),
        ratio(score.recall),
      ]),
    ]),
  ];
}

function costLines(result: GroupResult): string[] {
  const runs = result.runs.reduce((sum, run) => sum + run.predictions.length, 0);
  const row = (stage: string, usage: Usage): string[] => [
    stage,
    String(usage.calls),
    String(Math.round(usage.inputTokens / runs)),
    String(Math.round(usage.outputTokens / runs)),
    String(Math.round(usage.cacheReadTokens / runs)),
    usage.costUsd === null ? 'no price' : (usage.costUsd / runs).toFixed(4),
  ];
  return align([
    ['stage', 'calls', 'in/run', 'out/run', 'cached/run', 'USD/run'],
    ...Object.entries(result.usageByStage).map(([stage, usage]) => row(stage, usage)),
    row('all', result.usage),
  ]);
}

/** Columns padded to their widest cell: the first to the left, the others to the right. */
function align(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, index) =>
        index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}
