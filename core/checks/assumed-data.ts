import type { CheckFinding } from '../diagnosis/check-report.ts';
import { agentSpeech } from '../trajectory/utterances.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround, scannedPieces } from './evidence.ts';

const ID = 'assumed-data';

/**
 * Wording with which an agent says itself that it goes on with data it does not have: an assumption, data called
 * hypothetical, mock, example and the like, something done for demonstration only, and the fill-ins of code that
 * a reader is meant to replace.
 */
const WORDING =
  /\b(?:(?:hypothetical|mock(?:ed)?|dummy|placeholder|fictional|fictitious|made[- ]up|fake|simulated|illustrative|sample|example) (?!of\b)(?:[\w-]{1,30} ){0,2}?(?:data|datasets?|values?|ids?|numbers?|figures?|prices?|results?|responses?|keys?|records?|scenarios?|analysis|representation)|hypothetically|simulat(?:e|ing) (?:the |a |some |this |these )?(?:data|datasets?|results?|responses?|values?|output)|assum(?:e|ed|es|ing) (?:that|the|we|you|a|an|this|these|it)|for (?:demonstration|illustration|illustrative)(?: purposes)?|let(?:'|’)s (?:assume|suppose|pretend)|your[_-](?:\w{1,40}[_-])?(?:key|token|secret))\b|\bpath\/to\//i;

/**
 * An agent works on with data that it says it assumed or made up. Assumptions are ordinary in plans and in worked
 * examples, so this is evidence only.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none; the rate on group chats that write code is
 * unknown (23 of 63 failed ones, of which 13 at the gold step).
 */
export const assumedData: Check = {
  id: ID,
  title: 'Data was assumed, simulated or left as a placeholder',
  categories: ['hallucination-category-fabricate-tool-outputs'],
  run(trajectory) {
    const findings: CheckFinding[] = [];
    for (const { step, text } of agentSpeech(trajectory)) {
      for (const piece of scannedPieces(text)) {
        const found = WORDING.exec(piece);
        if (found === null) continue;
        findings.push({
          checkId: ID,
          spanId: step.spanId,
          category: 'hallucination-category-fabricate-tool-outputs',
          confidence: 0.5,
          summary: 'The agent goes on with data that it assumed or made up',
          evidence: [
            evidence(
              step.spanId,
              quoteAround(piece, found.index, found.index + found[0].length),
              `"${found[0]}"`,
            ),
          ],
          weight: 'evidence',
          recovered: null,
          criticalCategory: 'invention',
        });
        break;
      }
    }
    return findings;
  },
};
