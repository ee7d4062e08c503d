import type { StepRenderer } from '../prompting/render-steps.ts';
import { renderCut, renderName } from '../prompting/render-text.ts';
import type { ToolDefinition } from '../session/session.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { turnOfStep, turnsOf } from '../trajectory/turns.ts';
import { chunkBudget } from './chunk-settings.ts';
import { findEarlierSpans, renderEarlierSpan } from './earlier-spans.ts';
import { summariseBefore } from './earlier-steps.ts';
import type { ChunkSettings, EarlierSpan } from './plan.ts';

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
  /** Spans before the chunk that its steps go back to; none for a whole session. */
  earlierSpans(steps: readonly number[], renderer: StepRenderer): readonly EarlierSpan[];
  /** What depends on every step of the chunk; takes at most `reservedTokens(settings)`. Empty for a whole session. */
  ofSteps(steps: readonly number[], earlier: readonly EarlierSpan[], renderer: StepRenderer): string;
  /** The line that opens a turn in a session of several, with its line end; empty elsewhere. */
  turnLine(step: number): string;
}

/**
 * UTF-8 bytes of the header for each token of the budget. The sections together may take 1.25 of this, so ordinary
 * text (4 bytes a token) takes less than a fifth of the budget, and text of one byte a token still leaves a quarter.
 */
const HEADER_BYTES_PER_BUDGET_TOKEN = 0.6;
/** Bytes of excerpts of earlier spans: a twenty-fifth of the budget in tokens, and a token has a byte at least. */
const EARLIER_SHARE = 0.04;
const EARLIER_MOST = 2_400;
/** `@part: spans s12345 to s23456 of 34567; the run goes on after them` and its line end. */
const PART_BYTES = 120;
/** A turn's request where it is said again away from its place. */
const TURN_GOAL_BYTES = 600;

const earlierBytes = (settings: ChunkSettings): number =>
  Math.min(EARLIER_MOST, Math.floor(chunkBudget(settings) * EARLIER_SHARE));

/** Tokens that a planner keeps free for `ofSteps`: as many as it has bytes, whatever the text. */
export const reservedTokens = (settings: ChunkSettings): number => PART_BYTES + earlierBytes(settings);

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

  const turns = turnsOf(trajectory);
  const says = (step: number, goal: string | null): boolean =>
    trajectory.steps[step]?.parts.some(
      ({ role, block }) => role === 'user' && block.type === 'text' && block.text.trim() === goal?.trim(),
    ) === true;
  const firstSteps = new Map(turns.map((turn) => [turn.firstStep, turn]));
  const goalOf = (turn: { readonly goal: string | null }): string =>
    renderCut(turn.goal ?? 'not recorded', Math.min(TURN_GOAL_BYTES, room / 4)).text;

  let before: ReturnType<typeof summariseBefore> | undefined;

  return {
    systemPromptWhole: !system.cut,
    turnLine(step) {
      const turn = turns.length > 1 ? firstSteps.get(step) : undefined;
      return turn === undefined ? '' : `@turn ${turn.index + 1} of ${turns.length}\n`;
    },
    earlierSpans(steps, renderer) {
      if (whole || (steps[0] ?? 0) === 0) return [];
      return findEarlierSpans(trajectory, steps, renderer.aliases, earlierBytes(settings));
    },
    ofSteps(steps, earlier, renderer) {
      if (whole) return '';
      const [first = 0, last = first] = [steps[0], steps.at(-1)];
      const all = trajectory.steps.length;
      const goesOn = last < all - 1 ? '; the run goes on after them' : '; the last is the end of the run';
      const part = `@part: spans ${renderer.aliases.of(first)} to ${renderer.aliases.of(last)} of ${all}${goesOn}\n`;
      return part + earlier.map((span) => renderEarlierSpan(trajectory, span, renderer.aliases)).join('');
    },
    sections(firstStep, shows, renderer) {
      const sections: string[] = [];
      // A session of nothing opens with nothing.
      if (trajectory.steps.length === 0) return sections;
      const turn = turnOfStep(turns, firstStep);
      if (turns.length > 1 && turn !== undefined) {
        // Each turn has a goal of its own; those that begin in the chunk say it at their place.
        const begins = turn.firstStep === firstStep && shows(firstStep) && says(firstStep, turn.goal);
        if (!begins) {
          sections.push(
            `@goal: the spans shown begin within turn ${turn.index + 1} of ${turns.length}, whose request is: ${goalOf(turn)}`,
          );
        }
      } else if (goal === '') {
        sections.push('@goal: none is recorded');
      } else {
        const seen = goalStep !== -1 && shows(goalStep);
        sections.push(
          seen ? `@goal: the user's request at ${renderer.aliases.of(goalStep)}` : `@goal: ${goalText}`,
        );
      }
      sections.push(`@system: ${system.text === '' ? 'no instructions are recorded' : system.text}`);
      if (trajectory.tools.length > 0)
        sections.push(firstStep === 0 ? `@tools:\n${definitions}` : `@tools in short: ${digest}`);
      if (firstStep > 0) {
        before ??= summariseBefore(trajectory);
        sections.push(`@before: ${before(firstStep, renderer)}`);
      }
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
