import type { Step, Trajectory } from './trajectory.ts';
import { readUtterances, type Utterance } from './utterances.ts';

/** One request of the user and everything done for it. The turns of a session are all its steps, in order. */
export interface Turn {
  /** 0-based. */
  readonly index: number;
  /** Indices of its first and last step, both included. */
  readonly firstStep: number;
  readonly lastStep: number;
  /** The user's words, up to the first tool call made for them; `null` where none are recorded. */
  readonly goal: string | null;
}

/**
 * Where a new request begins. A message of the user opens a turn where a conversation starts over, or where a new
 * trace begins with it (an invocation of the agent, an item of a queue), unless it goes on with the request before:
 *
 * - nothing was said or done since the user's last message, or nothing follows this one;
 * - the agent has just asked the user something: its last words hold a question;
 * - the agent, in a session with tools, has called none since the user's last message: the request is still being made.
 *
 * So the messages of one conversation in one trace or list are one turn: answers, corrections and additions do not
 * become goals of their own. A conversation starts over where the first model call of a trace, or its list of messages,
 * holds nothing of what an agent said before, and where the session's system prompt is said again between messages.
 * Under one root span (an invocation, a workflow) only the first user text is the user's: others are hand-overs between
 * agents and reminders. Tool results, executors and agents in group chats are not the user, whatever their role. A
 * session without any word of the user is one turn.
 */
export function turnsOf(trajectory: Trajectory): readonly Turn[] {
  const known = cache.get(trajectory);
  if (known !== undefined) return known;
  const found = readTurns(trajectory);
  cache.set(trajectory, found);
  return found;
}

const cache = new WeakMap<Trajectory, readonly Turn[]>();

/** The turn of a step, by its index in the trajectory. */
export function turnOfStep(turns: readonly Turn[], step: number): Turn | undefined {
  return turns.findLast(({ firstStep }) => firstStep <= step);
}

interface Opening {
  readonly firstStep: number;
  readonly texts: string[];
}

function readTurns(trajectory: Trajectory): readonly Turn[] {
  const { steps } = trajectory;
  if (steps.length === 0) return [];
  const openings = findOpenings(trajectory);
  return openings.map(({ firstStep, texts }, index) => {
    const said = texts.join('\n');
    // A task that the format states apart from the messages is the first request.
    const stated = index === 0 && trajectory.goal !== null && !texts.includes(trajectory.goal.trim());
    return {
      index,
      firstStep,
      lastStep: (openings[index + 1]?.firstStep ?? steps.length) - 1,
      goal: stated ? trajectory.goal : said === '' ? null : said,
    };
  });
}

function findOpenings(trajectory: Trajectory): readonly Opening[] {
  const { steps, exchanges } = trajectory;
  const rootOf = makeRootOf(steps);
  const words = Map.groupBy(
    readUtterances(trajectory).filter(({ reasoning, text }) => !reasoning && text.trim() !== ''),
    ({ step }) => step.index,
  );
  const calls = new Set(exchanges.map(({ callStep }) => callStep));
  const lastActive = steps.findLastIndex(({ index }) => isOfAgent(words.get(index) ?? [], calls.has(index)));
  const startsOver = makeStartsOver(trajectory);

  const openings: Opening[] = [{ firstStep: 0, texts: [] }];
  const asked = new Set<number>();
  let fresh = false;
  let agentEver = false;
  let agentSpoke = false;
  let agentAsks = false;
  let calledSinceUser = false;
  let traceOfUser: string | null = null;
  let calledInTurn = false;
  for (const step of steps) {
    fresh ||= startsOver(step, agentEver);
    const root = rootOf(step);
    const said = words.get(step.index) ?? [];
    const texts = asked.has(root)
      ? []
      : said.filter(({ voice }) => voice === 'human').map(({ text }) => text.trim());
    if (texts.length > 0) {
      asked.add(root);
      const current = openings.at(-1);
      const goesOn =
        !fresh &&
        (step.span.traceId === traceOfUser ||
          !agentSpoke ||
          agentAsks ||
          (calls.size > 0 && !calledSinceUser) ||
          step.index > lastActive);
      if (current === undefined || (!goesOn && agentEver)) {
        openings.push({ firstStep: beginning(step, steps, rootOf, words), texts });
        calledInTurn = false;
      } else if (!calledInTurn) {
        current.texts.push(...texts);
      }
      traceOfUser = step.span.traceId;
      fresh = false;
      agentSpoke = false;
      agentAsks = false;
      calledSinceUser = false;
    }
    const last = said.findLast(({ voice }) => voice === 'agent');
    if (last !== undefined) agentAsks = asksUser(last.text);
    if (isOfAgent(said, calls.has(step.index))) {
      agentEver = true;
      agentSpoke = true;
    }
    if (calls.has(step.index)) {
      calledSinceUser = true;
      calledInTurn = true;
    }
  }
  return openings;
}

const isOfAgent = (said: readonly Utterance[], calls: boolean): boolean =>
  calls || said.some(({ voice }) => voice === 'agent');

/** How much of the end of a message is looked through for a question: one may be followed by its choices. */
const ENDING = 600;

/** A question mark that ends a word, so that addresses do not count. */
const asksUser = (text: string): boolean => /[?？؟](?![\p{L}\p{N}=&/])/u.test(text.trim().slice(-ENDING));

/** Index of the topmost step above a step in its trace; its own where nothing is above it. */
function makeRootOf(steps: readonly Step[]): (step: Step) => number {
  const key = (traceId: string, spanId: string): string => `${traceId}\0${spanId}`;
  const bySpan = new Map(steps.map((step) => [key(step.span.traceId, step.spanId), step]));
  const roots = new Map<number, number>();
  return (step) => {
    const path: number[] = [];
    const seen = new Set<number>();
    let at = step;
    let root = roots.get(at.index);
    while (root === undefined) {
      path.push(at.index);
      seen.add(at.index);
      const { parentSpanId, traceId } = at.span;
      const parent = parentSpanId === null ? undefined : bySpan.get(key(traceId, parentSpanId));
      if (parent === undefined || seen.has(parent.index)) root = at.index;
      else {
        at = parent;
        root = roots.get(at.index);
      }
    }
    for (const index of path) roots.set(index, root);
    return root;
  };
}

/** The first step of what belongs to a request: its run, and silent spans or system messages right before it. */
function beginning(
  step: Step,
  steps: readonly Step[],
  rootOf: (step: Step) => number,
  words: ReadonlyMap<number, readonly Utterance[]>,
): number {
  const root = rootOf(step);
  let first = step.index;
  for (let at = steps[first - 1]; at !== undefined; at = steps[first - 1]) {
    const silent =
      at.span.traceId === step.span.traceId &&
      at.kind !== 'execute_tool' &&
      (words.get(at.index) ?? []).every(({ voice }) => voice === 'system');
    if (rootOf(at) !== root && !silent) break;
    first = at.index;
  }
  return first;
}

/** Says of each step, asked in order, whether a conversation starts over with it. */
function makeStartsOver({ systemPrompt }: Trajectory): (step: Step, agentSpoke: boolean) => boolean {
  let trace: string | null = null;
  /** The trace at hand has shown neither a model's input nor a message yet. */
  let undecided = false;
  return (step, agentSpoke) => {
    const { span } = step;
    if (span.traceId !== trace) {
      undecided = trace !== null;
      trace = span.traceId;
    }
    if (!agentSpoke) return false;
    if (span.kind === 'message') {
      const first = undecided;
      undecided = false;
      return first || (systemPrompt !== null && isSystemPrompt(step, systemPrompt));
    }
    if (!undecided || span.kind !== 'inference' || span.input.length === 0) return false;
    undecided = false;
    return span.input.every(({ role }) => role === 'system' || role === 'user');
  };
}

const isSystemPrompt = ({ parts }: Step, prompt: string): boolean =>
  parts.some(
    ({ role, block }) => role === 'system' && block.type === 'text' && block.text.trim() === prompt.trim(),
  );
