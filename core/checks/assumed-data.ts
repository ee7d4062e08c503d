import type { Check, CheckFinding } from './check.ts';
import { evidence, quoteAround, scannedPieces } from './evidence.ts';
import { agentSpeech } from './utterances.ts';

const ID = 'assumed-data';

/**
 * Wording with which an agent says itself that it goes on with data it does not have: assumed, simulated,
 * mocked, hypothetical, placeholder or example values.
 */
const WORDING =
  /\b(?:hypothetical(?:ly)?|simulat(?:e|ed|ing) (?:the |some |a |data|response|result|search|these|this|that|driving|car)|mock(?:ed|ing)?[ _](?:data|values?|dataset|results?|response)|dummy[ _](?:data|values?)|placeholder|(?:example|sample|fictional|made-up|illustrative) (?:data|values?|video id|figures?|numbers?|prices?|results?|list|response)|assum(?:e|ed|es|ing) (?:that |the |we |you |a |an |this |these |it )|for (?:the sake of|demonstration|illustration)|your[_-](?:api[_-])?(?:key|token)|path[/_]to[/_]|let(?:'|’)s (?:assume|suppose|pretend)|I(?:'|’)ll (?:assume|pretend))/i;

/** An agent works on with data that it says it assumed or made up. */
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
