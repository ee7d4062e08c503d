import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Session, SpanError } from '../../session/session.ts';
import { readUsage } from '../conventions/provider-bodies.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { contentTurn, usageIn } from './gemini.ts';

/**
 * Sessions and events of Google's Agent Development Kit (google-adk 2.13.0 `sessions/session.py`, `events/event.py`): files
 * of `adk run --save_session`, answers of its API, `model_dump` in snake_case, rows of its database, and the events of
 * Vertex AI's Agent Engine. Pieces of a stream (`partial`) are followed by the whole event.
 */
export const adkSession: TranscriptFormat = {
  id: 'adk-session',
  title: 'Google ADK sessions and events',
  knownBy: '{id, appName, userId, events}, [{author, invocationId, content, actions}], {sessionEvents}',
  from: '`adk run --save_session`, the API server’s `/sessions/<id>`, events as `model_dump`, Agent Engine’s events',
  checkedOn: 'google-adk 2.13.0',

  recognise(document) {
    if (isEvalSet(document)) {
      return {
        match: 'foreign',
        name: 'an ADK evaluation set',
        advice:
          'It holds what a run should say: give the session of a run (adk run --save_session, or GET …/sessions/{id}).',
      };
    }
    if (sessionsOf(document) !== null) return { match: 'yes', sure: 0.94 };
    return eventsOf(document).slice(0, 20).some(isEvent) ? { match: 'yes', sure: 0.9 } : { match: 'no' };
  },

  read(document, source) {
    const tally = new UnreadTally(source);
    const whole = sessionsOf(document);
    if (whole !== null)
      return {
        sessions: whole.map((session) => readSession(objectsIn(session.events), session, source, tally)),
        unread: tally.list(),
      };
    const all = eventsOf(document);
    const events = all.filter(isEvent);
    if (all.length > events.length) tally.add('an entry that is no event of ADK', all.length - events.length);
    const bySession = Map.groupBy(events, (event) => textAt(event, 'sessionId', 'session_id') ?? '');
    return {
      sessions: [...bySession].map(([id, list]) => readSession(list, { id }, source, tally)),
      unread: tally.list(),
    };
  },
};

function sessionsOf(document: JsonValue): JsonObject[] | null {
  const list = Array.isArray(document) ? document : [document];
  return list.length > 0 && list.every(isSession) ? objectsIn(list) : null;
}

function isSession(value: JsonValue): boolean {
  return (
    isJsonObject(value) &&
    typeof value.id === 'string' &&
    Array.isArray(value.events) &&
    textAt(value, 'appName', 'app_name') !== undefined &&
    textAt(value, 'userId', 'user_id') !== undefined
  );
}

/** Events in a list, in a page of Agent Engine, or as JSON text in rows of the database. */
function eventsOf(document: JsonValue): JsonObject[] {
  const list = isJsonObject(document) ? (document.sessionEvents ?? document.events ?? [document]) : document;
  return objectsIn(list).map((item) => {
    const { value } = unwrapJson(item.event_data ?? null, 1);
    return isJsonObject(value) ? { ...value, session_id: item.session_id ?? null } : item;
  });
}

function isEvent(event: JsonObject): boolean {
  return (
    typeof event.author === 'string' &&
    textAt(event, 'invocationId', 'invocation_id') !== undefined &&
    (isJsonObject(event.actions) || isJsonObject(event.content))
  );
}

const isEvalSet = (document: JsonValue): boolean =>
  isJsonObject(document) && (Array.isArray(document.evalCases) || Array.isArray(document.eval_cases));

function readSession(
  events: readonly JsonObject[],
  session: JsonObject,
  source: string,
  tally: UnreadTally,
): Session {
  const turns = withoutRewound(events, tally).flatMap((event) => eventTurns(event, events.indexOf(event)));
  const first = turns.find((turn) => turn.agent !== null && turn.agent !== undefined);
  return buildConversation({
    sessionId: textAt(session, 'id') ?? sourceStem(source),
    format: adkSession.id,
    turns,
    agent: first?.agent ?? null,
    service: textAt(session, 'appName', 'app_name') ?? null,
  });
}

/** An event may void all from an earlier invocation on up to itself. */
function withoutRewound(events: readonly JsonObject[], tally: UnreadTally): JsonObject[] {
  let kept: JsonObject[] = [];
  for (const event of events) {
    const actions = objectAt(event, 'actions') ?? {};
    const to = textAt(actions, 'rewindBeforeInvocationId', 'rewind_before_invocation_id');
    if (to === undefined) {
      // A summary repeats events that are still there.
      if (!isJsonObject(actions.compaction)) kept.push(event);
      continue;
    }
    const at = kept.findIndex((event) => textAt(event, 'invocationId', 'invocation_id') === to);
    if (at < 0) continue;
    tally.add('an event that the user took back', kept.length - at);
    kept = kept.slice(0, at);
  }
  return kept;
}

function eventTurns(event: JsonObject, position: number): Turn[] {
  const details = objectAt(event, 'eventMetadata') ?? event;
  if (details.partial === true) return [];
  const content = objectAt(event, 'content') ?? {};
  const author = textAt(event, 'author') ?? 'user';
  const isUser = author === 'user';
  const turn = contentTurn({ ...content, role: isUser ? 'user' : (content.role ?? 'model') }, position);
  const code = event.errorCode ?? event.error_code ?? null;
  const message = textAt(event, 'errorMessage', 'error_message');
  const type = code === null ? undefined : String(code);
  const errors: SpanError[] =
    type === undefined || type === '' ? [] : [{ source: 'error-type', type, message: message ?? type }];
  if (turn.blocks.length === 0 && errors.length === 0) return [];
  const usage = usageIn(event);
  const finish = textAt(event, 'finishReason', 'finish_reason');
  const model = textAt(event, 'modelVersion', 'model_version');
  const time = toUnixNano(event.timestamp);
  return [
    {
      ...turn,
      role: turn.role === 'user' && !isUser ? 'assistant' : turn.role,
      agent: isUser ? null : author,
      ...(isUser ? {} : { speaker: author }),
      startTimeUnixNano: time,
      endTimeUnixNano: time,
      errors,
      ...(usage === undefined ? {} : { usage: readUsage(usage) }),
      ...(model === undefined ? {} : { model }),
      ...(finish === undefined ? {} : { finishReasons: [finish.toLowerCase()] }),
    },
  ];
}
