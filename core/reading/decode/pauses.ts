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
