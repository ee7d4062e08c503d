import type { JsonValue } from '../../../core/base/json.ts';
import { runChecks } from '../../../core/checks/registry.ts';
import type { CheckFinding, CheckReport } from '../../../core/diagnosis/check-report.ts';
import { readSessions } from '../../../core/reading/registry.ts';
import type { Session, Span } from '../../../core/session/session.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import type { Trajectory } from '../../../core/trajectory/trajectory.ts';

export const user = (content: string): JsonValue => ({ role: 'user', content });
export const agent = (content: string): JsonValue => ({ role: 'assistant', content });
export const call = (id: string, name: string, args: JsonValue): JsonValue => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});
export const result = (id: string, content: string): JsonValue => ({
  role: 'tool',
  tool_call_id: id,
  content,
});
export const tool = (name: string, parameters: JsonValue): JsonValue => ({
  type: 'function',
  function: { name, parameters },
});

/** A chat with one agent, as the product reads it. */
export function chat(messages: readonly JsonValue[], tools?: readonly JsonValue[]): Trajectory {
  const document: JsonValue = {
    messages: [...messages],
    ...(tools === undefined ? {} : { tools: [...tools] }),
  };
  return only(readSessions({ document, source: 'chat.json' }).sessions);
}

/** A group chat of named agents with a stated goal. */
export function groupChat(goal: string, turns: readonly (readonly [string, string])[]): Trajectory {
  const history = turns.map(([name, content]) => ({ name, role: 'user', content }));
  return only(readSessions({ document: { history, question: goal }, source: 'group.json' }).sessions);
}

export function fromSpans(spans: Span[], goal: string | null = null): Trajectory {
  const session: Session = {
    sessionId: 'spans',
    format: 'test',
    traces: [{ traceId: 't', sessionId: 'spans', spans }],
    goal,
    agent: null,
    service: null,
    unread: [],
  };
  return toTrajectory(session);
}

export const bareSpan = (spanId: string, parentSpanId: string | null = null) => ({
  spanId,
  traceId: 't',
  parentSpanId,
  name: spanId,
  agent: null,
  startTimeUnixNano: null,
  endTimeUnixNano: null,
  status: 'unset' as const,
  errors: [],
  flags: [],
});

export function report(trajectory: Trajectory, checkId: string): CheckReport {
  const found = runChecks(trajectory).find((one) => one.checkId === checkId);
  if (found === undefined) throw new Error(`no check ${checkId}`);
  return found;
}

export function findings(trajectory: Trajectory, checkId: string): readonly CheckFinding[] {
  const one = report(trajectory, checkId);
  if (one.state === 'blind') throw new Error(`${checkId} is blind: ${one.reason}`);
  return one.findings;
}

/** 0-based positions of the findings. */
export function positions(trajectory: Trajectory, checkId: string): number[] {
  return findings(trajectory, checkId).map((one) => trajectory.stepBySpan.get(one.spanId)!.position);
}

function only(sessions: readonly Session[]): Trajectory {
  if (sessions.length !== 1) throw new Error(`${sessions.length} sessions`);
  return toTrajectory(sessions[0]!);
}
