import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanError, SpanFlag } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { plainText, toolUse } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

function isEvent(line: JsonValue | undefined): line is JsonObject {
  return (
    isJsonObject(line) &&
    (line.event === 'action' || line.event === 'observation') &&
    typeof line.step === 'number'
  );
}

/**
 * Trajectories of the Exgentic harness: lines of actions (a message to the user, or a tool call) and observations (a
 * user's message, or a tool's result). The position is the line's index.
 */
export const exgentic: TranscriptFormat = {
  id: 'exgentic',
  title: 'Exgentic trajectories',
  knownBy: 'lines {event: "action" | "observation", session_id, step}',
  from: 'a run’s trajectory as the Exgentic harness records it, one step a line',
  checkedOn: 'recordings in Exgentic/exgentic',

  recognise(document) {
    const lines = Array.isArray(document) ? document : [];
    return lines.slice(0, 10).some(isEvent) ? { match: 'yes', sure: 0.9 } : { match: 'no' };
  },

  read(document, source) {
    const bySession = new Map<string, Turn[]>();
    objectsIn(document).forEach((line, position) => {
      if (!isEvent(line)) return;
      const id = textAt(line, 'session_id') ?? sourceStem(source);
      const turns = bySession.get(id) ?? [];
      turns.push(...(line.event === 'action' ? readAction(line, position) : readObservation(line, position)));
      bySession.set(id, turns);
    });
    const sessions = [...bySession].map(([sessionId, turns]) =>
      buildConversation({ sessionId, format: this.id, turns }),
    );
    return { sessions, unread: [] };
  },
};

function readAction(line: JsonObject, position: number): Turn[] {
  const action = objectAt(line, 'action');
  if (action === undefined) return [];
  const args = objectAt(action, 'arguments') ?? {};
  const name = textAt(action, 'name') ?? 'unknown';
  const validation = objectAt(action, 'validation');
  const errors: SpanError[] =
    validation?.valid === false
      ? [
          {
            source: 'tool-status',
            type: 'invalid-action',
            message: textAt(validation, 'error') ?? 'invalid action',
          },
        ]
      : [];
  const flags = new Set<SpanFlag>();
  const spoken = name === 'message' ? textAt(args, 'content') : undefined;
  return [
    {
      position,
      role: 'assistant',
      errors,
      blocks:
        spoken === undefined
          ? [toolUse(textAt(action, 'id') ?? null, name, action.arguments, flags)]
          : [{ type: 'text', text: spoken }],
    },
  ];
}

function readObservation(line: JsonObject, position: number): Turn[] {
  const observation = objectAt(line, 'observation');
  // The last observation of a run is null: the run ended there.
  if (observation === undefined) return [];
  const { result } = observation;
  const said = isJsonObject(result) ? textAt(result, 'message') : undefined;
  if (said !== undefined) return [{ position, role: 'user', blocks: [{ type: 'text', text: said }] }];
  const asked = objectsIn(observation.invoking_actions).filter((action) => action.name !== 'message');
  const content = plainText(result);
  if (asked.length === 0) {
    return content === '' ? [] : [{ position, role: 'user', blocks: [{ type: 'text', text: content }] }];
  }
  return asked.map((action) => ({
    position,
    role: 'tool',
    ...(typeof action.name === 'string' ? { toolName: action.name } : {}),
    blocks: [{ type: 'tool_result', toolCallId: textAt(action, 'id') ?? null, content, isError: null }],
  }));
}
