import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Block, SpanFlag } from '../../session/session.ts';
import { readBlocks } from './blocks.ts';
import { objectAt, objectsIn, textAt } from './fields.ts';

/**
 * The parts of a Gemini `Content` (google-genai 3.6.1 `types.py`; REST in camelCase, Python dumps in snake_case) as
 * blocks. Calls have no id in the Developer API. A response `{error: …}`, or MCP's `{isError: true}`, is a failure.
 */
export function readParts(content: JsonObject, flags: Set<SpanFlag>): Block[] {
  const parts = Array.isArray(content.parts)
    ? content.parts
    : content.parts === undefined
      ? [content.content ?? null]
      : [];
  return parts.flatMap((part) => readPart(part, flags));
}

function readPart(part: JsonValue, flags: Set<SpanFlag>): Block[] {
  if (!isJsonObject(part)) return readBlocks(part, flags);
  if (part.thought === true && typeof part.text === 'string') return [{ type: 'reasoning', text: part.text }];
  const response = objectAt(part, 'functionResponse') ?? objectAt(part, 'function_response');
  if (response !== undefined) return [readResponse(response, flags)];
  const code = objectAt(part, 'executableCode') ?? objectAt(part, 'executable_code');
  if (code !== undefined)
    return [
      {
        type: 'tool_use',
        toolCallId: textAt(code, 'id') ?? null,
        name: 'code_execution',
        arguments: { code: code.code ?? null },
      },
    ];
  const ran = objectAt(part, 'codeExecutionResult') ?? objectAt(part, 'code_execution_result');
  if (ran !== undefined) {
    const isError = typeof ran.outcome === 'string' ? !ran.outcome.endsWith('_OK') : null;
    return [
      {
        type: 'tool_result',
        toolCallId: textAt(ran, 'id') ?? null,
        content: textAt(ran, 'output') ?? '',
        isError,
      },
    ];
  }
  // A signature alone says nothing that can be read.
  const { thoughtSignature: _, thought_signature: __, ...rest } = part;
  return Object.values(rest).every((value) => value === null) ? [] : readBlocks(withoutNulls(rest), flags);
}

const withoutNulls = (part: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null));

/** `{output}` and `{result}` wrap a plain value. */
function readResponse(response: JsonObject, flags: Set<SpanFlag>): Block {
  const body = objectAt(response, 'response') ?? {};
  const keys = Object.keys(body);
  const [only] = keys;
  const value =
    keys.length === 1 && (only === 'output' || only === 'result' || only === 'error')
      ? (body[only] ?? '')
      : body;
  const [read] = readBlocks({ type: 'tool_result', content: value }, flags);
  const failed = isFailure(body);
  return {
    type: 'tool_result',
    toolCallId: textAt(response, 'id') ?? null,
    content: read?.type === 'tool_result' ? read.content : '',
    isError: failed ? true : 'output' in body || 'result' in body ? false : null,
  };
}

function isFailure(body: JsonObject): boolean {
  const { error } = body;
  if (error !== undefined && error !== null && error !== '' && error !== false) return true;
  return body.isError === true || body.is_error === true || body.status === 'error';
}

/** Name of the tool that a content's first response answers: results without an id are paired by it. */
export function respondingTool(content: JsonObject): string | undefined {
  for (const part of objectsIn(content.parts)) {
    const response = objectAt(part, 'functionResponse') ?? objectAt(part, 'function_response');
    if (response !== undefined) return textAt(response, 'name');
  }
  return undefined;
}
