import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Block, SpanError, SpanFlag } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { plainText, toolUse } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { readParts } from './gemini-parts.ts';

/**
 * Sessions of Gemini CLI (@google/gemini-cli-core 0.61.0 `services/chatRecordingTypes`): `chats/session-*.jsonl`, and the
 * `.json` of older releases. A message is written again whenever it changes; the last writing counts, at the place of
 * the first.
 */
export const geminiCli: TranscriptFormat = {
  id: 'gemini-cli',
  title: 'Gemini CLI session files',
  knownBy: '{sessionId, projectHash, messages}, or lines that begin with {sessionId, projectHash}',
  from: '`~/.gemini/tmp/<project>/chats/session-*.jsonl` (older: `.json`)',
  checkedOn: '@google/gemini-cli-core 0.61.0',

  recognise(document) {
    const [head] = Array.isArray(document) ? document : [document];
    if (isJsonObject(head) && isHead(head)) return { match: 'yes', sure: 0.95 };
    return isJsonObject(head) &&
      ['sessionId', 'messageId', 'message', 'timestamp'].every((key) => key in head) &&
      head.type === 'user' &&
      typeof head.messageId === 'number'
      ? {
          match: 'foreign',
          name: 'the prompt history of Gemini CLI (logs.json)',
          advice: 'It holds what users typed and nothing else: give a file of the folder chats beside it.',
        }
      : { match: 'no' };
  },

  read(document, source) {
    const tally = new UnreadTally(source);
    const lines = objectsIn(Array.isArray(document) ? document : [document]);
    const { head, messages } = replay(lines, tally);
    return {
      sessions: [
        buildConversation({
          sessionId: textAt(head, 'sessionId') ?? sourceStem(source),
          format: this.id,
          turns: messages.flatMap((message, position) => messageTurns(message, position)),
        }),
      ],
      unread: tally.list(),
    };
  },
};

const isHead = (line: JsonObject): boolean =>
  typeof line.sessionId === 'string' && typeof line.projectHash === 'string';

/** Plays the lines back to the messages that stand at the end. */
function replay(
  lines: readonly JsonObject[],
  tally: UnreadTally,
): { head: JsonObject; messages: JsonObject[] } {
  let head: JsonObject = {};
  let messages = new Map<string, JsonObject>();
  const take = (list: JsonValue | undefined): void => {
    messages = new Map(objectsIn(list).map((message, at) => [textAt(message, 'id') ?? `#${at}`, message]));
  };
  for (const line of lines) {
    const set = objectAt(line, '$set');
    const rewind = textAt(line, '$rewindTo');
    if (rewind !== undefined) {
      const ids = [...messages.keys()];
      const at = ids.indexOf(rewind);
      const dropped = ids.slice(Math.max(at, 0));
      if (dropped.length > 0) tally.add('a message that the user took back', dropped.length);
      for (const id of dropped) messages.delete(id);
    } else if (typeof line.id === 'string') messages.set(line.id, line);
    else if (set !== undefined) {
      head = { ...head, ...set };
      if (arrayAt(set, 'messages') !== undefined) take(set.messages);
    } else if (isHead(line)) {
      head = { ...head, ...line };
      if (arrayAt(line, 'messages') !== undefined) take(line.messages);
    } else tally.add('a line that is no message and no setting');
  }
  return { head, messages: [...messages.values()] };
}

function messageTurns(message: JsonObject, position: number): Turn[] {
  const time = toUnixNano(message.timestamp);
  const base = { position, startTimeUnixNano: time, endTimeUnixNano: time };
  const flags = new Set<SpanFlag>();
  const blocks = contentBlocks(message.content, flags);
  switch (message.type) {
    case 'user': {
      // Results stand with their calls already.
      const said = blocks.filter((block) => block.type !== 'tool_result');
      return said.length === 0 ? [] : [{ ...base, role: 'user', blocks: said, flags: [...flags] }];
    }
    case 'gemini':
      return modelTurns(message, base, blocks, flags);
    case 'error':
    case 'warning':
    case 'info': {
      const text = plainText(message.content);
      const errors: SpanError[] =
        message.type === 'error' ? [{ source: 'status', message: text.slice(0, 300) || 'error' }] : [];
      return [
        {
          ...base,
          role: 'system',
          note: true,
          name: String(message.type),
          blocks: [{ type: 'text', text }],
          errors,
        },
      ];
    }
    default:
      return [];
  }
}

/** `string`, a part, or a list of both. */
function contentBlocks(content: JsonValue | undefined, flags: Set<SpanFlag>): Block[] {
  const parts = Array.isArray(content) ? content : content === undefined || content === '' ? [] : [content];
  return readParts({ parts }, flags);
}

function modelTurns(
  message: JsonObject,
  base: { position: number; startTimeUnixNano: string | null; endTimeUnixNano: string | null },
  blocks: readonly Block[],
  flags: Set<SpanFlag>,
): Turn[] {
  const thoughts = objectsIn(message.thoughts).map(
    (thought): Block => ({
      type: 'reasoning',
      text: [textAt(thought, 'subject'), textAt(thought, 'description')]
        .filter((text) => text !== undefined)
        .join(': '),
    }),
  );
  const calls = objectsIn(message.toolCalls);
  const uses = calls.map((call) =>
    toolUse(textAt(call, 'id') ?? null, textAt(call, 'name') ?? '', call.args, flags),
  );
  const tokens = objectAt(message, 'tokens');
  const model = textAt(message, 'model');
  return [
    {
      ...base,
      role: 'assistant',
      blocks: [...thoughts, ...blocks, ...uses],
      flags: [...flags],
      ...(model === undefined ? {} : { model }),
      ...(tokens === undefined
        ? {}
        : {
            usage: {
              inputTokens: numberAt(tokens, 'input') ?? 0,
              outputTokens: (numberAt(tokens, 'output') ?? 0) + (numberAt(tokens, 'thoughts') ?? 0),
            },
          }),
    },
    ...calls.flatMap((call): Turn[] => resultTurns(call, base)),
  ];
}

/** A call that waits for approval has no result; one that a person refused is cancelled, which is no failure of the tool. */
function resultTurns(
  call: JsonObject,
  base: { position: number; startTimeUnixNano: string | null; endTimeUnixNano: string | null },
): Turn[] {
  const status = textAt(call, 'status');
  if (status !== 'success' && status !== 'error' && status !== 'cancelled') return [];
  const [result] = contentBlocks(call.result ?? undefined, new Set()).filter(
    (block) => block.type === 'tool_result',
  );
  const said =
    result?.type === 'tool_result' ? result.content : plainText(call.result ?? call.resultDisplay ?? '');
  const content = status === 'cancelled' && said === '' ? 'cancelled by the user' : said;
  const time = toUnixNano(call.timestamp) ?? base.startTimeUnixNano;
  return [
    {
      ...base,
      startTimeUnixNano: time,
      endTimeUnixNano: time,
      role: 'tool',
      blocks: [
        {
          type: 'tool_result',
          toolCallId: textAt(call, 'id') ?? null,
          content,
          isError: status === 'cancelled' ? null : status === 'error',
        },
      ],
    },
  ];
}
