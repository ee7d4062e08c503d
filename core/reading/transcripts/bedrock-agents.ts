import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Block, Session, SpanError } from '../../session/session.ts';
import { readUsage } from '../conventions/provider-bodies.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { plainText } from './blocks.ts';
import { buildConversation, type Turn } from './conversation.ts';
import { arrayAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';

/** The members of a trace that hold steps of the orchestration, and those that hold facts of their own. */
const STEPS = [
  'preProcessingTrace',
  'orchestrationTrace',
  'postProcessingTrace',
  'routingClassifierTrace',
] as const;
const FACTS = ['guardrailTrace', 'failureTrace', 'customOrchestrationTrace'] as const;

/**
 * Traces of Amazon Bedrock Agents (InvokeAgent; botocore service model `bedrock-agent-runtime` 2023-07-26): the events of
 * the answer's stream, TraceParts, bare traces, and what the console shows of a step. Calls have no ids: an invocation
 * and its observation share a `traceId`.
 */
export const bedrockAgents: TranscriptFormat = {
  id: 'bedrock-agents',
  title: 'Amazon Bedrock Agents (classic) trace events',
  knownBy:
    '[{trace: {sessionId, trace: {orchestrationTrace | failureTrace | …}}}, {chunk}], or {traces: […]}',
  from: '`InvokeAgent` with `enableTrace: true`: the events of its stream as JSON, TraceParts, or a step copied from the console',
  checkedOn: 'botocore service model bedrock-agent-runtime 2023-07-26',

  recognise(document) {
    const events = eventsOf(document);
    return events.slice(0, 50).some((event) => traceOf(event) !== null)
      ? { match: 'yes', sure: 0.93 }
      : { match: 'no' };
  },

  read(document, source) {
    const tally = new UnreadTally(source);
    const wrapper = isJsonObject(document) ? document : {};
    const bySession = new Map<string, JsonObject[]>();
    const events = eventsOf(document);
    const [named] = events.flatMap((event) => textAt(partOf(event), 'sessionId') ?? []);
    const fallback = textAt(wrapper, 'sessionId', 'session_id') ?? named ?? sourceStem(source);
    for (const event of events) {
      const id = textAt(partOf(event), 'sessionId') ?? fallback;
      const list = bySession.get(id) ?? [];
      list.push(event);
      bySession.set(id, list);
    }
    return {
      sessions: [...bySession].map(([id, list]) => readSession(id, list, wrapper, tally)),
      unread: tally.list(),
    };
  },
};

function eventsOf(document: JsonValue): JsonObject[] {
  if (!isJsonObject(document)) return objectsIn(document);
  const list = arrayAt(document, 'traces') ?? arrayAt(document, 'trace') ?? arrayAt(document, 'completion');
  return list === undefined ? [document] : objectsIn(list);
}

/** The TracePart of a stream's event; bare parts and traces are their own. */
const partOf = (event: JsonObject): JsonObject => {
  const outer = objectAt(event, 'trace');
  return outer !== undefined &&
    (objectAt(outer, 'trace') !== undefined || 'sessionId' in outer || 'agentId' in outer)
    ? outer
    : event;
};

/** The union, however often it is wrapped; a console copy has the member of a step unwrapped. */
function traceOf(event: JsonObject): JsonObject | null {
  let at: JsonObject | undefined = event;
  for (let i = 0; i < 3 && at !== undefined; i += 1) {
    const here: JsonObject = at;
    if ([...STEPS, ...FACTS].some((key) => isJsonObject(here[key]))) return here;
    at = objectAt(here, 'trace');
  }
  const isStep = [
    'modelInvocationInput',
    'modelInvocationOutput',
    'rationale',
    'invocationInput',
    'observation',
  ].some((key) => typeof event[key] === 'object');
  return isStep && ('agentId' in event || 'callerChain' in event) ? { orchestrationTrace: event } : null;
}

function readSession(
  sessionId: string,
  events: readonly JsonObject[],
  wrapper: JsonObject,
  tally: UnreadTally,
): Session {
  const turns: Turn[] = [];
  const asked = textAt(wrapper, 'inputText', 'input', 'question', 'prompt');
  if (asked !== undefined) turns.push({ position: 0, role: 'user', blocks: [{ type: 'text', text: asked }] });
  const reader = new TraceReader(turns, tally, asked);
  for (const [position, event] of events.entries()) reader.read(event, position);
  const first = turns.find((turn) => turn.role === 'assistant' && typeof turn.agent === 'string');
  return buildConversation({ sessionId, format: bedrockAgents.id, turns, agent: first?.agent ?? null });
}

/** Goes through the events in order and keeps what a later one refers to. */
class TraceReader {
  readonly #turns: Turn[];
  readonly #tally: UnreadTally;
  readonly #said = new Set<string>();
  readonly #open = new Map<string, { id: string; name: string }[]>();
  #model: string | undefined;
  #system: string | undefined;
  #count = 0;

  constructor(turns: Turn[], tally: UnreadTally, asked: string | undefined) {
    this.#turns = turns;
    this.#tally = tally;
    if (asked !== undefined) this.#said.add(asked);
  }

  read(event: JsonObject, position: number): void {
    const part = partOf(event);
    const agent = textAt(part, 'collaboratorName', 'agentId') ?? null;
    const time = toUnixNano(part.eventTime);
    const base: Base = { position, agent, startTimeUnixNano: time, endTimeUnixNano: time };
    const trace = traceOf(event);
    if (trace === null) {
      this.#stream(event, base);
      return;
    }
    for (const key of STEPS) {
      const step = objectAt(trace, key);
      if (step !== undefined) this.#step(step, base);
    }
    const failure = objectAt(trace, 'failureTrace');
    if (failure !== undefined) {
      const reason = textAt(failure, 'failureReason') ?? 'the run failed';
      const code = failure.failureCode;
      this.#note('failure', reason, base, [
        typeof code === 'number' && code >= 400
          ? { source: 'http', code, message: reason }
          : { source: 'status', message: reason },
      ]);
    }
    const guardrail = objectAt(trace, 'guardrailTrace');
    if (guardrail?.action === 'INTERVENED')
      this.#note('guardrail', JSON.stringify(guardrail), base, [
        { source: 'finish-reason', type: 'guardrail_intervened', message: 'a guardrail intervened' },
      ]);
    const custom = objectAt(objectAt(trace, 'customOrchestrationTrace') ?? {}, 'event');
    if (custom !== undefined) this.#note('event', textAt(custom, 'text') ?? '', base, []);
  }

  /** What is no trace: the answer in pieces, a call handed to the caller, an exception of the stream. */
  #stream(event: JsonObject, base: Base): void {
    const control = objectAt(event, 'returnControl');
    const [exception] = Object.entries(event).filter(([key]) => key.endsWith('Exception'));
    if (control !== undefined) {
      const calls = objectsIn(control.invocationInputs).flatMap((input) => [
        objectAt(input, 'functionInvocationInput'),
        objectAt(input, 'apiInvocationInput'),
      ]);
      for (const call of calls)
        if (call !== undefined)
          this.#call(actionCall(call, 'actionGroup'), String(control.invocationId ?? ''), base);
    } else if (exception !== undefined) {
      const [type, body] = exception;
      const message = isJsonObject(body) ? (textAt(body, 'message') ?? type) : type;
      this.#note('exception', message, base, [{ source: 'exception', type, message }]);
    } else if (!('chunk' in event) && !('files' in event))
      this.#tally.add('an event that is no trace of Bedrock Agents');
  }

  #step(step: JsonObject, base: Base): void {
    const input = objectAt(step, 'modelInvocationInput');
    if (input !== undefined) this.#prompt(input, base);
    const output = objectAt(step, 'modelInvocationOutput');
    const rationale = objectAt(step, 'rationale');
    if (output !== undefined) this.#answer(output, base);
    if (rationale !== undefined)
      this.#say({ type: 'reasoning', text: textAt(rationale, 'text') ?? '' }, base);
    for (const invocation of many(step.invocationInput)) this.#invocation(invocation, base);
    for (const observation of many(step.observation)) this.#observation(observation, base);
  }

  /** The user's words stand only in the prompt: the last message of the user, where the prompt is JSON. */
  #prompt(input: JsonObject, base: Base): void {
    this.#model = textAt(input, 'foundationModel') ?? this.#model;
    const { value } = unwrapJson(input.text ?? null, 1);
    if (!isJsonObject(value)) return;
    this.#system ??= plainText(value.system) || undefined;
    const asked = objectsIn(value.messages).findLast((message) => message.role === 'user');
    if (asked === undefined) return;
    const content = plainText(asked.content);
    // Written by Java: `[{text=…, type=text}]`.
    const text = /^\[\{text=([\s\S]{0,100000}), type=text\}\]$/.exec(content)?.[1] ?? content;
    if (text === '' || this.#said.has(text) || /toolUseId=|tool_result|function_results/.test(content))
      return;
    this.#said.add(text);
    this.#turns.push({ position: base.position, role: 'user', blocks: [{ type: 'text', text }] });
  }

  #answer(output: JsonObject, base: Base): void {
    const usage = objectAt(objectAt(output, 'metadata') ?? {}, 'usage');
    const parsed = objectAt(output, 'parsedResponse') ?? {};
    const text =
      textAt(parsed, 'rationale', 'text') ?? textAt(objectAt(output, 'rawResponse') ?? {}, 'content') ?? '';
    const errors: SpanError[] =
      parsed.isValid === false
        ? [{ source: 'finish-reason', type: 'refused', message: 'the request was judged out of scope' }]
        : [];
    this.#turns.push({
      ...base,
      role: 'assistant',
      // The raw answer repeats as rationale, call and final response; it is the model's thinking here.
      blocks: text === '' ? [] : [{ type: 'reasoning', text }],
      errors,
      ...(this.#model === undefined ? {} : { model: this.#model }),
      ...(this.#system === undefined ? {} : { systemPrompt: this.#system }),
      ...(usage === undefined ? {} : { usage: readUsage(usage) }),
    });
    this.#system = undefined;
  }

  #invocation(invocation: JsonObject, base: Base): void {
    const id = textAt(invocation, 'traceId') ?? '';
    const action = objectAt(invocation, 'actionGroupInvocationInput');
    const knowledge = objectAt(invocation, 'knowledgeBaseLookupInput');
    const code = objectAt(invocation, 'codeInterpreterInvocationInput');
    const other = objectAt(invocation, 'agentCollaboratorInvocationInput');
    if (action !== undefined) this.#call(actionCall(action, 'actionGroupName'), id, base);
    if (knowledge !== undefined)
      this.#call(
        {
          name: 'knowledge_base',
          arguments: { text: knowledge.text ?? null, knowledgeBaseId: knowledge.knowledgeBaseId ?? null },
        },
        id,
        base,
      );
    if (code !== undefined)
      this.#call({ name: 'code_interpreter', arguments: { code: code.code ?? null } }, id, base);
    if (other !== undefined)
      this.#call(
        {
          name: textAt(other, 'agentCollaboratorName') ?? 'agent',
          arguments: objectAt(other, 'input') ?? {},
        },
        id,
        base,
      );
  }

  #observation(observation: JsonObject, base: Base): void {
    const id = textAt(observation, 'traceId') ?? '';
    const final = objectAt(observation, 'finalResponse');
    const reprompt = objectAt(observation, 'repromptResponse');
    if (final !== undefined) this.#say({ type: 'text', text: textAt(final, 'text') ?? '' }, base);
    if (reprompt !== undefined) {
      const text = textAt(reprompt, 'text') ?? '';
      this.#note('reprompt', text, base, [
        {
          source: 'status',
          type: `reprompt ${textAt(reprompt, 'source') ?? ''}`.trim(),
          message: text || 'asked again',
        },
      ]);
    }
    const action = objectAt(observation, 'actionGroupInvocationOutput');
    const knowledge = objectAt(observation, 'knowledgeBaseLookupOutput');
    const code = objectAt(observation, 'codeInterpreterInvocationOutput');
    const other = objectAt(observation, 'agentCollaboratorInvocationOutput');
    if (action !== undefined) this.#result(id, textAt(action, 'text') ?? '', null, base);
    if (knowledge !== undefined) {
      const texts = objectsIn(knowledge.retrievedReferences).map((retrieved) =>
        plainText(objectAt(retrieved, 'content')?.text),
      );
      this.#result(id, texts.join('\n\n'), null, base);
    }
    if (code !== undefined) {
      const failed =
        textAt(code, 'executionError') ??
        (code.executionTimeout === true ? 'the execution timed out' : undefined);
      this.#result(id, failed ?? textAt(code, 'executionOutput') ?? '', failed !== undefined, base);
    }
    if (other !== undefined) this.#result(id, plainText(objectAt(other, 'output')?.text), null, base);
  }

  #call(call: { name: string; arguments: JsonObject }, traceId: string, base: Base): void {
    const id = `call-${this.#count}`;
    this.#count += 1;
    const key = `${base.agent ?? ''}\n${traceId}`;
    this.#open.set(key, [...(this.#open.get(key) ?? []), { id, name: call.name }]);
    this.#say({ type: 'tool_use', toolCallId: id, ...call }, base);
  }

  #result(traceId: string, content: string, isError: boolean | null, base: Base): void {
    const call = this.#open.get(`${base.agent ?? ''}\n${traceId}`)?.shift();
    this.#turns.push({
      ...base,
      role: 'tool',
      blocks: [{ type: 'tool_result', toolCallId: call?.id ?? null, content, isError }],
      ...(call === undefined ? {} : { toolName: call.name }),
    });
  }

  /** Adds to the answer that the model is giving, else begins one. */
  #say(block: Block, base: Base): void {
    if (block.type !== 'tool_use' && 'text' in block && block.text === '') return;
    const last = this.#turns.at(-1);
    if (last?.role === 'assistant' && last.note !== true && last.agent === base.agent) {
      const known = last.blocks.some(
        (earlier) =>
          'text' in earlier && 'text' in block && earlier.type === block.type && earlier.text === block.text,
      );
      if (!known) this.#turns[this.#turns.length - 1] = { ...last, blocks: [...last.blocks, block] };
    } else this.#turns.push({ ...base, role: 'assistant', blocks: [block] });
  }

  #note(name: string, text: string, base: Base, errors: readonly SpanError[]): void {
    this.#turns.push({
      ...base,
      role: 'system',
      note: true,
      name,
      blocks: text === '' ? [] : [{ type: 'text', text }],
      errors,
    });
  }
}

type Base = Pick<Turn, 'position' | 'startTimeUnixNano' | 'endTimeUnixNano'> & {
  readonly agent: string | null;
};

/** The console shows invocations and observations as lists. */
const many = (value: JsonValue | undefined): JsonObject[] =>
  Array.isArray(value) ? objectsIn(value) : isJsonObject(value) ? [value] : [];

/** `group.function`, or `group VERB /path`; parameters come as a list of text values with their types. */
function actionCall(action: JsonObject, group: string): { name: string; arguments: JsonObject } {
  const owner = textAt(action, group) ?? 'action';
  const named = textAt(action, 'function');
  const path = [textAt(action, 'verb', 'httpMethod'), textAt(action, 'apiPath')]
    .filter((word) => word !== undefined)
    .join(' ');
  const content = objectAt(objectAt(action, 'requestBody') ?? {}, 'content') ?? {};
  const fields = [
    ...objectsIn(action.parameters),
    ...Object.values(content).flatMap((list) => objectsIn(isJsonObject(list) ? list.properties : list)),
  ];
  return {
    name: named === undefined ? `${owner} ${path}`.trim() : `${owner}.${named}`,
    arguments: Object.fromEntries(fields.map((field) => [String(field.name ?? ''), typedValue(field)])),
  };
}

function typedValue({ type, value }: JsonObject): JsonValue {
  if (typeof value !== 'string') return value ?? null;
  if (type === 'boolean' && /^(?:true|false)$/.test(value)) return value === 'true';
  if ((type === 'integer' || type === 'number') && /^-?\d{1,15}(?:\.\d{1,10})?$/.test(value))
    return Number(value);
  return type === 'array' || type === 'object' ? unwrapJson(value, 1).value : value;
}
