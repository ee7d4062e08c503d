import type { CheckFinding } from '../diagnosis/check-report.ts';
import { reportedExitCode } from '../trajectory/execution-report.ts';
import { readUtterances, saidInOrder, type Utterance } from '../trajectory/utterances.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'claimed-work-without-tool';

/** First-person reports of finished work, and lists handed out as found. */
const CLAIM =
  /\b(?:I|we)(?:'ve| have| had)? (?:successfully |now |already |also |just |carefully )?(?:checked|verified|retrieved|reviewed|found|searched|confirmed|accessed|located|looked up|gathered|identified|compiled|collected|examined|analy[sz]ed|obtained|extracted|downloaded|watched)\b|\bhere (?:is|are) (?:the |a |some |my )?(?:\w+ ){0,4}(?:list|information|details|results?|ratings?|prices?|pricing|data|findings|summary|figures?|titles?|dates?)\b/i;

/**
 * An agent states results of looking something up, checking or retrieving, though nothing was executed before
 * that could have brought them. Looked for among agents and where tools exist; in a plain conversation with a
 * person there is no other way than to say so.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none; they have tools, so the rate on group chats is
 * unknown (8 of 63 failed ones, of which 6 at the gold step).
 */
export const claimedWork: Check = {
  id: ID,
  title: 'Results of work were stated that no tool did',
  categories: ['hallucination-category-hall-usage'],
  run(trajectory) {
    const utterances = readUtterances(trajectory);
    const opener = utterances.find((one) => one.voice !== 'system');
    const canWork =
      opener?.voice === 'agent' ||
      trajectory.tools.length > 0 ||
      trajectory.exchanges.length > 0 ||
      utterances.some((one) => one.voice === 'executor');
    if (!canWork) return { blind: 'a plain conversation: no tool or executor could have done the work' };
    const findings: CheckFinding[] = [];
    let sources = 0;
    let first = true;
    for (const one of utterances) {
      if (bringsResults(one)) sources += 1;
      if (one.voice !== 'agent' || one.reasoning || !saidInOrder(one)) continue;
      // The first message of a session hands over the task; what it reports was found elsewhere.
      if (first) {
        first = false;
        continue;
      }
      if (sources > 0) break;
      // Where one span covers a whole round of calls, the text may tell of these.
      if (one.step.parts.some((part) => part.block.type === 'tool_use')) break;
      // A text that names where it has things from, or asks for code to be run, is not without a source.
      if (one.text.includes('://')) break;
      if (one.text.includes('```')) continue;
      const found = CLAIM.exec(one.text.slice(0, 20_000));
      if (found === null) continue;
      findings.push({
        checkId: ID,
        spanId: one.step.spanId,
        category: 'hallucination-category-hall-usage',
        confidence: 0.5,
        summary: 'Results are stated, but nothing was run or looked up before',
        evidence: [
          evidence(
            one.step.spanId,
            quoteAround(one.text, found.index, found.index + found[0].length),
            'the claim',
          ),
        ],
        weight: 'evidence',
        recovered: null,
        criticalCategory: 'invention',
      });
    }
    return findings;
  },
};

/** Something was run or called; an executor that only says that it had nothing to do brought nothing. */
function bringsResults({ voice, step, text }: Utterance): boolean {
  if (voice !== 'executor') return false;
  if (reportedExitCode(text) !== null || step.kind === 'execute_tool') return true;
  return step.parts.some(({ block }) => block.type === 'tool_result' && block.toolCallId !== null);
}
