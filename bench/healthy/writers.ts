import type { JsonObject, JsonValue } from '../../core/base/json.ts';
import type { Call, Conversation } from './conversations.ts';

/** A conversation as one product writes it down. */
export type Writer = (conversation: Conversation) => JsonValue;

type Item = JsonValue & object;

const each = (
  { turns }: Conversation,
  said: (says: 'user' | 'agent', text: string) => Item[],
  called: (turn: Call, id: string) => Item[],
): Item[] =>
  turns.flatMap((turn, at) => ('says' in turn ? said(turn.says, turn.text) : called(turn, `c${at}`)));

const roleOf = (says: 'user' | 'agent'): string => (says === 'user' ? 'user' : 'assistant');

/** By the id of the format that must read it. */
export const WRITERS: Readonly<Record<string, Writer>> = {
  'chat-completions': (conversation) => ({
    messages: each(
      conversation,
      (says, content) => [{ role: roleOf(says), content }],
      ({ calls: name, args, result }, id) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
        },
        { role: 'tool', tool_call_id: id, content: result },
      ],
    ),
  }),

  'content blocks': (conversation) => ({
    messages: each(
      conversation,
      (says, text) => [{ role: roleOf(says), content: [{ type: 'text', text }] }],
      ({ calls: name, args, result, failed }, id) => [
        { role: 'assistant', content: [{ type: 'tool_use', id, name, input: { ...args } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: id, content: result, is_error: failed === true }],
        },
      ],
    ),
  }),

  'openai-responses': (conversation) =>
    each(
      conversation,
      (says, content) => [{ type: 'message', role: roleOf(says), content }],
      ({ calls: name, args, result }, call_id) => [
        { type: 'function_call', call_id, name, arguments: JSON.stringify(args) },
        { type: 'function_call_output', call_id, output: result },
      ],
    ),

  'langchain-messages': (conversation) =>
    each(
      conversation,
      (says, content) => [
        says === 'user' ? { type: 'human', data: { content } } : { type: 'ai', data: { content } },
      ],
      ({ calls: name, args, result, failed }, id) => [
        { type: 'ai', data: { content: '', tool_calls: [{ name, args: { ...args }, id }] } },
        {
          type: 'tool',
          data: { content: result, name, tool_call_id: id, status: failed === true ? 'error' : 'success' },
        },
      ],
    ),

  gemini: (conversation) => ({
    contents: each(
      conversation,
      (says, text) => [{ role: says === 'user' ? 'user' : 'model', parts: [{ text }] }],
      ({ calls: name, args, result, failed }) => [
        { role: 'model', parts: [{ functionCall: { name, args: { ...args } } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { name, response: failed === true ? { error: result } : { result } } }],
        },
      ],
    ),
  }),

  'aws-flat': ({ turns }) => {
    const history: JsonObject[] = [];
    const spans: JsonObject[] = [];
    const add = (attributes: JsonObject): void => {
      spans.push(spanAt(spans.length, attributes));
    };
    const model = (...parts: JsonObject[]): void => {
      const output = { role: 'assistant', parts };
      add({
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': JSON.stringify(history),
        'gen_ai.output.messages': JSON.stringify([output]),
      });
      history.push(output);
    };
    for (const [at, turn] of turns.entries()) {
      const text = 'says' in turn ? { type: 'text', content: turn.text } : null;
      if ('calls' in turn) {
        const id = `c${at}`;
        model({ type: 'tool_call', id, name: turn.calls, arguments: { ...turn.args } });
        add({
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': turn.calls,
          'gen_ai.tool.call.id': id,
          'gen_ai.tool.call.arguments': JSON.stringify(turn.args),
          'gen_ai.tool.call.result': turn.result,
        });
        history.push({ role: 'tool', parts: [{ type: 'tool_call_response', id, response: turn.result }] });
      } else if (text !== null && turn.says === 'user') history.push({ role: 'user', parts: [text] });
      else if (text !== null && history.length > 0) model(text);
      // A greeting comes before any model is asked.
      else if (text !== null) history.push({ role: 'assistant', parts: [text] });
    }
    return spans;
  },
};

/** The record of a span, a second after the one before. */
function spanAt(index: number, attributes: JsonObject): JsonObject {
  const second = (at: number): string => `${1_790_000_000 + at}000000000`;
  return {
    resource: { attributes: { 'service.name': 'healthy' } },
    scope: { name: 'healthy', version: '' },
    traceId: '7'.repeat(32),
    spanId: (index + 1).toString(16).padStart(16, '0'),
    name: String(attributes['gen_ai.operation.name']),
    kind: 'INTERNAL',
    startTimeUnixNano: second(index),
    endTimeUnixNano: second(index + 1),
    attributes,
    events: [],
    status: { code: 'UNSET' },
  };
}
