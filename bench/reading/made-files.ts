import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { createGzip } from 'node:zlib';

/**
 * Large files of made-up sessions, as agents write them: each model call repeats the conversation before it, tool calls
 * and their results have their own spans, and no two texts are equal.
 */

const WORDS =
  'order refund flight customer status payment address policy retry agent result search booking window total error invoice'.split(
    ' ',
  );
/** Turns of a session; the history of the last call has all of them. */
const TURNS = 12;

/** A text of its own for every seed. */
function text(seed: number, words: number): string {
  let state = (seed * 2_654_435_761 + 12_345) >>> 0;
  const parts: string[] = [];
  for (let i = 0; i < words; i += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    parts.push(`${WORDS[state % WORDS.length]} ${(state >>> 8) % 10_007}`);
  }
  return parts.join(' ');
}

interface Turn {
  readonly user: string;
  readonly query: string;
  readonly result: string;
}
const turnOf = (session: number, turn: number): Turn => ({
  user: text(session * 1000 + turn * 10, 40),
  query: text(session * 1000 + turn * 10 + 1, 4),
  result: text(session * 1000 + turn * 10 + 2, 120),
});

const nano = (session: number, step: number): string =>
  `17900${String(session * 1000 + step).padStart(14, '0')}`;
const hex = (value: number, digits: number): string => (value + 1).toString(16).padStart(digits, '0');

/** Export requests of OTLP/JSON, one a turn, as the collector's file exporter writes them. */
export function* otlpLines(session: number): Generator<string> {
  const traceId = hex(session, 32);
  const history: object[] = [];
  const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } });
  for (let turn = 0; turn < TURNS; turn += 1) {
    const { user, query, result } = turnOf(session, turn);
    history.push({ role: 'user', parts: [{ type: 'text', content: user }] });
    const call = { type: 'tool_call', id: `call_${session}_${turn}`, name: 'lookup', arguments: { query } };
    const spans = [
      {
        traceId,
        spanId: hex(session * 100 + turn * 2, 16),
        parentSpanId: '',
        name: 'chat model-a',
        kind: 3,
        startTimeUnixNano: nano(session, turn * 10),
        endTimeUnixNano: nano(session, turn * 10 + 4),
        attributes: [
          attribute('gen_ai.operation.name', 'chat'),
          attribute('gen_ai.request.model', 'model-a'),
          attribute('session.id', `session-${session}`),
          { key: 'gen_ai.usage.input_tokens', value: { intValue: String(1000 + turn) } },
          attribute('gen_ai.input.messages', JSON.stringify(history)),
          attribute('gen_ai.output.messages', JSON.stringify([{ role: 'assistant', parts: [call] }])),
        ],
        status: {},
      },
      {
        traceId,
        spanId: hex(session * 100 + turn * 2 + 1, 16),
        parentSpanId: hex(session * 100 + turn * 2, 16),
        name: 'execute_tool lookup',
        kind: 1,
        startTimeUnixNano: nano(session, turn * 10 + 5),
        endTimeUnixNano: nano(session, turn * 10 + 9),
        attributes: [
          attribute('gen_ai.operation.name', 'execute_tool'),
          attribute('gen_ai.tool.name', 'lookup'),
          attribute('gen_ai.tool.call.id', call.id),
          attribute('gen_ai.tool.call.arguments', JSON.stringify(call.arguments)),
          attribute('gen_ai.tool.call.result', result),
        ],
        status: {},
      },
    ];
    history.push(
      { role: 'assistant', parts: [call] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: call.id, response: result }] },
    );
    const resource = { attributes: [attribute('service.name', 'support')] };
    yield JSON.stringify({
      resourceSpans: [
        { resource, scopeSpans: [{ scope: { name: 'opentelemetry.instrumentation.genai' }, spans }] },
      ],
    });
  }
}

/** Observations of Langfuse, as its API gives them. */
export function* langfuseObservations(session: number): Generator<string> {
  const traceId = `trace-${session}`;
  const at = (step: number): string =>
    new Date(1_790_000_000_000 + session * 100_000 + step * 1000).toISOString();
  const history: object[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const { user, query, result } = turnOf(session, turn);
    history.push({ role: 'user', content: user });
    const id = `call_${session}_${turn}`;
    const call = { id, type: 'function', function: { name: 'lookup', arguments: JSON.stringify({ query }) } };
    const shared = { traceId, sessionId: `session-${session}`, level: 'DEFAULT', statusMessage: null };
    yield JSON.stringify({
      ...shared,
      id: `g-${session}-${turn}`,
      type: 'GENERATION',
      name: 'chat',
      parentObservationId: null,
      startTime: at(turn * 10),
      endTime: at(turn * 10 + 4),
      model: 'model-a',
      input: history,
      output: { role: 'assistant', content: '', tool_calls: [call] },
      usageDetails: { input: 1000 + turn, output: 20 },
    });
    yield JSON.stringify({
      ...shared,
      id: `t-${session}-${turn}`,
      type: 'TOOL',
      name: 'lookup',
      parentObservationId: `g-${session}-${turn}`,
      startTime: at(turn * 10 + 5),
      endTime: at(turn * 10 + 9),
      input: { query },
      output: result,
    });
    history.push(
      { role: 'assistant', content: '', tool_calls: [call] },
      { role: 'tool', tool_call_id: id, content: result },
    );
  }
}

/** Sessions until the file has as many bytes; returns how many sessions and bytes (unpacked) it holds. */
export async function writeSessions(
  file: string,
  bytes: number,
  linesOf: (session: number) => Iterable<string>,
  { open = '', between = '\n', close = '\n', gzip = false },
): Promise<{ readonly sessions: number; readonly bytes: number }> {
  const out = createWriteStream(file);
  const packer = gzip ? createGzip({ level: 1 }) : null;
  packer?.pipe(out);
  const sink = packer ?? out;
  let written = 0;
  const write = async (piece: string): Promise<void> => {
    written += Buffer.byteLength(piece);
    if (!sink.write(piece)) await once(sink, 'drain');
  };
  await write(open);
  let sessions = 0;
  for (; written < bytes; sessions += 1) {
    let first = sessions === 0;
    for (const line of linesOf(sessions)) {
      await write(first ? line : between + line);
      first = false;
    }
  }
  await write(close);
  sink.end();
  await once(out, 'close');
  return { sessions, bytes: written };
}
