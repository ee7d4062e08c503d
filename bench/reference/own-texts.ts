import type { JsonValue } from '../../core/base/json.ts';
import type { Block, Session, Span } from '../../core/session/session.ts';

/**
 * Everything that the spans say, each text once: what no prompt about the whole session can do without. Names of tools
 * and agents, ids and times are not counted.
 */
export function ownTexts(session: Session): string[] {
  return [...new Set(session.traces.flatMap(({ spans }) => spans.flatMap(textsOf)))];
}

function textsOf(span: Span): string[] {
  switch (span.kind) {
    case 'inference':
      return [
        span.systemPrompt ?? '',
        ...[...span.input, ...span.output].flatMap(({ content }) => content.map(textOf)),
      ];
    case 'message':
      return span.message.content.map(textOf);
    case 'execute_tool':
      return [asText(span.toolCall.arguments), span.toolResult?.content ?? ''];
    case 'invoke_agent':
      return [span.userPrompt ?? '', span.agentResponse ?? '', span.systemPrompt ?? ''];
    case 'other':
      return [];
  }
}

function textOf(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.text;
    case 'tool_use':
      return asText(block.arguments);
    case 'tool_result':
      return block.content;
    case 'media':
      return '';
  }
}

const asText = (value: JsonValue): string => JSON.stringify(value);
