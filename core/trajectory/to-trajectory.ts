import {
  type AgentSpan,
  type InferenceSpan,
  type Message,
  type Session,
  type Span,
  sessionSpans,
  type ToolDefinition,
} from '../session/session.ts';
import { makeBlockKeys } from './block-key.ts';
import { makeHistory } from './history.ts';
import { makeExchangeLedger } from './pair-exchanges.ts';
import type { Part, Step, Trajectory } from './trajectory.ts';

/**
 * Lays a session out as a trajectory (see `trajectory.ts`): one step a span, every repetition removed. Total on
 * valid sessions, throws nothing.
 *
 * `tools` is the union over all spans, the first definition of a name with a schema winning: agents of one session may
 * have different tools, and a call is to a tool that exists if any span offers it.
 */
export function toTrajectory(session: Session): Trajectory {
  const spans = sessionSpans(session);
  const agents = actingAgents(spans);
  const systemPrompt = firstSystemPrompt(spans);
  const answers = inferenceAnswers(spans);
  const keys = makeBlockKeys();
  const ledger = makeExchangeLedger(keys);
  const history = makeHistory(keys);
  const systemSeen = new Set<string>();

  /** A system text that is not the trajectory's own, once an agent. */
  const newSystemText = (agent: string | null, text: string | null | undefined): Part[] => {
    if (text === null || text === undefined || text.trim() === '' || text.trim() === systemPrompt?.trim())
      return [];
    const key = `${agent ?? ''}\0${text.trim()}`;
    if (systemSeen.has(key)) return [];
    systemSeen.add(key);
    return [{ role: 'system', speaker: null, block: { type: 'text', text } }];
  };

  const inferenceParts = (span: InferenceSpan, step: number, agent: string | null): Part[] => {
    const output = span.output.flatMap(messageParts);
    const input = span.input.flatMap(messageParts).filter((part) => !isBlank(part));
    const spoken = input.filter((part) => part.role !== 'system' || part.block.type !== 'text');
    const system = input.flatMap((part) =>
      part.role === 'system' && part.block.type === 'text' ? newSystemText(agent, part.block.text) : [],
    );
    const news = history.news(agent, spoken, output).filter(({ block }) => {
      if (block.type === 'tool_use') {
        if (ledger.isKnownCall(block)) return false;
        ledger.addCall(step, block);
      }
      if (block.type === 'tool_result') {
        if (ledger.isKnownResult(block)) return false;
        ledger.addResult(step, block);
      }
      return true;
    });
    // A tool that the model's service ran itself answers inside the model's own output.
    for (const { block } of output) if (block.type === 'tool_result') ledger.addResult(step, block);
    return [...newSystemText(agent, span.systemPrompt), ...system, ...news, ...output];
  };

  const agentParts = (span: AgentSpan, agent: string | null): Part[] => {
    const parts = newSystemText(agent, span.systemPrompt);
    if (span.userPrompt !== null && span.userPrompt.trim() !== '') {
      const part: Part = { role: 'user', speaker: null, block: { type: 'text', text: span.userPrompt } };
      history.announce(part);
      parts.push(part);
    }
    // The answer is the words of an inference step further on: there is their place in the order.
    const answer = span.agentResponse;
    if (answer !== null && !answers.has(answerKey(span.traceId, answer))) {
      parts.push({ role: 'assistant', speaker: agent, block: { type: 'text', text: answer } });
    }
    return parts;
  };

  const stepParts = (span: Span, step: number, agent: string | null): Part[] => {
    switch (span.kind) {
      case 'inference':
        return inferenceParts(span, step, agent);
      case 'invoke_agent':
        return agentParts(span, agent);
      case 'execute_tool': {
        const callStandsElsewhere = ledger.addToolSpan(step, span);
        const { toolCall, toolResult } = span;
        const parts: Part[] = [];
        if (!callStandsElsewhere)
          parts.push({ role: 'assistant', speaker: agent, block: { type: 'tool_use', ...toolCall } });
        if (toolResult !== null)
          parts.push({ role: 'tool', speaker: toolCall.name, block: { type: 'tool_result', ...toolResult } });
        return parts;
      }
      case 'message': {
        const parts = messageParts(span.message);
        for (const part of parts) {
          history.announce(part);
          if (part.block.type === 'tool_result') ledger.addResult(step, part.block);
        }
        return parts;
      }
      case 'other':
        return [];
    }
  };

  // All calls first: where clocks disagree a tool span can come before the model call that asked for it.
  for (const [step, span] of spans.entries()) {
    for (const { block } of ownMessages(span).flatMap(messageParts))
      if (block.type === 'tool_use') ledger.addCall(step, block);
  }
  const laid = spans.map((span, step) => {
    const agent = agents.get(span) ?? null;
    return { span, agent, parts: stepParts(span, step, agent) };
  });
  const { exchanges, flags } = ledger.close();

  const steps = laid.map(({ span, agent, parts }, index): Step => {
    const found = flags.get(index);
    return {
      index,
      position: span.sourcePosition ?? index,
      spanId: span.spanId,
      kind: span.kind,
      agent,
      parts,
      span: found === undefined ? span : { ...span, flags: [...new Set([...span.flags, ...found])] },
    };
  });
  const stepBySpan = new Map<string, Step>();
  for (const step of steps) if (!stepBySpan.has(step.spanId)) stepBySpan.set(step.spanId, step);
  return {
    sessionId: session.sessionId,
    goal: session.goal ?? firstUserText(steps),
    statedGoal: session.goal,
    systemPrompt,
    tools: allTools(spans),
    steps,
    exchanges,
    stepBySpan,
  };
}

/** What a span says itself, apart from what it was given. */
function ownMessages(span: Span): readonly Message[] {
  if (span.kind === 'inference') return span.output;
  return span.kind === 'message' ? [span.message] : [];
}

function messageParts(message: Message): Part[] {
  return message.content.map((block) => ({ role: message.role, speaker: message.name ?? null, block }));
}

function isBlank({ block }: Part): boolean {
  return (block.type === 'text' || block.type === 'reasoning') && block.text.trim() === '';
}

/** The span's agent, or that of the nearest span above which names one. User and system messages inherit none. */
function actingAgents(spans: readonly Span[]): Map<Span, string | null> {
  const bySpanId = new Map<string, string | null>();
  const agents = new Map<Span, string | null>();
  for (const span of spans) {
    const key = (id: string | null): string => `${span.traceId}\0${id ?? ''}`;
    const inherited = span.kind === 'message' ? null : (bySpanId.get(key(span.parentSpanId)) ?? null);
    const agent = span.agent ?? inherited;
    bySpanId.set(key(span.spanId), agent);
    agents.set(span, agent);
  }
  return agents;
}

function firstSystemPrompt(spans: readonly Span[]): string | null {
  for (const span of spans) {
    const stated =
      span.kind === 'inference' || span.kind === 'invoke_agent' ? (span.systemPrompt ?? null) : null;
    if (stated !== null && stated.trim() !== '') return stated;
    const messages = span.kind === 'inference' ? span.input : ownMessages(span);
    const texts = messages
      .filter((message) => message.role === 'system')
      .flatMap((message) => message.content)
      .flatMap((block) => (block.type === 'text' && block.text.trim() !== '' ? [block.text] : []));
    if (texts[0] !== undefined) return texts[0];
  }
  return null;
}

function allTools(spans: readonly Span[]): ToolDefinition[] {
  const tools = new Map<string, ToolDefinition>();
  for (const span of spans) {
    const offered =
      span.kind === 'inference'
        ? (span.tools ?? [])
        : span.kind === 'invoke_agent'
          ? span.availableTools
          : span.kind === 'execute_tool' && span.definition !== undefined
            ? [span.definition]
            : [];
    // A list of bare names must not hide the schema that another span has.
    for (const tool of offered)
      if (tools.get(tool.name)?.parameters === undefined)
        tools.set(tool.name, { ...tools.get(tool.name), ...tool });
  }
  return [...tools.values()];
}

const answerKey = (traceId: string, text: string): string => `${traceId}\0${text.trim()}`;

/** Every text that an agent span may give again as its answer: single blocks, and the blocks of a message joined. */
function inferenceAnswers(spans: readonly Span[]): Set<string> {
  const answers = new Set<string>();
  for (const span of spans) {
    for (const message of ownMessages(span)) {
      if (message.role !== 'assistant') continue;
      const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
      for (const text of [...texts, texts.join('\n'), texts.join('')])
        answers.add(answerKey(span.traceId, text));
    }
  }
  return answers;
}

function firstUserText(steps: readonly Step[]): string | null {
  for (const { parts } of steps)
    for (const { role, block } of parts)
      if (role === 'user' && block.type === 'text' && block.text.trim() !== '') return block.text;
  return null;
}
