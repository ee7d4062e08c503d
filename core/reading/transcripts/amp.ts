import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanFlag } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readBlocks } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, noteTurn, textBlocks, timed } from './turn-parts.ts';

/**
 * Threads of Amp (`amp threads export`; Amp has no published schema: the shape is that of public readers of 2026).
 * A result stands in the next user message with the state of its run. Oldest exports have a `text` and no blocks.
 */
export const amp: TranscriptFormat = {
  id: 'amp',
  title: 'Amp threads',
  knownBy: '{id: "T-…", messages: [{role, content: [blocks]} | {role, text}]}',
  from: '`amp threads export <thread>`',
  checkedOn: 'public readers of 2026: Amp publishes no schema',

  recognise(document) {
    const known =
      isJsonObject(document) &&
      /^T-/.test(textAt(document, 'id') ?? '') &&
      objectsIn(document.messages).some((message) => typeof message.role === 'string');
    return known ? { match: 'yes', sure: 0.95 } : { match: 'no' };
  },

  read(document, source) {
    const thread = isJsonObject(document) ? document : {};
    const session = buildConversation({
      sessionId: textAt(thread, 'id') ?? sourceStem(source),
      format: this.id,
      turns: objectsIn(thread.messages).flatMap(readMessage),
    });
    return { sessions: [session], unread: [] };
  },
};

function readMessage(message: JsonObject, position: number): Turn[] {
  const flags = new Set<SpanFlag>();
  const time = toUnixNano(objectAt(message, 'meta')?.sentAt ?? message.createdAt);
  const parts: JsonValue[] = Array.isArray(message.content)
    ? message.content
    : [message.content ?? message.text ?? ''];
  const isResult = (part: JsonValue): part is JsonObject => isJsonObject(part) && part.type === 'tool_result';
  const results = parts.filter(isResult).map((part) => readResult(part, position, time));
  const blocks = parts
    .filter((part) => !isResult(part) && !isSummary(part))
    .flatMap((part) => readBlocks(part, flags));
  const summaries = parts
    .filter(isSummary)
    .map((part) => noteTurn(position, 'summary', plainText(part.summary), time));
  if (parts.some((part) => isJsonObject(part) && part.complete === false)) flags.add('content-truncated');
  if (message.role === 'user') {
    const said: Turn = { position, role: 'user', blocks, flags: [...flags], ...timed(time) };
    return [...results, ...summaries, ...(blocks.length === 0 ? [] : [said])];
  }
  if (message.role !== 'assistant')
    return [
      {
        ...noteTurn(position, textAt(message, 'role') ?? 'note', '', time),
        blocks: blocks.length === 0 ? textBlocks(plainText(message.text)) : blocks,
      },
    ];
  const usage = objectAt(message, 'usage');
  const model = usage === undefined ? undefined : textAt(usage, 'model');
  const stop = textAt(objectAt(message, 'state') ?? {}, 'stopReason');
  return [
    ...summaries,
    {
      position,
      role: 'assistant',
      blocks,
      flags: [...flags],
      ...timed(time),
      ...(usage === undefined
        ? {}
        : {
            usage: {
              inputTokens: numberAt(usage, 'totalInputTokens', 'inputTokens') ?? 0,
              outputTokens: numberAt(usage, 'outputTokens') ?? 0,
            },
          }),
      ...(model === undefined ? {} : { model }),
      ...(stop === undefined ? {} : { finishReasons: [stop] }),
    },
  ];
}

const isSummary = (part: JsonValue): part is JsonObject => isJsonObject(part) && part.type === 'summary';

/** States in which a call has not ended, and those in which a person ended it. */
const OPEN: ReadonlySet<string> = new Set(['in-progress', 'blocked-on-user', 'queued']);
const REFUSED: ReadonlySet<string> = new Set(['cancelled', 'rejected-by-user']);

function readResult(part: JsonObject, position: number, time: string | null): Turn {
  const run = objectAt(part, 'run') ?? {};
  const status = textAt(run, 'status') ?? '';
  const result = objectAt(run, 'result');
  const error = objectAt(run, 'error');
  const text =
    error === undefined
      ? plainText(result?.output ?? run.result ?? run.reason)
      : (textAt(error, 'message') ?? plainText(error));
  return answerTurn({
    position,
    toolCallId: textAt(part, 'toolUseID', 'tool_use_id') ?? null,
    content: text === '' && REFUSED.has(status) ? `${status}: the user declined` : text,
    isError: status === 'error' ? true : status === 'done' ? false : null,
    exitCode: result === undefined ? undefined : numberAt(result, 'exitCode'),
    time,
    flags: OPEN.has(status) ? ['in-progress'] : [],
  });
}
