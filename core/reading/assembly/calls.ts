import { canonicalJson } from '../../base/hash.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Message, SpanFlag } from '../../session/session.ts';
import { blocksOf, isInference, isTool, type ToolResult, type ToolUse, type Work } from './work.ts';

/**
 * Pairs tool calls with their results over the whole session: by id; equal ids by their order; without an id by
 * name and arguments; by place in the list only as the last resort, flagged `paired-by-position`. What one
 * recording lacks (arguments, result, whether it failed) is taken from its pair.
 */
export function pairCalls(works: readonly Work[]): void {
  for (const work of works) {
    if (!isInference(work)) continue;
    pairInHistory([...work.content.input, ...work.content.output], work.flags);
    flagRepeatedIds(work);
  }
  const asked = askedCalls(works);
  const results = recordedResults(works);
  giveIds(works, asked);
  const turns = new Map<string, number>();
  for (const work of works) {
    if (!isTool(work)) continue;
    const { toolCall } = work.content;
    if (toolCall.toolCallId === null) continue;
    const turn = turns.get(toolCall.toolCallId) ?? 0;
    turns.set(toolCall.toolCallId, turn + 1);
    const uses = asked.get(toolCall.toolCallId) ?? [];
    const use = uses[turn] ?? (uses.length === 1 ? uses[0] : undefined);
    if (uses.length > 1 || turn > 0) work.flags.add('duplicate-call-id');
    if (use !== undefined && toolCall.arguments === null) {
      toolCall.arguments = use.arguments;
      if (use.argumentsRaw !== undefined) toolCall.argumentsRaw = use.argumentsRaw;
    }
    const found = results.get(toolCall.toolCallId) ?? [];
    const result = found[turn] ?? (found.length === 1 ? found[0] : undefined);
    if (result === undefined) continue;
    if (work.content.toolResult === null) {
      work.content.toolResult = {
        content: result.content,
        isError: result.isError,
        toolCallId: result.toolCallId,
      };
    } else {
      work.content.toolResult.isError ??= result.isError;
    }
  }
}

/** Results without an id answer the calls before them, in order. */
function pairInHistory(messages: readonly Message[], flags: Set<SpanFlag>): void {
  let open: ToolUse[] = [];
  for (const block of blocksOf(messages)) {
    if (block.type === 'tool_use') open.push(block);
    else if (block.type === 'tool_result' && block.toolCallId !== null) {
      const at = open.findIndex((use) => use.toolCallId === block.toolCallId);
      if (at >= 0) open = open.filter((_, index) => index !== at);
    } else if (block.type === 'tool_result') {
      const use = open.shift();
      if (use === undefined || use.toolCallId === null) continue;
      block.toolCallId = use.toolCallId;
      flags.add('paired-by-position');
    }
  }
}

function flagRepeatedIds(work: Work): void {
  if (!isInference(work)) return;
  const seen = new Set<string>();
  for (const block of blocksOf([...work.content.input, ...work.content.output])) {
    if (block.type !== 'tool_use' || block.toolCallId === null) continue;
    if (seen.has(block.toolCallId)) work.flags.add('duplicate-call-id');
    seen.add(block.toolCallId);
  }
}

/**
 * Every call that a model asked for, by id, in order. Answers count as they come; history adds only calls of turns
 * that were not recorded themselves.
 */
function askedCalls(works: readonly Work[]): Map<string, ToolUse[]> {
  const asked = new Map<string, ToolUse[]>();
  const inferences = works.filter(isInference);
  for (const { content } of inferences) collect(asked, blocksOf(content.output));
  for (const { content } of inferences) {
    const history = new Map<string, ToolUse[]>();
    collect(history, blocksOf(content.input));
    for (const [id, uses] of history) if ((asked.get(id)?.length ?? 0) < uses.length) asked.set(id, uses);
  }
  return asked;
}

function collect(into: Map<string, ToolUse[]>, blocks: ReturnType<typeof blocksOf>): void {
  for (const block of blocks) {
    if (block.type !== 'tool_use' || block.toolCallId === null) continue;
    into.set(block.toolCallId, [...(into.get(block.toolCallId) ?? []), block]);
  }
}

/** Results by id as the fullest history has them; the same history is repeated at every call. */
export function recordedResults(works: readonly Work[]): Map<string, ToolResult[]> {
  const results = new Map<string, ToolResult[]>();
  for (const work of works) {
    if (!isInference(work)) continue;
    const resultsHere = new Map<string, ToolResult[]>();
    for (const block of blocksOf([...work.content.input, ...work.content.output])) {
      if (block.type !== 'tool_result' || block.toolCallId === null) continue;
      resultsHere.set(block.toolCallId, [...(resultsHere.get(block.toolCallId) ?? []), block]);
    }
    for (const [id, list] of resultsHere)
      if ((results.get(id)?.length ?? 0) < list.length) results.set(id, list);
  }
  return results;
}

/** Tool spans without an id take that of the call with their name and arguments that no other span has taken. */
function giveIds(works: readonly Work[], asked: ReadonlyMap<string, readonly ToolUse[]>): void {
  const tools = works.filter(isTool);
  const taken = new Set(tools.flatMap((work) => work.content.toolCall.toolCallId ?? []));
  const calls = [...asked].flatMap(([id, uses]) => uses.map((use) => ({ id, use })));
  const byCall = Map.groupBy(calls, ({ use }) => callKey(use.name, use.arguments));
  const byName = Map.groupBy(calls, ({ use }) => use.name);
  for (const work of tools) {
    const { toolCall } = work.content;
    if (toolCall.toolCallId !== null) continue;
    const equal = byCall.get(callKey(toolCall.name, toolCall.arguments)) ?? [];
    const candidates = toolCall.arguments === null ? (byName.get(toolCall.name) ?? []) : equal;
    // Taken calls at the front never come free again, so they are dropped for good.
    while (candidates[0] !== undefined && taken.has(candidates[0].id)) candidates.shift();
    const choice = candidates[0];
    if (choice === undefined) continue;
    const isAlone = candidates === equal && !candidates.some(({ id }, place) => place > 0 && !taken.has(id));
    toolCall.toolCallId = choice.id;
    if (work.content.toolResult !== null) work.content.toolResult.toolCallId = choice.id;
    taken.add(choice.id);
    if (!isAlone) work.flags.add('paired-by-position');
  }
}

function callKey(name: string, args: JsonValue): string {
  return canonicalJson([name, args]);
}
