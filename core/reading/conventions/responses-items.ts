import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { textAt } from './attributes.ts';

/**
 * Items of OpenAI's Responses API (request `input`, response `output`, Agents SDK histories; openai 3.57.0,
 * `types/responses`), as the chat messages that they stand for. A tool that the service runs itself is call and result
 * in one item, so one item may be two messages.
 */

/** Calls that a later item answers, and the name of their tool where the item has none. */
const CALLS: ReadonlyMap<string, string | null> = new Map(
  Object.entries({
    function_call: null,
    custom_tool_call: null,
    local_shell_call: 'local_shell',
    shell_call: 'shell',
    apply_patch_call: 'apply_patch',
    computer_call: 'computer',
    tool_search_call: 'tool_search',
    program: 'program',
  }),
);
const OUTPUTS: ReadonlySet<string> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
  'shell_call_output',
  'apply_patch_call_output',
  'computer_call_output',
  'tool_search_output',
  'program_output',
]);
/** Run by the service: the result stands in the call. */
const SERVED: ReadonlyMap<string, string | null> = new Map(
  Object.entries({
    web_search_call: 'web_search',
    file_search_call: 'file_search',
    code_interpreter_call: 'code_interpreter',
    image_generation_call: 'image_generation',
    mcp_call: null,
  }),
);
/** Say nothing of the conversation themselves: lists of tools, markers, encrypted summaries. */
const SILENT: ReadonlySet<string> = new Set([
  'additional_tools',
  'compaction',
  'compaction_summary',
  'compaction_trigger',
]);
const OTHERS: ReadonlySet<string> = new Set([
  'reasoning',
  'item_reference',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
]);

/** Whether an object is an item by its type. Plain messages, which other APIs write too, are not. */
export function isResponsesItem(value: JsonValue | undefined): boolean {
  if (!isJsonObject(value) || typeof value.type !== 'string' || value.role !== undefined) return false;
  const { type } = value;
  return CALLS.has(type) || OUTPUTS.has(type) || SERVED.has(type) || SILENT.has(type) || OTHERS.has(type);
}

/** The messages of one item; `null` for what is no item (a plain message). Empty: the item says nothing by itself. */
export function responsesItemMessages(item: JsonObject): JsonObject[] | null {
  if (!isResponsesItem(item)) return null;
  const type = String(item.type);
  if (CALLS.has(type)) return [callMessage(item, CALLS.get(type) ?? null, textAt(item, 'call_id', 'id'))];
  if (OUTPUTS.has(type)) {
    // A local shell's output has no call_id: its id is the call's.
    const id = textAt(item, 'call_id', 'id');
    return [{ role: 'tool', tool_call_id: id, content: outputOf(item), ...failedMark(isFailedOutput(item)) }];
  }
  if (SERVED.has(type)) return servedMessages(item, SERVED.get(type) ?? null);
  switch (type) {
    case 'reasoning': {
      const text = reasoningText(item.summary) || reasoningText(item.content);
      return text === '' ? [] : [{ role: 'assistant', content: [{ type: 'reasoning', text }] }];
    }
    case 'mcp_list_tools':
      return typeof item.error === 'string' && item.error !== ''
        ? servedMessages(
            { ...item, name: 'mcp_list_tools', arguments: { server_label: item.server_label ?? null } },
            null,
          )
        : [];
    case 'mcp_approval_request':
      return [
        {
          role: 'assistant',
          content:
            `[approval requested] ${textAt(item, 'name') ?? 'tool'} ${textAt(item, 'arguments') ?? ''}`.trim(),
        },
      ];
    case 'mcp_approval_response':
      return [
        {
          role: 'user',
          content:
            `${item.approve === true ? '[approved]' : '[declined]'} ${textAt(item, 'reason') ?? ''}`.trim(),
        },
      ];
    default:
      return [];
  }
}

/** Tool definitions of a request or response and of `mcp_list_tools` items, with the names that calls of built-in tools have. */
export function responsesTools(tools: JsonValue | undefined, items: readonly JsonValue[]): JsonValue[] {
  const listed = (Array.isArray(tools) ? tools : []).flatMap((tool): JsonValue[] => {
    if (!isJsonObject(tool) || typeof tool.type !== 'string') return [tool];
    if (tool.type === 'namespace' && Array.isArray(tool.tools)) return tool.tools;
    if (typeof tool.name === 'string' || tool.type === 'mcp' || isJsonObject(tool.function)) return [tool];
    return [{ name: builtInName(tool.type) }];
  });
  const served = items.flatMap((item): JsonValue[] => {
    if (!isJsonObject(item)) return [];
    if (
      item.type === 'mcp_list_tools' ||
      item.type === 'additional_tools' ||
      item.type === 'tool_search_output'
    )
      return Array.isArray(item.tools) ? item.tools : [];
    // The service ran it, so it is there, whether or not the log holds the list.
    return item.type === 'mcp_call' && typeof item.name === 'string' ? [{ name: item.name }] : [];
  });
  return [...listed, ...served];
}

/** `web_search_preview_2025_03_11` is called as `web_search`. */
const builtInName = (type: string): string =>
  type.replace(/_\d{4}_\d\d_\d\d$/, '').replace(/_(?:preview|use_preview)$/, '');

function callMessage(item: JsonObject, fallback: string | null, id: string | null): JsonObject {
  const name = textAt(item, 'name') ?? fallback ?? '';
  const input =
    item.arguments ?? item.input ?? item.action ?? item.actions ?? item.operation ?? item.code ?? {};
  return { role: 'assistant', content: null, tool_calls: [{ id, name, arguments: input }] };
}

function servedMessages(item: JsonObject, fallback: string | null): JsonObject[] {
  const id = textAt(item, 'id', 'call_id');
  const input = item.arguments ?? item.action ?? item.code ?? item.queries ?? item.revised_prompt ?? {};
  const call = callMessage(
    { ...item, arguments: Array.isArray(input) ? { queries: input } : input },
    fallback,
    id,
  );
  const failed = isFailedOutput(item);
  const running = ['in_progress', 'searching', 'calling', 'generating', 'interpreting'].includes(
    String(item.status),
  );
  if (running && !failed) return [call];
  return [
    call,
    { role: 'tool', tool_call_id: id, content: servedResult(item, failed), ...failedMark(failed) },
  ];
}

function servedResult(item: JsonObject, failed: boolean): JsonValue {
  if (failed)
    return (
      errorText(item.error) || outputOf(item) || `${String(item.type)} ${String(item.status ?? 'failed')}`
    );
  switch (item.type) {
    case 'file_search_call':
      return Array.isArray(item.results) ? item.results : '';
    case 'code_interpreter_call': {
      const outputs = Array.isArray(item.outputs)
        ? item.outputs
        : Array.isArray(item.results)
          ? item.results
          : [];
      const logs = outputs.flatMap((entry) => (isJsonObject(entry) ? (textAt(entry, 'logs') ?? []) : []));
      return logs.join('\n');
    }
    case 'image_generation_call':
      return '[image]';
    case 'web_search_call':
      return isJsonObject(item.action) && Array.isArray(item.action.sources) ? item.action.sources : '';
    default:
      return outputOf(item);
  }
}

/** An MCP call's error is an object or, in older logs, text; a shell's failure stands in the outcome of its commands. */
function isFailedOutput(item: JsonObject): boolean {
  if (item.status === 'failed' || errorText(item.error) !== '') return true;
  return shellOutcomes(item).some(
    (outcome) => outcome.type === 'timeout' || Number(outcome.exit_code ?? 0) !== 0,
  );
}

function shellOutcomes(item: JsonObject): JsonObject[] {
  if (item.type !== 'shell_call_output' || !Array.isArray(item.output)) return [];
  return item.output.flatMap((entry) =>
    isJsonObject(entry) && isJsonObject(entry.outcome) ? [entry.outcome] : [],
  );
}

function errorText(error: JsonValue | undefined): string {
  if (typeof error === 'string') return error;
  if (!isJsonObject(error)) return '';
  const told = textAt(error, 'message');
  return told ?? JSON.stringify(error.content ?? error);
}

const failedMark = (failed: boolean): JsonObject => (failed ? { is_error: true } : {});

/** Output as text or blocks; a screenshot is an image. */
function outputOf(item: JsonObject): JsonValue {
  const output = item.output ?? item.result ?? item.tools ?? '';
  return isJsonObject(output) && output.type === 'computer_screenshot'
    ? [{ type: 'image_url', image_url: output.image_url ?? output.file_id ?? '' }]
    : output;
}

function reasoningText(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  const parts = Array.isArray(value) ? value : [];
  return parts.flatMap((part) => (isJsonObject(part) ? (textAt(part, 'text') ?? []) : [])).join('\n');
}
