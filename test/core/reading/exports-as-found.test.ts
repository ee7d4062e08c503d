import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readSessions } from '../../../core/reading/registry.ts';
import { type Session, sessionSpans } from '../../../core/session/session.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import { sharedPath } from '../../helpers/shared-data.ts';

/** Kinds of exports that came out wrong for people, in small inputs of our own; then the trials' own files where they lie beside the repository. */

const observation = (id: string, type: string, extra: object) => ({
  id,
  traceId: 't',
  type,
  name: id,
  startTime: `2026-03-01T09:00:0${id.length}Z`,
  endTime: `2026-03-01T09:00:0${id.length}Z`,
  parentObservationId: null,
  level: 'DEFAULT',
  statusMessage: null,
  input: null,
  output: null,
  metadata: {},
  ...extra,
});
const langfuse = (trace: object, ...observations: object[]): Session =>
  readSessions({
    text: JSON.stringify({
      trace: {
        id: 't',
        name: 'LangGraph',
        timestamp: '2026-03-01T09:00:00Z',
        input: null,
        output: null,
        ...trace,
      },
      observations,
    }),
    source: 'trace.json',
  }).sessions[0]!;

describe('traces of Langfuse', () => {
  it('the nodes and routers of a graph are no tools', () => {
    const state = { messages: [{ type: 'human', content: 'Go on' }] };
    const session = langfuse(
      {},
      observation('a', 'SPAN', { input: state, output: 'next' }),
      observation('bb', 'SPAN', { input: { x: 1 }, output: { y: 2 }, metadata: { langgraph_node: 'n' } }),
      observation('ccc', 'SPAN', { input: { sku: 1 }, output: 'in stock' }),
    );
    expect(toTrajectory(session).exchanges.map(({ name }) => name)).toEqual(['ccc']);
  });
  it('an answer of the Responses API gives its calls, tools, model, instructions and early end', () => {
    const session = langfuse(
      {},
      observation('a', 'GENERATION', {
        input: [{ role: 'user', content: 'Count' }],
        output: {
          id: 'resp_1',
          object: 'response',
          status: 'incomplete',
          incomplete_details: { reason: 'max_output_tokens' },
          instructions: 'Be exact.',
          model: 'm-1',
          usage: { input_tokens: 4, output_tokens: 9 },
          output: [{ type: 'function_call', id: 'f', call_id: 'c', name: 'count', arguments: '{}' }],
          tools: [{ type: 'function', name: 'count', parameters: { type: 'object' } }],
        },
      }),
    );
    expect(sessionSpans(session).find((span) => span.kind === 'inference')).toMatchObject({
      model: 'm-1',
      systemPrompt: 'Be exact.',
      usage: { inputTokens: 4, outputTokens: 9 },
      tools: [{ name: 'count', parameters: { type: 'object' } }],
      output: [{ content: [{ type: 'tool_use', toolCallId: 'c', name: 'count' }] }],
      errors: [{ source: 'finish-reason', type: 'max_output_tokens' }],
    });
  });
  it('a tool that the service ran itself is a call with its result, and its failure an error', () => {
    const session = langfuse(
      {},
      observation('a', 'GENERATION', {
        input: [{ role: 'user', content: 'Release it' }],
        output: {
          object: 'response',
          output: [
            {
              type: 'mcp_call',
              id: 'm',
              name: 'release',
              arguments: '{}',
              error: 'owner is required',
              status: 'failed',
            },
            { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done' }] },
          ],
        },
      }),
    );
    expect(toTrajectory(session).exchanges).toMatchObject([
      { name: 'release', result: 'owner is required', isError: true },
    ]);
    expect(sessionSpans(session).flatMap((span) => span.errors)).toMatchObject([{ source: 'tool-status' }]);
  });
  it('the goal is words and not JSON, the agent not the name of the program', () => {
    const session = langfuse(
      {
        input: { prompt: 'Find it', system: 'Be kind' },
        output: { role: 'assistant', content: [{ type: 'text', text: 'Found' }] },
      },
      observation('a', 'GENERATION', {
        input: [{ role: 'user', content: 'Find it' }],
        output: { role: 'assistant', content: 'Found' },
      }),
    );
    expect(toTrajectory(session).goal).toBe('Find it');
    expect(session.agent).toBeNull();
  });
  it.each([
    'GraphInterrupt((Interrupt(value=1),))',
    'langgraph.errors.NodeInterrupt: ok?',
    'ApprovalRequired',
  ])('a run that waits for a person (%s) did not fail', (statusMessage) => {
    const session = langfuse(
      {},
      observation('a', 'CHAIN', { level: 'ERROR', statusMessage }),
      observation('bb', 'CHAIN', {
        level: 'ERROR',
        statusMessage: 'ValueError: GraphInterrupt was mentioned',
      }),
    );
    expect(sessionSpans(session).flatMap((span) => span.errors)).toHaveLength(1);
  });
});

it('a list of traces without their observations is refused with the call that gives them', () => {
  const document = {
    data: [{ id: 't', htmlPath: '/t', observations: ['o1'], scores: [] }],
    meta: { page: 1 },
  };
  expect(() => readSessions({ text: JSON.stringify(document), source: 'traces.json' })).toThrow(
    /without observations.*\/api\/public/s,
  );
});

describe('the files of the second trials', () => {
  const read = (file: string): Session | null => {
    const found = sharedPath('trials-2', file);
    return found === null
      ? null
      : readSessions({ text: readFileSync(found, 'utf8'), source: file }).sessions[0]!;
  };
  const names = (session: Session) => toTrajectory(session).exchanges.map(({ name }) => name);
  const failed = (session: Session) =>
    toTrajectory(session).exchanges.filter(({ isError }) => isError === true).length +
    sessionSpans(session).filter((span) => span.errors.length > 0).length;

  it.each([
    ['pub-07-langfuse-router-node-as-tool.json', 'langfuse', ['web_search'], 0],
    ['pub-08-langfuse-langchain-tool-definitions.json', 'langfuse', ['web_search'], 0],
    ['pub-09-langfuse-responses-api.json', 'langfuse', ['web_search'], 1],
    ['pub-11-langfuse-goal-is-json.json', 'langfuse', [], 0],
    ['pub-12-langgraph-interrupt-langfuse.json', 'langfuse', ['pay_invoice'], 0],
    ['pub-19-responses-mcp-call.json', 'openai-responses', ['create_release'], 1],
    ['pub-21-langfuse-observation-list.json', 'langfuse', ['cancel_order'], 1],
    ['pub-23-mlflow-trace.json', 'mlflow', ['cancel_order'], 0],
    ['pub-24-bedrock-invocation-log-final-answer.json', 'bedrock-invocation-log', ['cancel_order'], 1],
  ])('%s is read as %s', (file, format, calls, failures) => {
    const session = read(file);
    if (session === null) return;
    expect(session.format).toBe(format);
    expect(names(session)).toEqual(calls);
    expect(failed(session)).toBe(failures);
    expect(toTrajectory(session).goal).toMatch(/^[A-Z][^{}]+$/);
  });
  it('pub-08: definitions are tools on offer', () => {
    const session = read('pub-08-langfuse-langchain-tool-definitions.json');
    if (session !== null)
      expect(toTrajectory(session).tools.map(({ name }) => name)).toEqual(['web_search', 'send_mail']);
  });
});
