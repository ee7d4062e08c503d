import type { JsonValue } from '../contracts/json.ts';
import type { Check, CheckFinding } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';
import { argumentsAsText, failureOf } from './exchanges.ts';

const ID = 'unsupported-value';
/** Texts beyond this total are not remembered; the check is then blind rather than wrong. */
const MAX_REMEMBERED = 20_000_000;

/**
 * An identifier in a call that stands nowhere before it: not in the goal, the system prompt, the tools, what
 * people said, what tools brought or what agents said. Only values that look like identifiers (letters and digits
 * mixed, or five digits and more) are judged, since other values may be computed or worded freely.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none.
 */
export const unsupportedValues: Check = {
  id: ID,
  title: 'A value in a call has no source in the session',
  categories: ['hallucination-category-hall-params'],
  run(trajectory) {
    if (trajectory.exchanges.length === 0) return [];
    const tokens = new Set<string>();
    const remember = (text: string): void => {
      for (const match of text.matchAll(TOKEN)) tokens.add(match[0].toLowerCase());
    };
    const total = trajectory.steps.reduce(
      (sum, step) =>
        sum +
        step.parts.reduce((all, { block }) => {
          if (block.type === 'text' || block.type === 'reasoning') return all + block.text.length;
          return block.type === 'tool_result' ? all + block.content.length : all;
        }, 0),
      0,
    );
    if (total > MAX_REMEMBERED) return { blind: `the session has more than ${MAX_REMEMBERED} characters` };
    if (trajectory.steps.some(({ span }) => span.flags.some((flag) => INCOMPLETE.has(flag)))) {
      return { blind: 'part of the content is absent, redacted or cut, so a source may be missing' };
    }
    remember(trajectory.goal ?? '');
    remember(trajectory.systemPrompt ?? '');
    for (const tool of trajectory.tools)
      remember(`${tool.description ?? ''} ${JSON.stringify(tool.parameters ?? null)}`);
    const calls = new Map<number, (typeof trajectory.exchanges)[number][]>();
    for (const exchange of trajectory.exchanges) {
      const group = calls.get(exchange.callStep);
      if (group === undefined) calls.set(exchange.callStep, [exchange]);
      else group.push(exchange);
    }
    const findings: CheckFinding[] = [];
    for (const step of trajectory.steps) {
      for (const { block } of step.parts) {
        if (block.type === 'text' || block.type === 'reasoning') remember(block.text);
        if (block.type === 'tool_result') remember(block.content);
      }
      for (const exchange of calls.get(step.index) ?? []) {
        const unseen = ({ value }: Identifier): boolean =>
          [...value.matchAll(TOKEN)].some((part) => !tokens.has(part[0].toLowerCase()));
        const suspects = identifiersIn(exchange.arguments).filter(unseen);
        const suspect = suspects.find((one) => one.keyed) ?? suspects[0];
        const missing = suspect?.value;
        const given = argumentsAsText(exchange);
        if (missing !== undefined) {
          const at = Math.max(0, given.indexOf(missing));
          // A new thing may be given a new id; what is read or changed must have been named somewhere.
          const precise =
            suspect?.keyed === true && !CREATES.test(exchange.name) && failureOf(exchange) === null;
          findings.push({
            checkId: ID,
            spanId: step.spanId,
            category: 'hallucination-category-hall-params',
            confidence: precise ? 0.75 : 0.5,
            summary: `The value ${missing.slice(0, 80)} stands nowhere before this call`,
            evidence: [evidence(step.spanId, quoteAround(given, at, at + missing.length), 'the call')],
            weight: precise ? 'failure' : 'evidence',
            recovered: null,
            criticalCategory: 'invention',
          });
        }
        // Once called with, a value has been seen; it is reported once.
        remember(given);
      }
    }
    return findings;
  },
};

const TOKEN = /[\p{L}\p{N}]{3,80}/gu;
const IDENTIFIER = /^#?(?=[^\s]{5,80}$)(?:\d{5,}|(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[A-Za-z0-9_#-]+)$/;
const INCOMPLETE = new Set([
  'content-absent',
  'content-redacted',
  'content-truncated',
  'content-not-arrived',
  'content-lost',
]);

const ID_KEY = /(?:^|[_-])(?:id|ids|uuid|ref|reference|number|no)$|[a-z](?:Id|Ids|Ref|Number)$/;
const CREATES =
  /^(?:create|add|new|insert|register|put|upload|write|save|generate|make|send|post|draft|book|schedule)/i;

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
    } else if (Array.isArray(inner)) for (const item of inner) visit(item, keyed, depth + 1);
    else if (typeof inner === 'object' && inner !== null) {
      for (const [key, item] of Object.entries(inner)) visit(item, ID_KEY.test(key), depth + 1);
    }
  };
  visit(value, false, 0);
  return found;
}
