import type { CheckFinding } from '../diagnosis/check-report.ts';
import type { Block, Span } from '../session/session.ts';
import { failureOf } from '../trajectory/exchanges.ts';
import type { Trajectory } from '../trajectory/trajectory.ts';
import { readUtterances } from '../trajectory/utterances.ts';
import { finishReason } from '../vocabulary/finish-reasons.ts';
import type { Check } from './check.ts';
import { evidence, quoteAround } from './evidence.ts';

const ID = 'abrupt-end';

/** The end mark that simulated users set, or the word by which group chats close. */
const END_MARK = /#{2,5}[A-Z_-]{3,20}#{2,5}|\bTERMINATE\b/;
/** A person's goodbye: nothing more was expected. */
const CLOSING =
  /\b(?:thanks|thank you|that(?:'|’)?s (?:all|it|everything)|that is all|bye|goodbye|all set|appreciate|have a (?:great|good|nice))\b/i;
/** A question or a wish. */
const OPEN = /\?\s{0,5}$|\b(?:please|could you|can you|would you|I(?:'|’)d like|I want|I need)\b/i;
/** An express go-ahead: the act itself had still to come, whatever thanks are added. */
const GO_AHEAD =
  /\b(?:go ahead(?: and \w{2,20})?|please (?:proceed|continue|finali[sz]e|submit)|proceed with)\b/i;

/**
 * The session stops where somebody still had to act: the last thing is a person's go-ahead or request, a failed
 * tool call, an empty answer, or a promise to do something that never follows. A person may simply have left, so a mere request
 * counts only without a goodbye.
 *
 * Healthy runs (36 passed tau runs of bench/dev): fires on none.
 */
export const abruptEnd: Check = {
  id: ID,
  title: 'The session stops before it was done',
  categories: ['orchestration-related-errors-category-premature-termination'],
  run(trajectory) {
    const last = trajectory.steps.at(-1);
    if (last === undefined) return { blind: 'the session has no steps' };
    if (trajectory.steps.some((step) => step.span.flags.includes('in-progress'))) {
      return { blind: 'a span was still in progress when the session was read' };
    }
    if (last.span.flags.some((flag) => flag.startsWith('content-'))) {
      return { blind: 'the content of the last span is not wholly recorded' };
    }
    const finding =
      openRequest(trajectory) ?? openCall(trajectory) ?? emptyAnswer(trajectory) ?? openPromise(trajectory);
    return finding === null ? [] : [finding];
  },
};

function openRequest(trajectory: Trajectory): CheckFinding | null {
  const last = readUtterances(trajectory).at(-1);
  if (last === undefined || last.voice !== 'human') return null;
  if (last.step.index !== trajectory.steps.length - 1) return null;
  // A session of one request is one that was cut off by whoever recorded it.
  if (!readUtterances(trajectory).some((utterance) => utterance.voice === 'agent')) return null;
  const text = last.text.slice(-4_000);
  const goAhead = GO_AHEAD.test(text) && !NEGATED.test(text);
  const open = OPEN.test(text) && !CLOSING.test(text) && !END_MARK.test(text);
  if (!goAhead && !open) return null;
  return ended(last.step.spanId, last.text, 'A request was never answered: the session stops after it', 0.75);
}

const NEGATED = /\b(?:do not|don(?:'|’)t|not|no need to|never) (?:go ahead|proceed|continue)\b/i;

function openCall(trajectory: Trajectory): CheckFinding | null {
  const exchange = trajectory.exchanges.at(-1);
  const step = trajectory.steps[exchange?.resultStep ?? -1];
  if (exchange === undefined || step === undefined || step.index !== trajectory.steps.length - 1) return null;
  // A model call may show the result and the answer to it.
  const result = step.parts.findLastIndex((part) => part.block.type === 'tool_result');
  if (step.parts.slice(result + 1).some((part) => part.role === 'assistant' && isAct(part.block)))
    return null;
  const failed = failureOf(exchange);
  if (failed === null) return null;
  return ended(step.spanId, failed.result, 'The session stops right after a failed call', 0.75);
}

/** Whether it says or does anything. */
const isAct = (block: Block): boolean => block.type !== 'text' || block.text.trim() !== '';

/** The last answer was recorded and holds nothing: no word, no call. Whoever was told something before is less in need. */
function emptyAnswer(trajectory: Trajectory): CheckFinding | null {
  const last = trajectory.steps.at(-1);
  const answer = last === undefined ? null : answerOf(last.span);
  if (last === undefined || answer === null || answer.some(isAct)) return null;
  const reasons = last.span.kind === 'inference' ? (last.span.finishReasons ?? []) : [];
  // A cut or withheld answer has a check of its own.
  if (reasons.some((word) => !['stop', 'other'].includes(finishReason(word)))) return null;
  const said = readUtterances(trajectory).filter(({ reasoning, text }) => !reasoning && text.trim() !== '');
  const at = said.findLastIndex(({ voice }) => voice === 'human');
  const asked = said[at];
  if (asked === undefined) return null;
  const told = said.slice(at + 1).some(({ voice }) => voice === 'agent');
  return {
    ...ended(last.spanId, '', 'The last answer is empty', told ? 0.5 : 0.75),
    evidence: [evidence(asked.step.spanId, quoteAround(asked.text), 'answered with an empty text')],
  };
}

/** What the model or agent answered in this span; `null` where the span records no answer. */
function answerOf(span: Span): readonly Block[] | null {
  if (span.kind === 'inference') {
    return span.output.length === 0 ? null : span.output.flatMap((message) => message.content);
  }
  return span.kind === 'message' && span.message.role === 'assistant' ? span.message.content : null;
}

const PROMISE =
  /\b(?:please hold on|hold on (?:a|while|for)|one moment|I(?:'|’)ll (?:now |be back|get back|proceed|check|start|begin)|I will (?:now |get back|return|proceed|check|start|begin)|let me (?:check|look|search|find|verify|do|start|proceed)|let(?:'|’)s (?:proceed|start|continue|execute|run))\b/i;

function openPromise(trajectory: Trajectory): CheckFinding | null {
  const last = readUtterances(trajectory).findLast((utterance) => !utterance.reasoning);
  if (last === undefined || last.voice !== 'agent') return null;
  if (last.step.index < trajectory.steps.length - 1) return null;
  if (last.step.parts.some((part) => part.block.type === 'tool_use')) return null;
  const tail = last.text.slice(-400);
  const promise = PROMISE.exec(tail);
  if (promise === null || tail.trimEnd().endsWith('?') || END_MARK.test(tail)) return null;
  return ended(
    last.step.spanId,
    tail.slice(promise.index),
    'The session stops after a promise to go on',
    0.5,
  );
}

function ended(spanId: string, text: string, summary: string, confidence: number): CheckFinding {
  return {
    checkId: ID,
    spanId,
    category: 'orchestration-related-errors-category-premature-termination',
    confidence,
    summary,
    evidence: [evidence(spanId, quoteAround(text), 'last thing recorded')],
    weight: confidence >= 0.75 ? 'failure' : 'evidence',
    recovered: false,
    criticalCategory: 'system-failure',
  };
}
