import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { stubAnswer } from '../deep/stub-answers.ts';

/** What of a request is looked at: chat completions (ours) and Bedrock Converse (the reference). */
const bodySchema = z.object({
  messages: z.array(
    z.object({
      content: z.union([z.string(), z.array(z.object({ text: z.string().optional() }))]),
    }),
  ),
  system: z.array(z.object({ text: z.string().optional() })).optional(),
  response_format: z.object({ json_schema: z.object({ name: z.string() }).optional() }).optional(),
  toolConfig: z.object({ tools: z.array(z.object({ toolSpec: z.object({ name: z.string() }) })) }).optional(),
});
type Body = z.infer<typeof bodySchema>;

export interface StubService {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** The prompts of the requests since the last call of this. */
  takePrompts(): string[];
  close(): Promise<void>;
}

/**
 * A model's service that answers every request the same time after it came, as many at once as are asked. The reference
 * is told of one failure, at the span given, by the chunk that shows it; its root cause comes as the tool call that it
 * asks for.
 */
export async function startStubService(latencyMs: number, failingSpanId: string): Promise<StubService> {
  let prompts: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = bodySchema.parse(JSON.parse(await readAll(request)));
      const prompt = textOf(body);
      prompts.push(prompt);
      await delay(latencyMs);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          request.url?.endsWith('/converse') === true
            ? converseReply(body, prompt, failingSpanId)
            : chatReply(body),
        ),
      );
    })().catch((error: unknown) => {
      response.writeHead(500);
      response.end(JSON.stringify({ message: String(error) }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takePrompts() {
      const taken = prompts;
      prompts = [];
      return taken;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readAll(request: IncomingMessage): Promise<string> {
  request.setEncoding('utf8');
  let text = '';
  for await (const piece of request) text += piece;
  return text;
}

const textOf = ({ system = [], messages }: Body): string =>
  [
    ...system.map(({ text = '' }) => text),
    ...messages.flatMap(({ content }) =>
      typeof content === 'string' ? [content] : content.map(({ text = '' }) => text),
    ),
  ].join('\n\n');

const chatReply = ({ response_format }: Body): object => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'stub',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: JSON.stringify(stubAnswer(response_format?.json_schema?.name ?? '')),
      },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
});

function converseReply({ toolConfig }: Body, prompt: string, spanId: string): object {
  const tool = toolConfig?.tools.at(-1)?.toolSpec.name;
  const content =
    tool === undefined
      ? { text: JSON.stringify({ errors: prompt.includes(spanId) ? [failureAt(spanId)] : [] }) }
      : { toolUse: { toolUseId: 'call-1', name: tool, input: { root_causes: [causeOf(spanId)] } } };
  return {
    output: { message: { role: 'assistant', content: [content] } },
    stopReason: tool === undefined ? 'end_turn' : 'tool_use',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    metrics: { latencyMs: 1 },
  };
}

const failureAt = (location: string): object => ({
  location,
  category: ['execution-error-category-tool-schema'],
  confidence: ['high'],
  evidence: ['the call was refused'],
});

const causeOf = (location: string): object => ({
  'Failure Span ID': location,
  Location: location,
  'Failure Causality': 'PRIMARY_FAILURE',
  'Failure Propagation Impact': ['QUALITY_DEGRADATION'],
  'Failure Detection Timing': 'IMMEDIATELY_AT_OCCURRENCE',
  'Completion Status': 'PARTIAL_SUCCESS',
  'Root Cause Explanation': 'The call was refused.',
  'Fix Recommendation': { 'Fix Type': 'OTHERS', Recommendation: 'Check the arguments.' },
});
