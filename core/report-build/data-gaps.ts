import { plural } from '../base/plural.ts';
import type { Coverage } from '../diagnosis/schema.ts';
import {
  type Block,
  type Message,
  type Session,
  type Span,
  type SpanFlag,
  sessionSpans,
} from '../session/session.ts';

/** What a flag of the telemetry keeps us from seeing; flags that only describe odd times or trees are none. */
const UNSEEN: Partial<Readonly<Record<SpanFlag, string>>> = {
  'content-absent':
    'content-absent: the producer does not record prompts and results (see `rootspan doctor`)',
  'content-redacted': 'content-redacted: the producer removed it',
  'content-truncated': 'content-truncated: the producer cut it',
  'content-not-arrived': 'content-not-arrived: the log records of these spans are missing so far',
  'content-lost': 'content-lost: it came in a form that cannot be read back',
  'index-capped': 'index-capped: messages at an index beyond 10,000, or under a refused key, were left out',
  'in-progress': 'in-progress: these spans had not ended when the session was closed',
};

/** Spans that carry content by their nature; for others an absent content means nothing. */
const speaks = (span: Span): boolean => span.kind === 'inference' || span.kind === 'execute_tool';

/** What the input itself does not show: parts that could not be read, and spans without (all of) their content. */
export function dataGaps(session: Session): Coverage['gaps'] {
  const byReason = new Map<string, string[]>();
  for (const span of sessionSpans(session).filter(speaks)) {
    for (const flag of span.flags) {
      const reason = UNSEEN[flag];
      if (reason === undefined) continue;
      const spanIds = byReason.get(reason) ?? [];
      spanIds.push(span.spanId);
      byReason.set(reason, spanIds);
    }
  }
  return [
    ...[...byReason].map(([reason, spanIds]) => ({ what: 'content of spans', reason, spanIds })),
    ...session.unread.map(({ where, reason, count }) => ({
      what: `${plural(count, 'unread part')} of the input at ${where}`,
      reason,
      spanIds: [],
    })),
  ];
}

/** True when there is nothing to read in any span that should speak: then no model needs to be asked. */
export function hasNoContent(session: Session): boolean {
  return sessionSpans(session).every(isSilent);
}

function isSilent(span: Span): boolean {
  switch (span.kind) {
    case 'inference':
      return [...span.input, ...span.output].every(saysNothing);
    case 'execute_tool':
      return span.toolResult === null && isEmpty(span.toolCall.arguments);
    case 'invoke_agent':
      return isBlank(span.userPrompt) && isBlank(span.agentResponse);
    case 'message':
      return saysNothing(span.message);
    case 'other':
      return true;
  }
}

const saysNothing = (message: Message): boolean => message.content.every(isBlankBlock);

const isBlankBlock = (block: Block): boolean =>
  (block.type === 'text' || block.type === 'reasoning') && isBlank(block.text);

const isBlank = (text: string | null): boolean => text === null || text.trim() === '';

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
