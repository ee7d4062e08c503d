import type { CheckFinding } from '../diagnosis/check-report.ts';
import { blankCode } from '../trajectory/execution-report.ts';
import { agentSpeech } from '../trajectory/utterances.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround, scannedPieces } from './evidence.ts';

const ID = 'leaked-markup';

/** Control tokens of chat templates, and tool-call markup that should have been parsed away. */
const CONTROL_TOKENS =
  /<\|(?:im_start|im_end|im_sep|endoftext|eot_id|end_of_text|begin_of_text|start_header_id|end_header_id|assistant|user|system|tool_call|python_tag|channel|message|return|call)\|>|<｜[^｜\n]{1,40}｜>|\[\/?(?:INST|TOOL_CALLS|AVAILABLE_TOOLS)\]|<<\/?SYS>>|<\/?(?:tool_call|function_calls?|function_call|antml:[a-z_]{1,20}|invoke|tool_use|start_of_turn|end_of_turn)>/;
/** Slots of a template that nobody filled. */
const EMPTY_SLOTS =
  /\{\{\s{0,5}[a-zA-Z_][\w.]{0,60}\s{0,5}\}\}|\$\{[a-zA-Z_][\w.]{0,60}\}|\[(?:insert|your|enter|fill in|add|replace with)\b[^\]\n]{1,60}\]|<(?:insert|your|enter|fill in|add)[ _-][^>\n]{1,60}>|\[object Object\]|\bLorem ipsum\b/i;

/**
 * Internals in what an agent says: template tokens, raw tool-call markup, unfilled template slots. Code blocks
 * are left out, since there such text is ordinary.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none.
 */
export const leakedMarkup: Check = {
  id: ID,
  title: 'Internals or unfilled placeholders leaked into an answer',
  categories: ['llm-output-category-nonsensical'],
  run(trajectory) {
    const findings: CheckFinding[] = [];
    for (const { step, text } of agentSpeech(trajectory)) {
      for (const piece of scannedPieces(text)) {
        const prose = blankCode(piece);
        const token = CONTROL_TOKENS.exec(prose);
        const slot = token === null ? EMPTY_SLOTS.exec(prose) : null;
        const found = token ?? slot;
        if (found === null) continue;
        findings.push({
          checkId: ID,
          spanId: step.spanId,
          category: 'llm-output-category-nonsensical',
          confidence: token !== null ? 0.9 : 0.75,
          summary:
            token !== null
              ? 'The answer carries raw template or tool-call markup'
              : 'The answer has an unfilled slot',
          evidence: [
            evidence(
              step.spanId,
              quoteAround(piece, found.index, found.index + found[0].length),
              `"${found[0].slice(0, 60)}"`,
            ),
          ],
          weight: token !== null ? 'failure' : 'evidence',
          recovered: null,
          criticalCategory: null,
        });
        break;
      }
    }
    return findings;
  },
};
