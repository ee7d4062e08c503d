import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Session, Unread } from '../../session/session.ts';
import { parseJson } from '../decode/decode-json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { plainText } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { objectsIn, sourceStem, textAt } from './fields.ts';
import { readSpeakerTurns } from './speakers.ts';
import { readTeamLog } from './team-log.ts';

function isRecord(value: JsonValue | undefined): value is JsonObject {
  return (
    isJsonObject(value) &&
    typeof value.mas_name === 'string' &&
    value.trace_id !== undefined &&
    (typeof value.trace === 'string' || isJsonObject(value.trace))
  );
}

/**
 * Records of the MAST collection (MAST-Data, full and human-labelled): one run of a multi-agent system with its log as
 * text. Only the log is taken; what annotators found (`mast_annotation`, `annotations`) and the answers that some logs
 * carry beside the run (`other_data`) cannot follow. A log that cannot be split into turns is one note, and is said.
 */
export const mast: TranscriptFormat = {
  id: 'mast',
  title: 'MAST records',
  knownBy: '{mas_name, benchmark_name, trace_id, trace: {trajectory} | text} or a list of these',
  from: 'records of MAST-Data (full and human-labelled); only the log of a run is taken',
  checkedOn: 'the published records’ shape (2026-11)',

  recognise(document) {
    const first = Array.isArray(document) ? document[0] : document;
    return isRecord(first) ? { match: 'yes', sure: 0.99 } : { match: 'no' };
  },

  read(document, source) {
    const sessions: Session[] = [];
    const unread: Unread[] = [];
    for (const [index, record] of (Array.isArray(document) ? document : [document]).entries()) {
      const where = `${sourceStem(source)}#${index}`;
      if (!isRecord(record)) {
        unread.push({ where, reason: 'not a MAST record', count: 1 });
        continue;
      }
      const sessionId = ['mast', record.mas_name, record.benchmark_name, record.llm_name, record.trace_id]
        .filter((part) => part !== undefined && part !== null)
        .join('-');
      const { turns, goal, split } = readTrace(record.trace);
      if (!split)
        unread.push({ where: sessionId, reason: 'a log of no known shape: read whole, not split', count: 1 });
      sessions.push(buildConversation({ sessionId, format: this.id, turns, goal }));
    }
    return { sessions, unread };
  },
};

function readTrace(trace: JsonValue | undefined) {
  const text = (isJsonObject(trace) ? textAt(trace, 'trajectory') : trace) ?? '';
  const log = typeof text === 'string' ? text : '';
  const parsed = /^\s{0,64}\{/.test(log) ? parseJson(log) : null;
  if (parsed?.ok !== true || !isJsonObject(parsed.value)) return readTeamLog(log);
  const goal = linesOf(parsed.value.problem_statement ?? parsed.value.prompt) || null;
  const { trajectory, content } = parsed.value;
  const messages = objectsIn(trajectory);
  // AG2 keeps messages; the others keep the lines of their log.
  if (messages.length > 0) return { turns: readMessages(messages), goal, split: true };
  return { ...readTeamLog(linesOf(trajectory ?? content)), ...(goal === null ? {} : { goal }) };
}

const linesOf = (value: JsonValue | undefined): string =>
  Array.isArray(value) ? value.map((line) => plainText(line)).join('\n') : plainText(value);

/** The role is as the receiver saw it; the name says who spoke. */
function readMessages(messages: readonly JsonObject[]): Turn[] {
  const named = messages.map((message) => ({
    name: textAt(message, 'name', 'role') ?? 'agent',
    content: linesOf(message.content),
  }));
  return readSpeakerTurns(named);
}
