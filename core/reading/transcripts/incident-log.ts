import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { readUsage } from '../conventions/provider-bodies.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { readSpeakerTurns } from './speakers.ts';
import { timed } from './turn-parts.ts';

function eventsOf(document: JsonValue): JsonValue[] {
  if (Array.isArray(document)) return document;
  return isJsonObject(document) ? (arrayAt(document, 'events') ?? []) : [];
}

const isBookkeeping = (event: JsonObject): boolean => event.type === 'LLMCallEvent';
const textOf = (event: JsonObject): string => textAt(event, 'message', 'content') ?? '';
const marksStep = (event: JsonObject): boolean =>
  (textAt(event, 'source') ?? '').includes('(Step-') || textOf(event).trimStart().startsWith('Step-');

/**
 * Event logs of incident agents and of AutoGen's benchmark runner, as AgentRx takes them (microsoft/AgentRx commit
 * f228165b; autogen commit 027ecf0a, `agbench/…/scenario.py`): lines or a list of `{source, message, type}`. A new step
 * begins where the source holds "(Step-N" or the text begins with "Step-N"; a span's position is its step's. Notes of
 * model calls carry the tokens of the turn that follows.
 */
export const incidentLog: TranscriptFormat = {
  id: 'incident-log',
  title: 'Event logs of incident agents and AutoGen benchmark runs',
  knownBy: '[{source, message | content, type: "…Event"}] with "(Step-N" marks or messages, also as `events`',
  from: 'event logs of incident agents, and `console_log`-style events of AutoGen’s `agbench`',
  checkedOn: 'microsoft/AgentRx commit f228165b; autogen commit 027ecf0a',

  recognise(document) {
    const sample = eventsOf(document).slice(0, 50);
    const events = sample.filter(isJsonObject);
    const shaped = events.every(
      (event) => isBookkeeping(event) || (typeof event.source === 'string' && textOf(event) !== ''),
    );
    if (events.length === 0 || events.length < sample.length || !shaped) return { match: 'no' };
    const marked = events.some(
      (event) => marksStep(event) || /^\w{1,60}Event$/.test(textAt(event, 'type') ?? ''),
    );
    const speaks = events.some((event) => 'message' in event && typeof event.source === 'string');
    return marked || speaks ? { match: 'yes', sure: marked ? 0.93 : 0.65 } : { match: 'no' };
  },

  read(document, source) {
    const events = objectsIn(eventsOf(document));
    const turns = readEvents(events);
    const plan = events.find((event) => event.source === 'Orchestrator (thought)' && !isBookkeeping(event));
    const planned = plan !== undefined && textOf(plan).startsWith('Initial plan:') ? textOf(plan) : null;
    const asked = turns.some((turn) => turn.role === 'user');
    const session = buildConversation({
      sessionId: sourceStem(source),
      format: this.id,
      turns,
      goal: asked ? null : planned,
    });
    return { sessions: [session], unread: [] };
  },
};

const NOTHING = { inputTokens: 0, outputTokens: 0 };

function readEvents(events: readonly JsonObject[]): Turn[] {
  const turns: Turn[] = [];
  let position = 0;
  /** Tokens of model calls that no turn has taken yet. */
  let spent: Required<Turn>['usage'] = NOTHING;
  for (const event of events) {
    if (isBookkeeping(event)) {
      const { inputTokens, outputTokens } = readUsage(event);
      spent = {
        inputTokens: spent.inputTokens + inputTokens,
        outputTokens: spent.outputTokens + outputTokens,
      };
      continue;
    }
    const source = textAt(event, 'source') ?? '';
    if (marksStep(event)) position = stepNumber(source, textOf(event)) ?? position + 1;
    const [read] = readSpeakerTurns([{ name: source, content: textOf(event) }]);
    if (read === undefined) continue;
    const turn: Turn = { ...read, position, ...timed(toUnixNano(event.timestamp)) };
    const takes = spent !== NOTHING && turn.role === 'assistant' && turn.note !== true;
    turns.push(takes ? { ...turn, usage: spent } : turn);
    if (takes) spent = NOTHING;
  }
  return turns;
}

/** Steps are counted from 1. */
function stepNumber(source: string, text: string): number | null {
  const found =
    /\bStep[-\s]{0,8}(\d{1,6})\b/i.exec(source) ?? /\bStep[-\s]{0,8}(\d{1,6})\b/i.exec(text.slice(0, 2_000));
  return found === null ? null : Math.max(0, Number(found[1]) - 1);
}
