import type { Trajectory } from '../session/trajectory.ts';
import type { Check, CheckFinding } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';
import { failureOf } from './exchanges.ts';
import { type Collection, collectionsOf, countsOf, parseResult } from './result-values.ts';
import { readUtterances } from './utterances.ts';

const ID = 'contradicted-count';
/** Below this, people round and summarise ("two addresses"), and sub-lists are too many to tell apart. */
const SMALLEST_COUNT = 4;

/** "there are 11 available options", "a total of 12 results", "I found 7 matching items". */
const STATED =
  /\b(?:there (?:are|were)|(?:we|I) (?:currently )?(?:have|found|see|offer)|found|total of|returned|contains|lists?|includes)\s(?:(?:currently|exactly|a|total|of|now|all)\s){0,3}(\d{1,4})\s(?:[\p{L}'-]{1,30}\s){0,3}?([\p{L}'-]{3,30}s)\b/giu;

/**
 * A number of things stated right after a listing was fetched, that is neither the number of things in it nor the
 * number with any one property. Only lists of objects are counted, only the last result before the statement.
 */
export const contradictedCounts: Check = {
  id: ID,
  title: 'A stated count contradicts the tool output it came from',
  categories: ['hallucination-category-hall-misunderstand'],
  run(trajectory) {
    const results = resultsByStep(trajectory);
    if (results.size === 0) return { blind: 'no tool result of the session can be read as a list' };
    const findings: CheckFinding[] = [];
    let latest: { collections: readonly Collection[]; text: string; spanId: string } | null = null;
    let seenStep = -1;
    for (const one of readUtterances(trajectory)) {
      for (; seenStep < one.step.index; seenStep += 1) latest = results.get(seenStep + 1) ?? latest;
      // What a person says in between changes what is being counted.
      if (one.voice === 'human') latest = null;
      if (one.voice !== 'agent' || one.reasoning || latest === null) continue;
      const source = latest;
      for (const match of one.text.slice(0, 5_000).matchAll(STATED)) {
        const stated = Number(match[1]);
        if (stated < SMALLEST_COUNT) continue;
        const largest = source.collections.reduce((a, b) => (b.items.length > a.items.length ? b : a));
        // A count far from the list is a count of something else.
        if (stated > largest.items.length * 1.5 || stated < largest.items.length / 2) continue;
        if (source.collections.some((list) => countsOf(list).has(stated))) continue;
        findings.push({
          checkId: ID,
          spanId: one.step.spanId,
          category: 'hallucination-category-hall-misunderstand',
          confidence: 0.75,
          summary: `States ${stated} ${(match[2] ?? '').slice(0, 30)}; the listing has ${largest.items.length}`,
          evidence: [
            evidence(
              one.step.spanId,
              quoteAround(one.text, match.index, match.index + match[0].length),
              'the stated count',
            ),
            evidence(source.spanId, quoteAround(source.text), `the listing: ${largest.items.length} entries`),
          ],
          weight: 'failure',
          recovered: null,
          criticalCategory: 'misinterpretation',
        });
        break;
      }
    }
    return findings;
  },
};

function resultsByStep(
  trajectory: Trajectory,
): ReadonlyMap<number, { collections: readonly Collection[]; text: string; spanId: string }> {
  const found = new Map<number, { collections: readonly Collection[]; text: string; spanId: string }>();
  for (const exchange of trajectory.exchanges) {
    if (exchange.resultStep === null || exchange.result === null || failureOf(exchange) !== null) continue;
    const parsed = parseResult(exchange.result);
    const step = trajectory.steps[exchange.resultStep];
    if (parsed === undefined || step === undefined) continue;
    const collections = collectionsOf(parsed);
    if (collections.length > 0) {
      found.set(exchange.resultStep, { collections, text: exchange.result, spanId: step.spanId });
    }
  }
  return found;
}
