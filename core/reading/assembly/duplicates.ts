import { canonicalJson } from '../../base/hash.ts';
import type { Message } from '../../session/session.ts';
import { buildOther } from '../conventions/build-other.ts';
import { addError, blocksOf, type InferenceContent, isInference, isTool, type Work } from './work.ts';

/**
 * Counts each model call once. Framework, SDK and HTTP layer may each have a span for it: nested in one another
 * with no tool or agent between, or with one response id. The outermost stays and takes what the others know
 * better; they become `other` spans flagged `merged-duplicate`. An outer span over several answered calls is not a
 * call but their sum, so there the inner ones stay. Nested spans of one tool call are merged in the same way.
 */
export function mergeDuplicates(works: readonly Work[]): void {
  const byId = new Map(works.map((work) => [work.spanId, work]));
  const inner = new Map<Work, Work[]>();
  for (const work of works) {
    const outer = isInference(work) ? enclosingCall(work, byId) : null;
    if (outer === null) continue;
    const list = inner.get(outer);
    if (list === undefined) inner.set(outer, [work]);
    else list.push(work);
  }
  for (const outer of works) {
    const calls = (inner.get(outer) ?? []).filter(isInference);
    if (calls.length === 0 || !isInference(outer)) continue;
    const answered = calls.filter((call) => call.errors.length === 0 && call.raw.status.code !== 'error');
    if (answered.length > 1) demote(outer);
    else for (const call of calls) absorb(outer, call);
  }
  mergeByResponse(works);
  mergeByAnswer(works);
  for (const work of works) {
    const outer = isTool(work) ? enclosingTool(work, byId) : null;
    if (outer === null || !isTool(outer) || !isTool(work)) continue;
    outer.content.toolResult ??= work.content.toolResult;
    outer.content.toolCall.toolCallId ??= work.content.toolCall.toolCallId;
    for (const error of work.errors.splice(0)) addError(outer, error);
    demote(work);
  }
}

/** The nearest inference above, when nothing that starts a new step lies between. */
function enclosingCall(work: Work, byId: ReadonlyMap<string, Work>): Work | null {
  for (const above of ancestors(work, byId)) {
    if (above.content.kind === 'inference') return isSameCall(above, work) ? above : null;
    if (above.content.kind !== 'other') return null;
  }
  return null;
}

function isSameCall(outer: Work, call: Work): boolean {
  if (outer.flags.has('merged-duplicate')) return false;
  const [a, b] = [outer.content, call.content];
  if (a.kind !== 'inference' || b.kind !== 'inference') return false;
  return a.responseId === undefined || b.responseId === undefined || a.responseId === b.responseId;
}

function enclosingTool(work: Work, byId: ReadonlyMap<string, Work>): Work | null {
  if (!isTool(work)) return null;
  for (const above of ancestors(work, byId)) {
    if (above.content.kind === 'other') continue;
    if (!isTool(above)) return null;
    const [a, b] = [above.content.toolCall, work.content.toolCall];
    const sameId = a.toolCallId !== null && a.toolCallId === b.toolCallId;
    // A transport's span (MCP) often names the tool and no more.
    const sameCall =
      a.name === b.name &&
      (b.arguments === null || canonicalJson(a.arguments) === canonicalJson(b.arguments));
    return sameId || (sameCall && (a.toolCallId === null || b.toolCallId === null)) ? above : null;
  }
  return null;
}

/** Layers of one call lie close together; a bound keeps chains of thousands of spans linear. */
const MAX_LAYERS = 32;

/**
 * What lies above a span by the producer's own word. A place that `arrange` made up for want of a parent is the end:
 * it is no proof that two spans are of one call.
 */
export function* ancestors(work: Work, byId: ReadonlyMap<string, Work>): Generator<Work> {
  let at = statedParent(work, byId);
  for (let layer = 0; at !== undefined && layer < MAX_LAYERS; layer += 1) {
    yield at;
    at = statedParent(at, byId);
  }
}

function statedParent(work: Work, byId: ReadonlyMap<string, Work>): Work | undefined {
  const isMadeUp = (['missing-parent', 'self-parent', 'cycle-cut'] as const).some((flag) =>
    work.flags.has(flag),
  );
  return work.parentSpanId === null || isMadeUp ? undefined : byId.get(work.parentSpanId);
}

function mergeByResponse(works: readonly Work[]): void {
  const first = new Map<string, Work & { content: InferenceContent }>();
  for (const work of works) {
    if (!isInference(work) || work.content.responseId === undefined) continue;
    const known = first.get(work.content.responseId);
    if (known === undefined) first.set(work.content.responseId, work);
    else absorb(known, work);
  }
}

/**
 * Stand-ins made from log records have no place in the tree; two of one trace with the same answer are two
 * recordings of one call, since no model gives a whole answer twice in a trace by chance.
 */
function mergeByAnswer(works: readonly Work[]): void {
  const first = new Map<string, Work & { content: InferenceContent }>();
  for (const work of works) {
    if (!work.detached || !isInference(work)) continue;
    const answer = blocksOf(work.content.output.slice(-1));
    const said = answer
      .map((block) => (block.type === 'text' ? block.text.trim() : canonicalJson(block)))
      .join('\n');
    if (said.length < MIN_ANSWER) continue;
    const known = first.get(said);
    if (known === undefined) first.set(said, work);
    else absorb(known, work);
  }
}

/** Shorter answers ("Done.") may well be given twice. */
const MIN_ANSWER = 40;

function absorb(
  outer: Work & { content: InferenceContent },
  call: Work & { content: InferenceContent },
): void {
  const [a, b] = [outer.content, call.content];
  outer.content = {
    ...b,
    ...a,
    input: richer(a.input, b.input),
    output: richer(a.output, b.output),
    ...(a.tools === undefined && b.tools !== undefined ? { tools: b.tools } : {}),
  };
  // A layer that fails on the way to an answer stays visible where it failed.
  if (outer.raw.status.code === 'error' || outer.errors.length > 0 || call.content.output.length === 0) {
    for (const error of call.errors.splice(0)) addError(outer, error);
  }
  for (const flag of call.flags)
    if (flag.startsWith('content-') || flag === 'index-capped') outer.flags.add(flag);
  outer.agent ??= call.agent;
  demote(call);
}

function demote(work: Work): void {
  work.content = buildOther(work.raw).span;
  work.flags.add('merged-duplicate');
  for (const flag of [...work.flags]) if (flag.startsWith('content-')) work.flags.delete(flag);
}

/** The recording with more calls and results, then more blocks, then more text; on a tie the outer one. */
function richer(a: readonly Message[], b: readonly Message[]): Message[] {
  return [...(compareScores(score(b), score(a)) > 0 ? b : a)];
}

function score(messages: readonly Message[]): readonly number[] {
  const blocks = blocksOf(messages);
  const linked = blocks.filter(
    (block) => (block.type === 'tool_use' || block.type === 'tool_result') && block.toolCallId !== null,
  );
  const text = blocks.reduce((sum, block) => sum + ('text' in block ? block.text.trim().length : 0), 0);
  return [linked.length, blocks.length, text];
}

function compareScores(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i] ?? 0;
    if (value !== other) return value - other;
  }
  return 0;
}
