import { isJsonObject } from '../../base/json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { isSpeakerList } from './autogen.ts';
import { isChatList } from './chat-completions.ts';
import { buildConversation } from './conversation.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { readSpeakerTurns } from './speakers.ts';

/**
 * Records of the Who&When collection, and any `{history, question}` record of agents. The labels inside
 * (`mistake_agent`, `mistake_step`, `mistake_reason`, `mistake_type`, `ground_truth`, `labels`, …) are not among the
 * three fields taken, so they cannot follow.
 */
export const whoWhen: TranscriptFormat = {
  id: 'who-when',
  title: 'Who&When records',
  knownBy: '{history: [{role, name?, content}], question, system_prompt?}',
  from: 'records of the Who&When collection, and any `{history, question}`; labels are not taken',
  checkedOn: 'ag2ai/Agents_Failure_Attribution',

  recognise(document) {
    if (!isJsonObject(document)) return { match: 'no' };
    const { history } = document;
    if (!isSpeakerList(history) && !isChatList(history)) return { match: 'no' };
    return { match: 'yes', sure: document.question === undefined ? 0.7 : 0.95 };
  },

  read(document, source) {
    const record = isJsonObject(document) ? document : {};
    const prompts = objectAt(record, 'system_prompt') ?? {};
    const prompted = new Set<string>();
    const turns = readSpeakerTurns(objectsIn(record.history)).map((turn) => {
      const { agent } = turn;
      if (turn.role !== 'assistant' || typeof agent !== 'string' || prompted.has(agent)) return turn;
      prompted.add(agent);
      const systemPrompt = textAt(prompts, agent);
      return systemPrompt === undefined ? turn : { ...turn, systemPrompt };
    });
    const session = buildConversation({
      sessionId: sourceStem(source),
      format: this.id,
      turns,
      goal: textAt(record, 'question') ?? null,
    });
    return { sessions: [session], unread: [] };
  },
};
