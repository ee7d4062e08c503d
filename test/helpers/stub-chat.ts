import { type StubReply, type StubScript, type StubServer, startStub } from './stub-server.ts';

/** A chat-completions server; its base URL is `<url>/v1`. */
export function startChatStub(script: StubScript): Promise<StubServer> {
  return startStub('http1', script);
}

export function chatAnswer(
  content: string | null,
  more: { finish?: string; refusal?: string; usage?: object | null; latencyMs?: number } = {},
): StubReply {
  return {
    json: {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'served-model',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content,
            ...(more.refusal === undefined ? {} : { refusal: more.refusal }),
          },
          finish_reason: more.finish ?? 'stop',
        },
      ],
      ...(more.usage === null
        ? {}
        : { usage: more.usage ?? { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 } }),
    },
    ...(more.latencyMs === undefined ? {} : { latencyMs: more.latencyMs }),
  };
}

export function chatError(status: number, message: string, code: string | null = null): StubReply {
  return { status, json: { error: { message, type: 'invalid_request_error', param: null, code } } };
}
