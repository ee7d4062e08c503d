import type { RawSpan } from './format.ts';

/**
 * Exceptions by which agent frameworks stop a run to ask a person, and which tracing products record as errors: the run
 * waits, nothing failed. LangGraph (`errors.py`: GraphInterrupt, NodeInterrupt, both GraphBubbleUp), pydantic-ai
 * (`exceptions.py`: ApprovalRequired, CallDeferred), CrewAI (HumanFeedbackPending), Strands (InterruptException).
 */
const PAUSE =
  /^[\s"']{0,4}(?:[A-Za-z_][\w.]{0,80}\.)?(?:GraphInterrupt|NodeInterrupt|GraphBubbleUp|ApprovalRequired|CallDeferred|HumanFeedbackPending|InterruptException)\b/;

/** Whether the text or class of an exception is that of a pause for a person. */
export function isPause(text: string | null | undefined): boolean {
  return text !== null && text !== undefined && PAUSE.test(text);
}

/** A span that ended with such an exception, without the error that it is recorded as. */
export function withoutPause(span: RawSpan): RawSpan {
  const isPauseEvent = (event: RawSpan['events'][number]): boolean =>
    isPause(String(event.attributes['exception.type'] ?? '')) ||
    isPause(String(event.attributes['exception.message'] ?? ''));
  if (
    !isPause(span.status.message) &&
    !isPause(String(span.attributes['error.type'] ?? '')) &&
    !span.events.some(isPauseEvent)
  )
    return span;
  const { 'error.type': _, 'error.message': __, ...attributes } = span.attributes;
  return {
    ...span,
    attributes,
    status: { code: 'unset', message: null },
    events: span.events.filter((event) => !isPauseEvent(event)),
  };
}
