import type { StepRenderer } from '../prompting/render-steps.ts';
import { renderCut, renderName } from '../prompting/render-text.ts';
import type { ToolDefinition } from '../session/session.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { chunkBudget } from './chunk-settings.ts';
import type { ChunkSettings } from './plan.ts';

/**
 * What every chunk opens with, so that a later one does not lose what the session is about: goal, system prompt,
 * tools (definitions in the first chunk, names and parameters after), and a line on what went before.
 */
export interface HeaderMaker {
  /** The system prompt stands in the header whole, so steps need not repeat it. */
  readonly systemPromptWhole: boolean;
  /**
   * Each ends with a line end. `firstStep` is the first step of the chunk (overlap included); `shows` says
   * whether the chunk holds that step whole.
   */
  sections(firstStep: number, shows: (stepIndex: number) => boolean, renderer: StepRenderer): string[];
}

/**
 * UTF-8 bytes of the header for each token of the budget. The sections together may take 1.25 of this, so ordinary
 * text (4 bytes a token) takes less than a fifth of the budget, and text of one byte a token still leaves a quarter.
 */
const HEADER_BYTES_PER_BUDGET_TOKEN = 0.6;
const CALLS_NAMED = 8;
const NAME_LENGTH = 40;
const ERRORS_NAMED = 10;

/** `whole`: one call holds the session, so nothing of the header is cut. */
export function makeHeader(trajectory: Trajectory, settings: ChunkSettings, whole: boolean): HeaderMaker {
  const room = whole
    ? Number.POSITIVE_INFINITY
    : Math.max(0, Math.floor(chunkBudget(settings) * HEADER_BYTES_PER_BUDGET_TOKEN));
  const goal = trajectory.goal?.trim() ?? '';
  const goalStep = trajectory.steps.findIndex(({ parts }) =>
    parts.some(({ role, block }) => role === 'user' && block.type === 'text' && block.text.trim() === goal),
  );
  const goalText = renderCut(goal, Math.floor(room / 4)).text;
  const system = renderCut(trajectory.systemPrompt?.trim() ?? '', Math.floor(room / 2));
  const definitions = renderCut(trajectory.tools.map(define).join('\n'), Math.floor(room / 2)).text;
  const digest = renderCut(trajectory.tools.map(signature).join('; '), Math.floor(room / 4)).text;

  return {
    systemPromptWhole: !system.cut,
    sections(firstStep, shows, renderer) {
      const sections: string[] = [];
      if (goal !== '') {
        const seen = goalStep !== -1 && shows(goalStep);
        sections.push(
          seen ? `@goal: the user's request at ${renderer.aliases.of(goalStep)}` : `@goal: ${goalText}`,
        );
      }
      if (system.text !== '') sections.push(`@system: ${system.text}`);
      if (trajectory.tools.length > 0)
        sections.push(firstStep === 0 ? `@tools:\n${definitions}` : `@tools in short: ${digest}`);
      if (firstStep > 0) sections.push(`@before: ${summarise(trajectory, firstStep, renderer)}`);
      return sections.map((section) => `${section}\n`);
    },
  };
}

function define(tool: ToolDefinition): string {
  const schema = tool.parameters === undefined ? '' : ` ${JSON.stringify(tool.parameters)}`;
  const description = tool.description === undefined ? '' : `: ${tool.description.trim()}`;
  return `- ${renderName(tool.name)}${schema}${description}`;
}

/** `book(flight, seat?)`; parameters only as far as the schema lists them. */
function signature(tool: ToolDefinition): string {
  const { parameters } = tool;
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
    return renderName(tool.name);
  const { properties, required } = parameters;
  if (typeof properties !== 'object' || properties === null || Array.isArray(properties))
    return renderName(tool.name);
  const needed = new Set(Array.isArray(required) ? required : []);
  const names = Object.keys(properties).map((name) => `${renderName(name)}${needed.has(name) ? '' : '?'}`);
  return `${renderName(tool.name)}(${names.join(', ')})`;
}

/** One line on the steps before `firstStep`: how many of which kind, calls by tool, where errors were. */
function summarise(trajectory: Trajectory, firstStep: number, renderer: StepRenderer): string {
  const earlier = trajectory.steps.slice(0, firstStep);
  const kinds = tally(earlier.map((step) => step.kind)).map(([kind, n]) => `${n} ${kind}`);
  const calls = tally(
    trajectory.exchanges.filter((call) => call.callStep < firstStep).map((call) => call.name),
  );
  const errors = earlier.filter(
    ({ span }) =>
      span.errors.length > 0 ||
      span.status === 'error' ||
      (span.kind === 'execute_tool' && span.toolResult?.isError === true),
  );
  const named = (items: readonly string[], most: number): string =>
    items.length > most
      ? `${items.slice(0, most).join(', ')} and ${items.length - most} more`
      : items.join(', ');
  return [
    `${renderer.aliases.of(0)} to ${renderer.aliases.of(firstStep - 1)} are in earlier chunks (${kinds.join(', ')})`,
    ...(calls.length > 0
      ? [
          `calls: ${named(
            calls.map(([name, n]) => `${renderName(name.slice(0, NAME_LENGTH).toWellFormed())} ×${n}`),
            CALLS_NAMED,
          )}`,
        ]
      : []),
    ...(errors.length > 0
      ? [
          `errors at ${named(
            errors.map((step) => renderer.aliases.of(step.index)),
            ERRORS_NAMED,
          )}`,
        ]
      : []),
  ].join('; ');
}

/** Counts of equal values, most frequent first, then in order of appearance. */
function tally(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}
