import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, toolUse } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd, noteTurn, reasoningBlocks, textBlocks } from './turn-parts.ts';

function isMessage(value: JsonValue | undefined): value is JsonObject {
  const info = isJsonObject(value) ? objectAt(value, 'info') : undefined;
  return (
    info !== undefined && typeof info.role === 'string' && isJsonObject(value) && Array.isArray(value.parts)
  );
}

const isEvent = (value: JsonValue | undefined): value is JsonObject =>
  isJsonObject(value) && /^ses_/.test(textAt(value, 'sessionID') ?? '') && typeof value.type === 'string';

/** An export's messages, the server's list of them, or the stream of `opencode run --format json` as one message. */
function messagesOf(document: JsonValue): JsonObject[] {
  if (isJsonObject(document)) return objectsIn(arrayAt(document, 'messages')).filter(isMessage);
  const list = Array.isArray(document) ? document : [];
  const messages = list.filter(isMessage);
  if (messages.length > 0) return messages;
  return list.filter(isEvent).map((event) => ({
    info: { role: 'assistant', sessionID: event.sessionID ?? null, error: event.error ?? null },
    parts: objectsIn([event.part ?? null]),
  }));
}

/**
 * opencode: what `opencode export` writes (SDK 1.19.3), the server's list of messages, and the lines of
 * `opencode run --format json`. A call and its result are one part. Tokens are counted by step, since a message's own
 * are the sum of its steps. A message after the one that was undone (`revert`) is left out, and said.
 */
export const opencode: TranscriptFormat = {
  id: 'opencode',
  title: 'opencode sessions',
  knownBy:
    '{info: {id: "ses_…"}, messages: [{info: {role}, parts}]}, or lines {sessionID: "ses_…", type, part}',
  from: '`opencode export <session>`, the server’s list of messages, or the lines of `opencode run --format json`',
  checkedOn: 'opencode SDK 1.19.3',

  recognise(document) {
    if (isJsonObject(document)) {
      const id = textAt(objectAt(document, 'info') ?? {}, 'id') ?? '';
      return /^ses_/.test(id) && Array.isArray(document.messages)
        ? { match: 'yes', sure: 0.98 }
        : { match: 'no' };
    }
    const sample = Array.isArray(document) ? document.slice(0, 20) : [];
    const known = sample.some(
      (item) => isEvent(item) || (isMessage(item) && typeof objectAt(item, 'info')?.sessionID === 'string'),
    );
    return known ? { match: 'yes', sure: 0.97 } : { match: 'no' };
  },

  read(document, source) {
    const info = (isJsonObject(document) ? objectAt(document, 'info') : undefined) ?? {};
    const messages = messagesOf(document);
    const undone = textAt(objectAt(info, 'revert') ?? {}, 'messageID');
    const cut = messages.findIndex(
      (message) => undone !== undefined && objectAt(message, 'info')?.id === undone,
    );
    const kept = cut === -1 ? messages : messages.slice(0, cut);
    const first = objectAt(kept[0] ?? {}, 'info') ?? {};
    const session = buildConversation({
      sessionId: textAt(info, 'id') ?? textAt(first, 'sessionID') ?? sourceStem(source),
      format: this.id,
      turns: kept.flatMap(readMessage),
    });
    const lost = messages.length - kept.length;
    const unread = lost === 0 ? [] : [{ where: source, reason: 'messages that were undone', count: lost }];
    return { sessions: [session], unread };
  },
};

function readMessage(message: JsonObject, position: number): Turn[] {
  const info = objectAt(message, 'info') ?? {};
  const parts = objectsIn(message.parts);
  const time = toUnixNano(objectAt(info, 'time')?.created);
  if (info.role === 'user') {
    const said = parts.filter((part) => part.type === 'text');
    const typed = said.filter((part) => part.synthetic !== true && part.ignored !== true);
    const injected = said.filter((part) => part.synthetic === true);
    const text = (list: readonly JsonObject[]) => list.map((part) => plainText(part.text)).join('\n');
    return [
      ...(typed.length === 0
        ? []
        : [{ position, role: 'user' as const, blocks: textBlocks(text(typed)), startTimeUnixNano: time }]),
      ...(injected.length === 0 ? [] : [noteTurn(position, 'context', text(injected), time)]),
    ];
  }
  return [...readSteps(info, parts, position, time), ...endOf(info, position)];
}

/** One model call from the start of a step to its end; without marks, the message. */
function readSteps(
  info: JsonObject,
  parts: readonly JsonObject[],
  position: number,
  time: string | null,
): Turn[] {
  const steps: JsonObject[][] = [[]];
  for (const part of parts) {
    if (part.type === 'step-start' && steps.at(-1)?.length !== 0) steps.push([]);
    steps.at(-1)?.push(part);
  }
  const agent = textAt(info, 'agent', 'mode') ?? null;
  const model = textAt(info, 'modelID');
  const marked = parts.some((part) => part.type === 'step-finish');
  return steps.flatMap((step, index): Turn[] => {
    const flags = new Set<SpanFlag>();
    const finish = step.find((part) => part.type === 'step-finish');
    const tokens = objectAt(marked ? (finish ?? {}) : index === 0 ? info : {}, 'tokens');
    const reason = finish === undefined ? textAt(info, 'finish') : textAt(finish, 'reason');
    const blocks = step.flatMap((part) => {
      if (part.type === 'text') return textBlocks(plainText(part.text));
      if (part.type === 'reasoning') return reasoningBlocks(plainText(part.text));
      if (part.type !== 'tool') return [];
      const input = objectAt(part, 'state')?.input;
      return [toolUse(textAt(part, 'callID') ?? null, textAt(part, 'tool') ?? 'unknown', input, flags)];
    });
    const retries = step.filter((part) => part.type === 'retry');
    const answer: Turn = {
      position,
      role: 'assistant',
      agent,
      blocks,
      flags: [...flags],
      startTimeUnixNano: time,
      endTimeUnixNano: toUnixNano(objectAt(info, 'time')?.completed),
      ...(model === undefined ? {} : { model }),
      ...(tokens === undefined ? {} : { usage: usageOf(tokens) }),
      ...(reason === undefined ? {} : { finishReasons: [reason] }),
    };
    const tried = retries.map((part) =>
      noteTurn(position, 'retry', errorText(objectAt(part, 'error') ?? {})),
    );
    const results = step
      .filter((part) => part.type === 'tool')
      .flatMap((part) => readResult(part, position, agent));
    return [...tried, ...(blocks.length === 0 && tokens === undefined ? [] : [answer]), ...results];
  });
}

/** `input` is what the cache did not hold. */
function usageOf(tokens: JsonObject): { inputTokens: number; outputTokens: number } {
  const cache = objectAt(tokens, 'cache') ?? {};
  return {
    inputTokens:
      (numberAt(tokens, 'input') ?? 0) + (numberAt(cache, 'read') ?? 0) + (numberAt(cache, 'write') ?? 0),
    outputTokens: (numberAt(tokens, 'output') ?? 0) + (numberAt(tokens, 'reasoning') ?? 0),
  };
}

/** A call that is still pending or running when the file was written never came back. */
function readResult(part: JsonObject, position: number, agent: string | null): Turn[] {
  const state = objectAt(part, 'state') ?? {};
  const status = textAt(state, 'status');
  if (status !== 'completed' && status !== 'error') return [];
  const turn = answerTurn({
    position,
    toolCallId: textAt(part, 'callID') ?? null,
    content: plainText(status === 'error' ? state.error : state.output),
    isError: status === 'error',
    exitCode: numberAt(objectAt(state, 'metadata') ?? {}, 'exit'),
    agent,
  });
  const times = objectAt(state, 'time') ?? {};
  return [{ ...turn, startTimeUnixNano: toUnixNano(times.start), endTimeUnixNano: toUnixNano(times.end) }];
}

function errorText(error: JsonObject): string {
  return textAt(objectAt(error, 'data') ?? {}, 'message') ?? textAt(error, 'message', 'name') ?? 'error';
}

function endOf(info: JsonObject, position: number): Turn[] {
  const error = objectAt(info, 'error');
  const name = error === undefined ? undefined : (textAt(error, 'name') ?? 'error');
  if (error === undefined || name === undefined) return [];
  // The user stopped it.
  if (name === 'MessageAbortedError') return [noteTurn(position, 'aborted', errorText(error))];
  const limit = /^(?:MessageOutputLength|ContextOverflow)/.test(name);
  return [brokenEnd(position, limit ? 'limit' : 'fault', name, errorText(error))];
}
