import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';

/** What the stub does with one request. */
export type StubReply =
  | {
      /** Default 200. */
      readonly status?: number;
      /** A string goes out as it is. */
      readonly json: unknown;
      readonly headers?: Readonly<Record<string, string>>;
      readonly latencyMs?: number;
    }
  /** The connection breaks before a byte of an answer. */
  | 'drop'
  /** Nothing comes, ever (until the client gives up). */
  | 'hang';

export interface StubRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Record<string, unknown>;
}

export type StubScript =
  | readonly (StubReply | ((request: StubRequest) => StubReply))[]
  | ((request: StubRequest, index: number) => StubReply);

export interface StubServer {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly requests: readonly StubRequest[];
  /** Throws if a request came that was not scripted. */
  close(): Promise<void>;
}

type Incoming = IncomingMessage | Http2ServerRequest;
type Outgoing = ServerResponse | Http2ServerResponse;

/**
 * A server on a free port of 127.0.0.1 that answers as scripted: a list is used up in order, a function answers
 * everything (benches). An unscripted request gets a 501 and makes `close` throw.
 */
export async function startStub(protocol: 'http1' | 'http2', script: StubScript): Promise<StubServer> {
  const requests: StubRequest[] = [];
  const unscripted: string[] = [];
  const open = new Set<{ destroy(): void }>();

  async function handle(incoming: Incoming, outgoing: Outgoing): Promise<void> {
    const request = {
      path: incoming.url ?? '',
      headers: { ...incoming.headers },
      body: z.record(z.string(), z.unknown()).parse(JSON.parse(await readAll(incoming))),
    };
    const index = requests.push(request) - 1;
    const entry = typeof script === 'function' ? script(request, index) : script[index];
    const reply = typeof entry === 'function' ? entry(request) : entry;
    if (reply === 'hang') return;
    if (reply === 'drop') {
      // In HTTP/2 the session and not only the stream, as when a load balancer goes away.
      if ('stream' in outgoing && outgoing.stream.session !== undefined) outgoing.stream.session.destroy();
      else incoming.socket.destroy();
      return;
    }
    if (reply === undefined) {
      unscripted.push(`${request.path} ${JSON.stringify(request.body).slice(0, 300)}`);
      send(outgoing, 501, { message: 'this request is not in the stub server script' }, {});
      return;
    }
    if (reply.latencyMs !== undefined) await delay(reply.latencyMs);
    send(outgoing, reply.status ?? 200, reply.json, reply.headers ?? {});
  }

  const listener = (incoming: Incoming, outgoing: Outgoing): void => {
    handle(incoming, outgoing).catch((error: unknown) => {
      unscripted.push(String(error));
      send(outgoing, 500, { message: String(error) }, {});
    });
  };
  const server = protocol === 'http2' ? createHttp2Server(listener) : createHttpServer(listener);
  server.on(
    protocol === 'http2' ? 'session' : 'connection',
    (connection: { destroy(): void; on(event: 'close', f: () => void): void }) => {
      open.add(connection);
      connection.on('close', () => open.delete(connection));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      for (const connection of open) connection.destroy();
      await new Promise((resolve) => server.close(resolve));
      if (unscripted.length > 0)
        throw new Error(`the stub server was not told of:\n${unscripted.join('\n')}`);
    },
  };
}

async function readAll(incoming: Incoming): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(z.instanceof(Buffer).parse(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function send(
  outgoing: Outgoing,
  status: number,
  json: unknown,
  headers: Readonly<Record<string, string>>,
): void {
  const body = typeof json === 'string' ? json : JSON.stringify(json);
  // Both response kinds have these calls; their union type has no common overload.
  const response = outgoing as ServerResponse;
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}
