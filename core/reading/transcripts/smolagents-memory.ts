import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { SpanError, SpanFlag } from '../../session/session.ts';
import { readUsage } from '../conventions/provider-bodies.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { plainText, readToolCalls } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { answerTurn, brokenEnd, noteTurn, textBlocks } from './turn-parts.ts';

function stepsOf(document: JsonValue): JsonObject[] {
  if (Array.isArray(document)) return document.filter(isJsonObject);
  if (!isJsonObject(document)) return [];
  return objectsIn(document.steps ?? document.messages);
}

function isAction(step: JsonObject): boolean {
  return (
    typeof step.step_number === 'number' &&
    (isJsonObject(step.timing) || step.start_time !== undefined) &&
    ['model_output', 'code_action', 'observations', 'action_output'].some((key) => key in step)
  );
}

/**
 * Steps of a smolagents memory (`agent.memory.get_full_steps()`, the succinct ones, or a `RunResult`; shape of commit
 * e3a5b899). Observations are one text for all calls of a step, in the order in which they ended: they answer its only
 * call, else they are a note. The steps of a managed agent are not in its manager's memory, only its report.
 */
export const smolagentsMemory: TranscriptFormat = {
  id: 'smolagents-memory',
  title: 'smolagents memory steps',
  knownBy: '[{task}, {step_number, timing, model_output, tool_calls, observations, error}], also as `steps`',
  from: '`agent.memory.get_full_steps()`, `get_succinct_steps()` or a `RunResult`, as JSON',
  checkedOn: 'smolagents commit e3a5b899',

  recognise(document) {
    return stepsOf(document).slice(0, 20).some(isAction) ? { match: 'yes', sure: 0.95 } : { match: 'no' };
  },

  read(document, source) {
    const steps = stepsOf(document);
    const unknown = steps.filter((step) => !isAction(step) && !isOther(step)).length;
    const session = buildConversation({
      sessionId: sourceStem(source),
      format: this.id,
      turns: steps.flatMap((step, position) =>
        readStep(step, position, steps.findIndex(isAction) === position),
      ),
    });
    return {
      sessions: [session],
      unread: unknown === 0 ? [] : [{ where: source, reason: 'a step of an unknown kind', count: unknown }],
    };
  },
};

const isOther = (step: JsonObject): boolean =>
  'task' in step || 'plan' in step || 'system_prompt' in step || 'output' in step;

function readStep(step: JsonObject, position: number, first: boolean): Turn[] {
  if (!isAction(step)) {
    if (typeof step.task === 'string') return [{ position, role: 'user', blocks: textBlocks(step.task) }];
    if (typeof step.system_prompt === 'string')
      return [{ position, role: 'system', blocks: textBlocks(step.system_prompt) }];
    if (step.plan === undefined) return [];
    const usage = objectAt(step, 'token_usage');
    const planned = textBlocks(plainText(step.plan));
    return [
      {
        position,
        role: 'assistant',
        name: 'plan',
        blocks: planned,
        ...(usage === undefined ? {} : { usage: readUsage(usage) }),
      },
    ];
  }
  const flags = new Set<SpanFlag>();
  const calls = readToolCalls(step, flags);
  const timing = objectAt(step, 'timing') ?? step;
  const time = {
    startTimeUnixNano: toUnixNano(timing.start_time),
    endTimeUnixNano: toUnixNano(timing.end_time),
  };
  const usage = objectAt(step, 'token_usage');
  const error = objectAt(step, 'error');
  const message = objectAt(step, 'model_output_message') ?? {};
  const model = textAt(objectAt(message, 'raw') ?? {}, 'model');
  const prompt = first ? systemPromptOf(step) : undefined;
  const answer: Turn = {
    position,
    role: 'assistant',
    blocks: [...textBlocks(plainText(step.model_output ?? message.content)), ...calls],
    flags: [...flags],
    ...time,
    ...(usage === undefined ? {} : { usage: readUsage(usage) }),
    ...(model === undefined ? {} : { model }),
    ...(prompt === undefined ? {} : { systemPrompt: prompt }),
  };
  return [answer, ...outcomeOf(step, calls, error, position, time.endTimeUnixNano)];
}

/** The prompt stands only in what the first call was sent. */
function systemPromptOf(step: JsonObject): string | undefined {
  const system = objectsIn(arrayAt(step, 'model_input_messages')).find((entry) =>
    /system$/i.test(String(entry.role)),
  );
  return system === undefined ? undefined : plainText(system.content) || undefined;
}

function outcomeOf(
  step: JsonObject,
  calls: Turn['blocks'],
  error: JsonObject | undefined,
  position: number,
  time: string | null,
): Turn[] {
  const type = error === undefined ? undefined : textAt(error, 'type');
  const said = error === undefined ? '' : (textAt(error, 'message') ?? type ?? 'error');
  if (type === 'AgentMaxStepsError') return [brokenEnd(position, 'limit', type, said, time)];
  const observed =
    textAt(step, 'observations') ?? (step.is_final_answer === true ? plainText(step.action_output) : '');
  const content = [observed, said].filter((text) => text !== '').join('\n');
  const errors: SpanError[] =
    error === undefined
      ? []
      : [{ source: 'error-type', ...(type === undefined ? {} : { type }), message: said.slice(0, 300) }];
  const [call] = calls;
  if (calls.length === 1 && call?.type === 'tool_use') {
    const turn = answerTurn({
      position,
      toolCallId: call.toolCallId,
      content,
      isError: error !== undefined,
      time,
    });
    return [{ ...turn, errors }];
  }
  if (content === '') return [];
  return [{ ...noteTurn(position, 'observations', content, time), errors }];
}
