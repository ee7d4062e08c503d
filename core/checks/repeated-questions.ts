import type { CheckFinding } from '../diagnosis/check-report.ts';
import { readUtterances } from '../trajectory/utterances.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'asked-again';

interface Asked {
  readonly kind: string;
  /** The agent asks for it. */
  readonly ask: RegExp;
  /** A person has given it. */
  readonly given: RegExp;
}

const REQUEST =
  "(?:provide|share|give|send|confirm|enter|tell me|let me know|what(?:'|’)?s|what is|have)[^.?!\\n]{0,60}?";

/** Data with a form that can be told from text. Anything else is for a model. */
const KINDS: readonly Asked[] = [
  {
    kind: 'e-mail address',
    ask: new RegExp(`\\b${REQUEST}\\be-?mail\\b`, 'i'),
    given: /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/,
  },
  {
    kind: 'postal code',
    ask: new RegExp(`\\b${REQUEST}\\b(?:zip|postal)(?: ?code)?\\b`, 'i'),
    given: /\b(?:zip|postal)\b[^.\n]{0,30}\b\d{5}(?:-\d{4})?\b/i,
  },
  {
    kind: 'order number',
    ask: new RegExp(`\\b${REQUEST}\\border (?:id|number)\\b`, 'i'),
    given: /#[A-Z]?\d{4,}|\border (?:id|number)?\s?(?:is|:)?\s?#?[A-Z]?\d{4,}/i,
  },
  {
    kind: 'phone number',
    ask: new RegExp(`\\b${REQUEST}\\bphone number\\b`, 'i'),
    given: /(?:\+?\d[\d ().-]{7,16}\d)/,
  },
];

/**
 * The agent asks the person for something that they have already given in this session.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on 2.
 */
export const repeatedQuestions: Check = {
  id: ID,
  title: 'The person was asked again for what they had given',
  categories: ['repetitive-behavior-category-repetition-info'],
  run(trajectory) {
    const utterances = readUtterances(trajectory);
    if (!utterances.some((one) => one.voice === 'human')) {
      return { blind: 'no message of a person is recorded' };
    }
    const given = new Map<string, { spanId: string; quote: string }>();
    const findings: CheckFinding[] = [];
    for (const { voice, step, text, reasoning } of utterances) {
      const piece = text.slice(0, 5_000);
      if (voice === 'human') {
        for (const { kind, given: pattern } of KINDS) {
          const found = pattern.exec(piece);
          if (found !== null && !given.has(kind)) {
            given.set(kind, {
              spanId: step.spanId,
              quote: quoteAround(piece, found.index, found.index + found[0].length),
            });
          }
        }
      }
      if (voice !== 'agent' || reasoning) continue;
      for (const { kind, ask, given: pattern } of KINDS) {
        const before = given.get(kind);
        const asked = before === undefined ? null : ask.exec(piece);
        // Repeating the value to have it confirmed is not asking for it.
        if (before === undefined || asked === null || pattern.test(piece)) continue;
        findings.push({
          checkId: ID,
          spanId: step.spanId,
          category: 'repetitive-behavior-category-repetition-info',
          confidence: 0.5,
          summary: `The ${kind} was asked for again`,
          evidence: [
            evidence(before.spanId, before.quote, 'given here'),
            evidence(
              step.spanId,
              quoteAround(piece, asked.index, asked.index + asked[0].length),
              'asked for here',
            ),
          ],
          weight: 'evidence',
          recovered: null,
          criticalCategory: null,
        });
      }
    }
    return findings;
  },
};
