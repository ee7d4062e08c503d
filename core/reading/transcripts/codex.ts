import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { failedTurn, readItem } from './codex-items.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

const EVENT_TYPES = /^(thread\.started|turn\.(started|completed|failed)|item\.(started|updated|completed))$/;

/**
 * Events of `codex exec --json` (`item.completed`, …). An item that was started and never completed is a call without
 * a result. Session files are read by `codex-rollout.ts`.
 */
export const codex: TranscriptFormat = {
  id: 'codex',
  title: 'Codex event streams',
  knownBy: 'lines {type: "item.completed", item}',
  from: 'standard output of `codex exec --json`',
  checkedOn: 'openai/codex commit 0136a731',

  recognise(document) {
    const lines = Array.isArray(document) ? document : [];
    const known = (line: JsonValue) =>
      isJsonObject(line) && typeof line.type === 'string' && EVENT_TYPES.test(line.type);
    return lines.slice(0, 50).some(known) ? { match: 'yes', sure: 0.85 } : { match: 'no' };
  },

  read(document, source) {
    const turns: Turn[] = [];
    const started = new Map<string, number>();
    let sessionId: string | undefined;
    objectsIn(document).forEach((line, position) => {
      if (line.type === 'thread.started') sessionId ??= textAt(line, 'thread_id');
      const turn = readLine(line, position);
      if (turn === null) return;
      const id = objectAt(line, 'item')?.id;
      if (typeof id !== 'string') {
        turns.push(turn);
        return;
      }
      // The same item comes as started, updated and completed: the last state wins, at the place of the first.
      const place = started.get(id);
      if (place === undefined) started.set(id, turns.push(turn) - 1);
      else turns[place] = { ...turn, position: turns[place]?.position ?? position };
    });
    return {
      sessions: [buildConversation({ sessionId: sessionId ?? sourceStem(source), format: this.id, turns })],
      unread: [],
    };
  },
};

function readLine(line: JsonObject, position: number): Turn | null {
  const item = objectAt(line, 'item');
  if (item !== undefined) return readItem(item, position);
  const failure =
    line.type === 'turn.failed' ? objectAt(line, 'error') : line.type === 'error' ? line : undefined;
  return failure === undefined ? null : failedTurn(textAt(failure, 'message') ?? 'turn failed', position);
}
