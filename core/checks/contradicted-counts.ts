import type { CheckFinding } from '../diagnosis/check-report.ts';
import { failureOf } from '../trajectory/exchanges.ts';
import { collectionsOf, countsOf, parseResult } from '../trajectory/result-values.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { readUtterances, saidInOrder } from '../trajectory/utterances.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'contradicted-count';
/** Below this, people round and summarise ("two addresses"), and sub-lists are too many to tell apart. */
const SMALLEST_COUNT = 4;

/** "there are 11 available options", "a total of 12 results", "I found 7 matching items". */
const STATED =
  /\b(?:there (?:are|were)|(?:we|I) (?:currently )?(?:have|found|see|offer)|found|total of|returned|contains|lists?|includes)\s(?:(?:currently|exactly|a|total|of|now|all)\s){0,3}(\d{1,4})\s(?:[\p{L}'-]{1,30}\s){0,3}?([\p{L}'-]{3,30}s)\b/giu;

/**
 * A number of things stated right after a listing was fetched, that is neither the number of things in it nor the
 * number with any one property. Only lists of objects are counted, only the last result before the statement.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none.
 */
export const contradictedCounts: Check = {
  id: ID,
  title: 'A stated count contradicts the tool output it came from',
  categories: ['hallucination-category-hall-misunderstand'],
  run(trajectory) {
    const listings = listingsByStep(trajectory);
    if (listings.size === 0) return { blind: 'no tool result of the session can be read as a list' };
    const findings: CheckFinding[] = [];
    let latest: Listing | null = null;
    let seenStep = -1;
    for (const one of readUtterances(trajectory)) {
      for (; seenStep < one.step.index; seenStep += 1) latest = listings.get(seenStep + 1) ?? latest;
      // What a person says in between changes what is being counted.
      if (one.voice === 'human') latest = null;
      if (one.voice !== 'agent' || one.reasoning || latest === null || !saidInOrder(one)) continue;
      const source: Listing = latest;
      for (const match of one.text.slice(0, 5_000).matchAll(STATED)) {
        const stated = Number(match[1]);
        if (stated < SMALLEST_COUNT) continue;
        // A count far from the list is a count of something else.
        if (stated > source.largest * 1.5 || stated < source.largest / 2) continue;
        if (source.counts.has(stated)) continue;
        findings.push({
          checkId: ID,
          spanId: one.step.spanId,
          category: 'hallucination-category-hall-misunderstand',
          confidence: 0.75,
          summary: `States ${stated} ${(match[2] ?? '').slice(0, 30)}; the listing has ${source.largest}`,
          evidence: [
            evidence(
              one.step.spanId,
              quoteAround(one.text, match.index, match.index + match[0].length),
              'the stated count',
            ),
            evidence(source.spanId, quoteAround(source.text), `the listing: ${source.largest} entries`),
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

/** A result with lists in it. */
interface Listing {
  readonly spanId: string;
  readonly text: string;
  /** Every number of things that it can rightly be said to have. */
  readonly counts: ReadonlySet<number>;
  readonly largest: number;
}

function listingsByStep(trajectory: Trajectory): ReadonlyMap<number, Listing> {
  const found = new Map<number, Listing>();
  for (const exchange of trajectory.exchanges) {
    if (exchange.resultStep === null || exchange.result === null || failureOf(exchange) !== null) continue;
    const parsed = parseResult(exchange.result);
    const step = trajectory.steps[exchange.resultStep];
    if (parsed === undefined || step === undefined) continue;
    const collections = collectionsOf(parsed);
    if (collections.length === 0) continue;
    found.set(exchange.resultStep, {
      spanId: step.spanId,
      text: exchange.result,
      counts: new Set(collections.flatMap((list) => [...countsOf(list)])),
      largest: Math.max(...collections.map((list) => list.items.length)),
    });
  }
  return found;
}
