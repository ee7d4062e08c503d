import type { JsonValue } from '../base/json.ts';
import type { CheckFinding } from '../diagnosis/check-report.ts';
import { argumentsAsText } from '../trajectory/exchanges.ts';
import type { Step, ToolExchange, Trajectory } from '../trajectory/trajectory.ts';
import { readUtterances } from '../trajectory/utterances.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'unsupported-value';
/** Texts beyond this total are not remembered; the check is then blind rather than wrong. */
const MAX_REMEMBERED = 20_000_000;

/**
 * An identifier in a call, or in what an agent says, that no source names before: no person, tool result, system
 * prompt, tool description, stated goal or earlier agent but its own. Only values that look like identifiers are
 * judged (letters and digits mixed, or five digits and more), since other values may be computed or worded freely.
 * An agent that repeats its own invention has no source for it either.
 *
 * Blind where content is missing or where images and files may have named the value.
 *
 * An agent may compute or compose a value by a rule that stands in no text, so this is evidence only.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none.
 */
export const unsupportedValues: Check = {
  id: ID,
  title: 'A value has no source in the session',
  categories: ['hallucination-category-hall-params', 'hallucination-category-hall-history'],
  reads: 'tool-calls',
  run(trajectory) {
    const unseen = blindSpot(trajectory);
    if (unseen !== null) return { blind: unseen };
    const sources = new Sources(trajectory);
    const calls = callsByStep(trajectory);
    const findings: CheckFinding[] = [];
    const said = new Set<string>();
    for (const step of trajectory.steps) {
      for (const part of step.parts) {
        const { block } = part;
        if (block.type === 'tool_result') sources.add(block.content);
        if (block.type !== 'text') continue;
        if (part.role !== 'assistant') {
          sources.add(block.text);
          continue;
        }
        // The answer of an agent span stands before the work that found it, and where one span covers a whole
        // round of calls the text may tell of their results.
        if (step.kind === 'invoke_agent' || calls.has(step.index)) continue;
        const text = block.text.slice(0, 20_000);
        for (const match of text.matchAll(SPOKEN)) {
          // "Like #00000000" is a pattern, no value.
          if (said.has(match[0]) || ONE_DIGIT.test(match[0]) || sources.name(match[0])) continue;
          said.add(match[0]);
          findings.push({
            checkId: ID,
            spanId: step.spanId,
            category: 'hallucination-category-hall-history',
            confidence: 0.5,
            summary: `${match[0].slice(0, 80)} is stated, and nothing before names it`,
            evidence: [
              evidence(
                step.spanId,
                quoteAround(text, match.index, match.index + match[0].length),
                'the statement',
              ),
            ],
            weight: 'evidence',
            recovered: null,
            criticalCategory: 'invention',
          });
        }
      }
      for (const exchange of calls.get(step.index) ?? []) {
        const finding = unsupportedCall(step, exchange, sources);
        if (finding !== null) findings.push(finding);
        // Once called with, a value is known; it is reported once.
        sources.add(argumentsAsText(exchange));
      }
    }
    return findings;
  },
};

function unsupportedCall(step: Step, exchange: ToolExchange, sources: Sources): CheckFinding | null {
  const suspects = identifiersIn(exchange.arguments).filter(({ value }) => !sources.name(value));
  const suspect = suspects.find((candidate) => candidate.keyed) ?? suspects[0];
  if (suspect === undefined) return null;
  const argumentText = argumentsAsText(exchange);
  const at = Math.max(0, argumentText.indexOf(suspect.value));
  return {
    checkId: ID,
    spanId: step.spanId,
    category: 'hallucination-category-hall-params',
    confidence: 0.5,
    summary: `The value ${suspect.value.slice(0, 80)} does not appear before this call`,
    evidence: [evidence(step.spanId, quoteAround(argumentText, at, at + suspect.value.length), 'the call')],
    weight: 'evidence',
    recovered: null,
    criticalCategory: 'invention',
  };
}

/** Words that somebody other than the acting agent has brought into the session so far. */
class Sources {
  readonly #words = new Set<string>();
  readonly #runs = new Set<string>();

  constructor(trajectory: Trajectory) {
    const opener = readUtterances(trajectory).find((utterance) => utterance.voice !== 'system');
    // With a person, the goal is what they are after and may never have said.
    if (opener?.voice !== 'human') this.add(trajectory.goal ?? '');
    this.add(trajectory.systemPrompt ?? '');
    for (const tool of trajectory.tools) {
      this.add(`${tool.description ?? ''} ${JSON.stringify(tool.parameters ?? null)}`);
    }
  }

  add(text: string): void {
    for (const match of text.matchAll(WORD)) {
      const word = match[0].toLowerCase();
      if (this.#words.has(word)) continue;
      this.#words.add(word);
      for (const run of runsOf(word)) this.#runs.add(run);
    }
  }

  /**
   * Whether every word of the value has been named, or every run of letters or digits in it: a value in another
   * spelling ("W 123-4" for "w1234"), or put together from named parts by a rule, has its source in these.
   */
  name(value: string): boolean {
    const words = [...value.matchAll(WORD)].map((word) => word[0].toLowerCase());
    return (
      words.every((word) => this.#words.has(word)) ||
      words.flatMap(runsOf).every((run) => run.length < 2 || this.#runs.has(run))
    );
  }
}

/** Letters and digits apart, leading zeros left out; a date without separators in its three parts too. */
function runsOf(word: string): string[] {
  return (word.match(/\p{L}+|\p{N}+/gu) ?? []).flatMap((run) => {
    const date = /^((?:19|20)\d\d)(\d\d)(\d\d)$/.exec(run);
    return (date === null ? [run] : date.slice(1)).map((part) => part.replace(/^0+(?=\d)/, ''));
  });
}

function blindSpot(trajectory: Trajectory): string | null {
  let length = 0;
  for (const { span, parts } of trajectory.steps) {
    if (span.flags.some((flag) => INCOMPLETE.has(flag))) {
      return 'part of the content is absent, redacted or cut, so a source may be missing';
    }
    for (const { block } of parts) {
      if (block.type === 'media') return 'an image or file may have named the values';
      if (block.type === 'text') length += block.text.length;
      if (block.type === 'tool_result') length += block.content.length;
    }
  }
  return length > MAX_REMEMBERED ? `the session has more than ${MAX_REMEMBERED} characters` : null;
}

function callsByStep(trajectory: Trajectory): ReadonlyMap<number, readonly ToolExchange[]> {
  const calls = new Map<number, ToolExchange[]>();
  for (const exchange of trajectory.exchanges) {
    const group = calls.get(exchange.callStep);
    if (group === undefined) calls.set(exchange.callStep, [exchange]);
    else group.push(exchange);
  }
  return calls;
}

const WORD = /[\p{L}\p{N}]{3,80}/gu;
const IDENTIFIER = /^#?(?=[^\s]{5,80}$)(?:\d{5,}|(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[A-Za-z0-9_#-]+)$/;
/** Identifiers that stand out in prose: a run of six digits and more, also with a short prefix or a `#`. */
const SPOKEN =
  /(?<![\p{L}\p{N}_.,/:%#@-])(?:#?[A-Za-z]{0,4}-?\d{6,20}|[a-z]{2,20}_\d{4,20})(?![\p{L}\p{N}_@/%-]|[.,]\d)/gu;
const ONE_DIGIT = /^[^\d]*(\d)\1*$/;
const INCOMPLETE = new Set([
  'content-absent',
  'content-redacted',
  'content-truncated',
  'content-not-arrived',
  'content-lost',
]);

const ID_KEY = /(?:^|[_-])(?:id|ids|uuid|ref|reference|number|no)$|[a-z](?:Id|Ids|Ref|Number)$/;

interface Identifier {
  readonly value: string;
  /** The key it stands under says that it is one. */
  readonly keyed: boolean;
}

function identifiersIn(value: JsonValue): Identifier[] {
  const found: Identifier[] = [];
  const visit = (inner: JsonValue, keyed: boolean, depth: number): void => {
    if (depth > 6 || found.length > 200) return;
    if (typeof inner === 'string') {
      if (IDENTIFIER.test(inner)) found.push({ value: inner, keyed });
    } else if (typeof inner === 'number') {
      if (keyed && Number.isSafeInteger(inner) && inner >= 10_000)
        found.push({ value: String(inner), keyed });
    } else if (Array.isArray(inner)) for (const item of inner) visit(item, keyed, depth + 1);
    else if (typeof inner === 'object' && inner !== null) {
      for (const [key, item] of Object.entries(inner)) visit(item, ID_KEY.test(key), depth + 1);
    }
  };
  visit(value, false, 0);
  return found;
}
