import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { verdict } from '../../core/report-build/verdict.ts';
import type { Session, ToolDefinition } from '../../core/session/session.ts';
import type { Part, Step } from '../../core/trajectory/trajectory.ts';
import { trajectoryOf } from '../../core/trajectory/trajectory-of.ts';

/** One piece of what was said at a step. `cut` is how many characters of it are left out. */
export interface PartView {
  readonly role: Part['role'];
  readonly kind: 'text' | 'reasoning' | 'call' | 'result' | 'media';
  /** Speaker of a text, tool of a call or result; `null` when not known. */
  readonly name: string | null;
  readonly text: string;
  readonly cut: number;
}

export interface StepView {
  readonly spanId: string;
  /** As all reports count: the raw message position where the format has one, else the index in the session; from 0. */
  readonly position: number;
  readonly kind: Step['kind'];
  readonly name: string;
  readonly agent: string | null;
  /** Index of the step that holds this one; `null` at the top. */
  readonly parent: number | null;
  /** Milliseconds since the first span; `null` when the producer does not say. */
  readonly startMs: number | null;
  readonly durationMs: number | null;
  readonly tokens: { readonly input: number; readonly output: number } | null;
  readonly model: string | null;
  readonly failed: boolean;
  readonly errors: readonly string[];
  readonly flags: readonly string[];
  readonly parts: readonly PartView[];
}

/** Everything the page of one session shows, as plain JSON. */
export interface SessionView {
  readonly diagnosis: Diagnosis;
  /** The printed verdict. */
  readonly verdict: string;
  readonly steps: readonly StepView[];
  readonly systemPrompt: string | null;
  readonly tools: readonly ToolDefinition[];
  /** Whether the steps are those of the session. False: only what the diagnosis itself quotes, since the session is not there. */
  readonly whole: boolean;
}

/** A page of tens of megabytes still opens; beyond it, what each step says is shown from its beginning only. */
const TEXT_BUDGET = 24_000_000;
const PART_LIMIT = 60_000;
const PART_LIMIT_OF_LARGE = 1_500;

export function sessionView(diagnosis: Diagnosis, session: Session | null): SessionView {
  const common = { diagnosis, verdict: verdict(diagnosis).text };
  if (session === null)
    return { ...common, steps: stepsOfDiagnosis(diagnosis), systemPrompt: null, tools: [], whole: false };
  const { steps, systemPrompt, tools } = trajectoryOf(session);
  return { ...common, steps: stepsOf(steps), systemPrompt, tools, whole: true };
}

function stepsOf(steps: readonly Step[]): StepView[] {
  const indexBySpan = new Map(steps.map(({ spanId }, index) => [spanId, index]));
  const length = steps.reduce(
    (sum, { parts }) => sum + parts.reduce((n, part) => n + textOf(part).length, 0),
    0,
  );
  const limit = length > TEXT_BUDGET ? PART_LIMIT_OF_LARGE : PART_LIMIT;
  const starts = steps.flatMap(({ span }) =>
    span.startTimeUnixNano === null ? [] : [BigInt(span.startTimeUnixNano)],
  );
  const first = starts.reduce<bigint | null>(
    (least, at) => (least === null || at < least ? at : least),
    null,
  );
  return steps.map((step, index): StepView => {
    const { span } = step;
    const parent = span.parentSpanId === null ? undefined : indexBySpan.get(span.parentSpanId);
    const usage = span.kind === 'inference' ? span.usage : undefined;
    return {
      spanId: step.spanId,
      position: step.position,
      kind: step.kind,
      name: span.name,
      agent: step.agent,
      parent: parent === undefined || parent === index ? null : parent,
      startMs: first === null ? null : millisecondsBetween(first, span.startTimeUnixNano),
      durationMs:
        span.startTimeUnixNano === null
          ? null
          : millisecondsBetween(BigInt(span.startTimeUnixNano), span.endTimeUnixNano),
      tokens: usage === undefined ? null : { input: usage.inputTokens, output: usage.outputTokens },
      model: span.kind === 'inference' ? (span.model ?? null) : null,
      failed: span.status === 'error' || span.errors.length > 0,
      errors: span.errors.map(({ type, code, message }) =>
        [type, code, message].filter((part) => part !== undefined && part !== '').join(' · '),
      ),
      flags: span.flags,
      parts: step.parts.map((part) => partView(part, limit)),
    };
  });
}

function millisecondsBetween(from: bigint, to: string | null): number | null {
  if (to === null) return null;
  return Math.max(0, Number(BigInt(to) - from) / 1e6);
}

function partView(part: Part, limit: number): PartView {
  const text = textOf(part);
  const cut = Math.max(0, text.length - limit);
  return { role: part.role, ...labelOf(part), text: cut === 0 ? text : text.slice(0, limit), cut };
}

function labelOf({ block, speaker }: Part): { kind: PartView['kind']; name: string | null } {
  switch (block.type) {
    case 'tool_use':
      return { kind: 'call', name: block.name };
    case 'tool_result':
      return { kind: 'result', name: speaker };
    case 'text':
    case 'reasoning':
    case 'media':
      return { kind: block.type, name: speaker };
  }
}

function textOf({ block }: Part): string {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.text;
    case 'tool_use':
      return block.argumentsRaw ?? JSON.stringify(block.arguments, null, 2);
    case 'tool_result':
      return block.content;
    case 'media':
      return `${block.mediaType}, ${block.byteLength} bytes (not carried)`;
  }
}

/** What a diagnosis keeps of the spans it names. */
function stepsOfDiagnosis({ spans }: Diagnosis): StepView[] {
  return spans.map((span) => ({
    spanId: span.spanId,
    position: span.position,
    kind: span.kind as StepView['kind'],
    name: span.name,
    agent: span.agent,
    parent: null,
    startMs: null,
    durationMs: null,
    tokens: null,
    model: null,
    failed: false,
    errors: [],
    flags: [],
    parts: [{ role: 'assistant', kind: 'text', name: null, text: span.excerpt, cut: 0 }],
  }));
}
