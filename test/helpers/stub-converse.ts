import { type StubReply, type StubScript, type StubServer, startStub } from './stub-server.ts';

/** A Bedrock runtime that speaks Converse over HTTP/2 without TLS; give its `url` to the client as `endpoint`. */
export function startConverseStub(script: StubScript): Promise<StubServer> {
  return startStub('http2', script);
}

/** A Converse response in full. */
export function converseAnswer(
  text: string,
  more: { stopReason?: string; usage?: object; content?: readonly object[]; latencyMs?: number } = {},
): StubReply {
  return {
    json: {
      output: { message: { role: 'assistant', content: more.content ?? [{ text }] } },
      stopReason: more.stopReason ?? 'end_turn',
      usage: more.usage ?? { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 },
      metrics: { latencyMs: 12 },
    },
    ...(more.latencyMs === undefined ? {} : { latencyMs: more.latencyMs }),
  };
}

/** An error as Bedrock sends it: the name stands in a header. */
export function converseError(status: number, type: string, message: string): StubReply {
  return {
    status,
    json: { message },
    headers: { 'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/` },
  };
}
