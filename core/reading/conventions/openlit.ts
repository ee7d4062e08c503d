import type { Message } from '../../session/session.ts';
import type { Convention, RawSpan } from '../decode/format.ts';
import { textAt } from './attributes.ts';
import { buildInference } from './build.ts';
import { readGenai } from './genai.ts';

/** OpenLIT: the prompt is one text with a `role: ` line a message, in the event `gen_ai.content.prompt`. */
export const openlit: Convention = {
  id: 'openlit',
  title: 'OpenLIT',
  knownBy: 'scope openlit.* or telemetry.sdk.name openlit',
  from: '`openlit.init(otlp_endpoint=…)`',
  checkedOn: 'the attributes of openlit.otel.tracing (2026-11)',
  claim: (span) =>
    /^openlit/.test(span.scope.name) || span.attributes['telemetry.sdk.name'] === 'openlit' ? 60 : 0,
  read: (span, logs) => {
    const prompt = promptOf(span);
    if (prompt === null) return readGenai(span, logs);
    const messages = splitRoles(prompt);
    const system = messages.filter((message) => message.role === 'system');
    const systemText = system
      .flatMap((m) => m.content.flatMap((b) => (b.type === 'text' ? [b.text] : [])))
      .join('\n\n');
    return buildInference(span, logs, {
      input: messages.filter((message) => message.role !== 'system'),
      ...(systemText !== '' ? { system: systemText } : {}),
    });
  },
};

function promptOf(span: RawSpan): string | null {
  const event = span.events.find((item) => item.name === 'gen_ai.content.prompt');
  const text = textAt(event?.attributes ?? {}, 'gen_ai.prompt') ?? textAt(span.attributes, 'gen_ai.prompt');
  return text !== null && /^(system|user|assistant|tool): /.test(text) ? text : null;
}

function splitRoles(prompt: string): Message[] {
  return prompt.split(/\n(?=(?:system|user|assistant|tool): )/).map((piece) => {
    const colon = piece.indexOf(': ');
    const role = piece.slice(0, colon);
    const text = piece.slice(colon + 2);
    return {
      role: role === 'system' || role === 'assistant' || role === 'tool' ? role : 'user',
      content: [{ type: 'text', text }],
    } satisfies Message;
  });
}
