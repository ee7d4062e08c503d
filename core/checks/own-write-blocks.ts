import type { JsonValue } from '../base/json.ts';
import { isJsonObject } from '../base/json.ts';
import type { CheckFinding } from '../diagnosis/check-report.ts';
import { argumentsAsText, failureOf } from '../trajectory/exchanges.ts';
import { parseResult, scalarsByPath } from '../trajectory/result-values.ts';
import type { ToolExchange, Trajectory } from '../trajectory/trajectory.ts';
import { readUtterances } from '../trajectory/utterances.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'own-write-blocks';

/** What an agent says when a state stands in the way. */
const CANNOT =
  /\b(?:can(?:not| no longer|'t|’t)|unable to|no longer (?:able|possible)|not possible to|won(?:'|’)t be able to)\b[^.\n]{0,200}\b(?:modif|chang|updat|edit|cancel|revert|undo|mak|add|remov)[a-z]{0,6}\b/i;
const ALREADY =
  /\b(?:already been|has been|have been|was already|only be (?:used|called|made|done) once|once per)\b/i;

/**
 * The agent's own earlier write stands in the way of what it has to do later: a call on some thing changed its
 * state, and afterwards a call on the same thing is refused, or the agent says that it can no longer change it.
 * The finding stands at the write, where the order of actions went wrong. The write is known by its effect: two
 * readings of the thing differ across it.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none.
 */
export const ownWriteBlocks: Check = {
  id: ID,
  title: "The agent's own earlier write blocked a later action",
  categories: ['task-instruction-category-problem-id'],
  reads: 'tool-calls',
  run(trajectory) {
    const stateful = stateWrites(trajectory).filter((write) => write.statusChanged);
    if (stateful.length === 0) return [];
    const byId = new Map<string, Write[]>();
    for (const write of stateful) {
      const group = byId.get(write.id);
      if (group === undefined) byId.set(write.id, [write]);
      else group.push(write);
    }
    const findings: CheckFinding[] = [];
    const reported = new Set<ToolExchange>();
    const report = (write: Write, spanId: string, quote: string, note: string, confidence: number): void => {
      const step = trajectory.steps[write.exchange.callStep];
      if (step === undefined || reported.has(write.exchange)) return;
      reported.add(write.exchange);
      findings.push({
        checkId: ID,
        spanId: step.spanId,
        category: 'task-instruction-category-problem-id',
        confidence,
        summary: `This call changed the state of ${write.id.slice(0, 60)} and so shut out a later change to it`,
        evidence: [
          evidence(step.spanId, quoteAround(argumentsAsText(write.exchange)), 'the write'),
          evidence(spanId, quote, note),
        ],
        weight: confidence >= 0.75 ? 'failure' : 'evidence',
        recovered: false,
        criticalCategory: 'intent-plan-misalignment',
      });
    };
    for (const exchange of trajectory.exchanges) {
      const failed = failureOf(exchange);
      if (failed === null) continue;
      const write = [...identifiersOf(exchange.arguments)]
        .flatMap((id) => lastBefore(byId.get(id) ?? [], exchange.callStep) ?? [])
        .at(-1);
      const step = trajectory.steps[exchange.resultStep ?? exchange.callStep];
      if (write === undefined || step === undefined) continue;
      report(
        write,
        step.spanId,
        quoteAround(failed.result, failed.spot.start, failed.spot.end),
        'the refusal',
        0.75,
      );
    }
    for (const one of readUtterances(trajectory)) {
      if (one.voice !== 'agent' || one.reasoning) continue;
      const text = one.text.slice(0, 5_000);
      const cannot = CANNOT.exec(text);
      if (cannot === null || !ALREADY.test(text)) continue;
      const write = lastBefore(stateful, one.step.index);
      if (write === null) continue;
      report(
        write,
        one.step.spanId,
        quoteAround(text, cannot.index, cannot.index + cannot[0].length),
        'what it shut out',
        0.75,
      );
    }
    return findings;
  },
};

export interface Write {
  readonly exchange: ToolExchange;
  readonly id: string;
  /** Not only the written fields changed, but one that was not among the arguments: a state. */
  readonly statusChanged: boolean;
}

/** Identifiers among arguments: scalar values under a key that names an id. */
function identifiersOf(value: JsonValue): ReadonlySet<string> {
  const ids = new Set<string>();
  if (!isJsonObject(value)) return ids;
  for (const [key, inner] of Object.entries(value)) {
    if (
      /(?:^|_|[a-z])(?:id|key|number|ref|no)$/i.test(key) &&
      (typeof inner === 'string' || typeof inner === 'number')
    ) {
      ids.add(String(inner));
    }
  }
  return ids;
}

/** Calls known by their effect to have changed something: two readings of it differ across them. */
export function stateWrites(trajectory: Trajectory): readonly Write[] {
  const readings = new Map<string, ReadonlyMap<string, string>>();
  const writes: Write[] = [];
  for (const exchange of trajectory.exchanges) {
    if (exchange.result === null || failureOf(exchange) !== null) continue;
    const parsed = parseResult(exchange.result);
    if (!isJsonObject(parsed)) continue;
    const now = scalarsByPath(parsed);
    const given = JSON.stringify(exchange.arguments);
    for (const id of identifiersOf(exchange.arguments)) {
      // The reading must be of the thing itself: its own id stands at the top of it.
      if (!Object.values(parsed).some((value) => value === id)) continue;
      const before = readings.get(id);
      readings.set(id, now);
      if (before === undefined) continue;
      const changed = [...now].filter(([path, value]) => before.has(path) && before.get(path) !== value);
      if (changed.length === 0) continue;
      const statusChanged = changed.some(([path, value]) => STATE_PATH.test(path) && !given.includes(value));
      writes.push({ exchange, id, statusChanged });
    }
  }
  return writes;
}

const STATE_PATH = /\/(?:status|state|phase|stage|condition|lifecycle)[^/]{0,20}$/i;

/** The last write whose call stands before the step. `writes` are in the order of their calls. */
function lastBefore(writes: readonly Write[], step: number): Write | null {
  let low = 0;
  let high = writes.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((writes[middle]?.exchange.callStep ?? 0) < step) low = middle + 1;
    else high = middle;
  }
  return writes[low - 1] ?? null;
}
