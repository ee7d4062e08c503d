import type { CheckFinding } from '../diagnosis/check-report.ts';
import { readUtterances } from '../trajectory/utterances.ts';
import { type FinishReason, finishReason } from '../vocabulary/finish-reasons.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround, scannedPieces } from './evidence.ts';

const ID = 'blocked';
const WITHHELD: readonly FinishReason[] = ['content-filter', 'refusal'];

/** Walls met on the way: robot tests, filters, paywalls. Words of the pages and services that put them up. */
const WALL =
  /\b(?:verify (?:that )?you are (?:a )?(?:human|not a robot)|are you (?:a )?(?:human|robot)|unusual traffic|complete the (?:captcha|security check)|press and hold|checking (?:if the site connection is secure|your browser)|access to this page has been denied|you have been blocked|sorry, you have been blocked|enable javascript and cookies to continue|subscribe to (?:continue|read)|sign in to (?:continue|view|read)|responsible ?ai ?policy ?violation|content management policy|content_filter|blocked by robots\.txt)\b/i;
/** Also said by agents about a wall, so only a tool's own word counts. */
const TOOL_WALL = /\bcaptcha\b/i;

/** Whether a text speaks of a filter or wall. */
export function isWall(text: string): boolean {
  return scannedPieces(text).some((piece) => WALL.test(piece));
}

/**
 * A filter, a robot test or a wall stood in the way. The plan was fine but for it. Stop reasons of the model are
 * certain; words of a page are taken only from what tools and executors brought.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none; they browse nothing, so the rate on browsing
 * agents is unknown.
 */
export const blocked: Check = {
  id: ID,
  title: 'A guardrail, robot test or wall blocked the way',
  categories: ['execution-error-category-authentication', 'other'],
  run(trajectory) {
    const findings: CheckFinding[] = [];
    const last = trajectory.steps.length - 1;
    for (const { span, index, spanId } of trajectory.steps) {
      if (span.kind !== 'inference') continue;
      const reason = span.finishReasons?.find((word) => WITHHELD.includes(finishReason(word)));
      if (reason === undefined) continue;
      findings.push({
        checkId: ID,
        spanId,
        category: 'other',
        confidence: 0.9,
        summary: `The model's answer was withheld (${reason.slice(0, 40)})`,
        evidence: [evidence(spanId, reason, 'stop reason')],
        weight: 'failure',
        recovered: index === last ? false : null,
        criticalCategory: 'guardrail',
      });
    }
    for (const { step, text, voice } of readUtterances(trajectory)) {
      if (voice === 'human' || voice === 'system') continue;
      for (const piece of scannedPieces(text)) {
        const found = WALL.exec(piece) ?? (voice === 'executor' ? TOOL_WALL.exec(piece) : null);
        if (found === null) continue;
        const near = step.index >= last - 2;
        findings.push({
          checkId: ID,
          spanId: step.spanId,
          category: 'execution-error-category-authentication',
          confidence: near ? 0.75 : 0.5,
          summary: 'A filter or wall stood in the way',
          evidence: [
            evidence(
              step.spanId,
              quoteAround(piece, found.index, found.index + found[0].length),
              `"${found[0].slice(0, 60)}"`,
            ),
          ],
          weight: near ? 'failure' : 'evidence',
          recovered: near ? false : null,
          criticalCategory: 'guardrail',
        });
        break;
      }
    }
    return findings;
  },
};
