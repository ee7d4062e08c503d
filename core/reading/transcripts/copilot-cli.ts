import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, toolUse } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd, noteTurn, reasoningBlocks, textBlocks, timed } from './turn-parts.ts';

const MARKS: ReadonlySet<string> = new Set([
  'session.start',
  'user.message',
  'assistant.message',
  'assistant.turn_start',
  'tool.execution_start',
  'tool.execution_complete',
]);

const isEvent = (value: JsonValue | undefined): value is JsonObject =>
  isJsonObject(value) &&
  typeof value.type === 'string' &&
  isJsonObject(value.data) &&
  typeof value.id === 'string';

/**
 * Session events of GitHub Copilot CLI (`~/.copilot/session-state/<id>/events.jsonl`; copilot-sdk 1.0.14). `parentId` is
 * the event before and no parent. What a person injected or rewound is not the user's and not the run's.
 */
export const copilotCli: TranscriptFormat = {
  id: 'copilot-cli',
  title: 'GitHub Copilot CLI session events',
  knownBy: 'lines {type: "session.start" | "user.message" | "assistant.message" | …, id, parentId, data}',
  from: '`~/.copilot/session-state/<id>/events.jsonl`',
  checkedOn: 'copilot-sdk 1.0.14',

  recognise(document) {
    const sample = Array.isArray(document) ? document.slice(0, 50) : [];
    const known = sample.filter((item) => isEvent(item) && MARKS.has(String(item.type))).length;
    return known > 1 ? { match: 'yes', sure: 0.95 } : { match: 'no' };
  },

  read(document, source) {
    const list = Array.isArray(document) ? document : [];
    const events = withoutRewound(list.filter(isEvent));
    const reader = makeReader();
    for (const { event, position } of events.kept) reader.add(event, position);
    const start = events.kept.find(({ event }) => event.type === 'session.start')?.event;
    const session = buildConversation({
      sessionId: textAt(objectAt(start ?? {}, 'data') ?? {}, 'sessionId') ?? sourceStem(source),
      format: this.id,
      turns: reader.turns,
    });
    const other = list.length - list.filter(isEvent).length;
    return {
      sessions: [session],
      unread: [
        ...(events.rewound === 0
          ? []
          : [{ where: source, reason: 'events that were rewound', count: events.rewound }]),
        ...(other === 0 ? [] : [{ where: source, reason: 'not a session event', count: other }]),
      ],
    };
  },
};

/** Rewound events stay in the file. */
function withoutRewound(events: readonly JsonObject[]) {
  let kept: { event: JsonObject; position: number }[] = [];
  let rewound = 0;
  events.forEach((event, position) => {
    const upTo = textAt(objectAt(event, 'data') ?? {}, 'upToEventId');
    const place =
      event.type === 'session.snapshot_rewind' ? kept.findIndex((entry) => entry.event.id === upTo) : -1;
    if (place === -1) {
      kept.push({ event, position });
      return;
    }
    rewound += kept.length - place - 1;
    kept = kept.slice(0, place + 1);
  });
  return { kept, rewound };
}

function makeReader() {
  const turns: Turn[] = [];
  const agents = new Map<string, string>();
  let model: string | undefined;
  /** Place of the last answer whose tokens are not stated whole yet. */
  let last = -1;

  const agentOf = (event: JsonObject, data: JsonObject): string | null =>
    agents.get(textAt(data, 'parentToolCallId') ?? textAt(event, 'agentId') ?? '') ?? null;

  const addAnswer = (event: JsonObject, data: JsonObject, position: number, time: string | null): void => {
    const flags = new Set<SpanFlag>();
    const calls = objectsIn(data.toolRequests).map((call) =>
      toolUse(textAt(call, 'toolCallId') ?? null, textAt(call, 'name') ?? 'unknown', call.arguments, flags),
    );
    const used = textAt(data, 'model') ?? model;
    const output = numberAt(data, 'outputTokens');
    last = turns.length;
    turns.push({
      position,
      role: 'assistant',
      agent: agentOf(event, data),
      blocks: [
        ...reasoningBlocks(textAt(data, 'reasoningText') ?? ''),
        ...textBlocks(textAt(data, 'content') ?? ''),
        ...calls,
      ],
      flags: [...flags],
      ...timed(time),
      ...(used === undefined ? {} : { model: used }),
      ...(output === undefined ? {} : { usage: { inputTokens: 0, outputTokens: output } }),
    });
  };

  const addUsage = (data: JsonObject): void => {
    const answer = turns[last];
    if (answer === undefined) return;
    const used = textAt(data, 'model');
    const finish = textAt(data, 'finishReason');
    turns[last] = {
      ...answer,
      usage: {
        inputTokens: numberAt(data, 'inputTokens') ?? 0,
        outputTokens: numberAt(data, 'outputTokens') ?? 0,
      },
      ...(used === undefined ? {} : { model: used }),
      ...(finish === undefined ? {} : { finishReasons: [finish] }),
    };
    last = -1;
  };

  return {
    turns,
    add(event: JsonObject, position: number): void {
      const data = objectAt(event, 'data') ?? {};
      const time = toUnixNano(event.timestamp);
      switch (event.type) {
        case 'session.start':
        case 'session.resume':
          model = textAt(data, 'selectedModel') ?? model;
          return;
        case 'session.model_change':
          model = textAt(data, 'newModel') ?? model;
          return;
        case 'system.message':
          turns.push({
            position,
            role: 'system',
            blocks: textBlocks(textAt(data, 'content') ?? ''),
            ...timed(time),
          });
          return;
        case 'user.message': {
          const text = textAt(data, 'content') ?? '';
          const source = textAt(data, 'source') ?? 'user';
          if (source === 'user')
            turns.push({ position, role: 'user', blocks: textBlocks(text), ...timed(time) });
          else turns.push(noteTurn(position, source, text, time));
          return;
        }
        case 'assistant.message':
          addAnswer(event, data, position, time);
          return;
        case 'assistant.usage':
          addUsage(data);
          return;
        case 'tool.execution_complete': {
          const error = objectAt(data, 'error');
          const content =
            error === undefined
              ? plainText(objectAt(data, 'result')?.content)
              : (textAt(error, 'message') ?? '');
          const toolCallId = textAt(data, 'toolCallId') ?? null;
          // A person who denies is no fault of the tool.
          const denied = error !== undefined && /^(?:denied|rejected)$/.test(textAt(error, 'code') ?? '');
          const isError = denied ? null : data.success === false;
          turns.push(
            answerTurn({ position, toolCallId, content, isError, agent: agentOf(event, data), time }),
          );
          return;
        }
        case 'subagent.started':
          agents.set(textAt(data, 'toolCallId') ?? '', textAt(data, 'agentName') ?? 'sub-agent');
          if (typeof event.agentId === 'string')
            agents.set(event.agentId, textAt(data, 'agentName') ?? 'sub-agent');
          return;
        case 'session.error':
          turns.push(
            brokenEnd(
              position,
              'fault',
              textAt(data, 'errorType') ?? 'error',
              textAt(data, 'message') ?? '',
              time,
            ),
          );
          return;
        case 'model.call_failure': {
          const message = textAt(data, 'errorMessage', 'errorType') ?? 'the model call failed';
          const code = numberAt(data, 'statusCode');
          turns.push({
            position,
            role: 'assistant',
            agent: agentOf(event, data),
            blocks: [],
            errors: [code === undefined ? { source: 'status', message } : { source: 'http', code, message }],
            ...timed(time),
          });
          return;
        }
        case 'abort':
          turns.push(noteTurn(position, 'aborted', textAt(data, 'reason') ?? 'aborted', time));
          return;
        case 'session.shutdown':
          if (data.shutdownType === 'error')
            turns.push(brokenEnd(position, 'fault', 'shutdown', textAt(data, 'errorReason') ?? '', time));
          return;
        // Starts, hooks, permissions, titles, compactions: nothing that a model saw.
        default:
          return;
      }
    },
  };
}
