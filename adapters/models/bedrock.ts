import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttp2Handler } from '@smithy/node-http-handler';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { findCapabilities, limitsOf, type ModelCapabilities } from '../../core/model/capabilities.ts';
import { classifyModelFault, faultOfError, type ModelFault } from '../../core/model/classify-model-fault.ts';
import type { Model, ModelAnswer, ModelRequest } from '../../core/model/port.ts';
import { priceUsage } from '../../core/model/price-usage.ts';
import { acceptCompletion, readCompletion } from '../../core/model/read-completion.ts';
import { hashRequest } from '../../core/model/request-body.ts';
import { type Manners, startManners, stepDown, writeConverseInput } from './converse-input.ts';

export interface BedrockSettings {
  readonly region?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export interface BedrockModelSettings extends BedrockSettings {
  readonly spec: string;
  readonly modelId: string;
  readonly timeoutMs: number;
}

/** A model of Amazon Bedrock through Converse. The client is made on the first call. */
export function bedrockModel(settings: BedrockModelSettings): Model {
  const capabilities = findCapabilities(settings.modelId);
  const manners = startManners(capabilities);
  let client: BedrockRuntimeClient | null = null;
  return {
    spec: settings.spec,
    limits: limitsOf(capabilities),
    async ask(request) {
      client ??= makeClient(settings);
      return ask(client, settings, capabilities, manners, request);
    },
  };
}

function makeClient({
  region,
  endpoint,
  credentials,
  timeoutMs,
}: BedrockModelSettings): BedrockRuntimeClient {
  return new BedrockRuntimeClient({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    // One retry of the SDK's own repairs a connection that the service closed; everything longer is up to the state
    // machine or the retries of a local run, which know the error by name.
    maxAttempts: 2,
    requestHandler: new NodeHttp2Handler({ requestTimeout: timeoutMs, maxConcurrentStreams: 40 }),
  });
}

async function ask(
  client: BedrockRuntimeClient,
  settings: BedrockModelSettings,
  capabilities: ModelCapabilities,
  manners: Manners,
  request: ModelRequest,
): Promise<ModelAnswer> {
  const started = performance.now();
  let now = manners.forSchema(request.answer.name);
  let first: ModelFault | null = null;
  for (;;) {
    const reply = await send(
      client,
      writeConverseInput(settings.modelId, request, capabilities, now),
      settings.timeoutMs,
    );
    if ('output' in reply) {
      manners.remember(request.answer.name, now);
      const completion = readCompletion(reply.output);
      return acceptCompletion(completion, {
        usage: priceUsage(completion.tokens, capabilities),
        model: settings.modelId,
        outputMode: now.outputMode,
        requestHash: hashRequest(settings.spec, request),
        cached: false,
        durationMs: Math.round(performance.now() - started),
      });
    }
    first ??= reply.fault;
    const error = classifyModelFault(reply.fault);
    // Only a refusal of the request as such can be cured by another request.
    if (!(error instanceof ConfigurationInvalidError) || reply.fault.status !== 400) throw error;
    const next = stepDown(now, reply.fault.message, capabilities);
    if (next === null) throw classifyModelFault(first);
    now = next;
  }
}

async function send(
  client: BedrockRuntimeClient,
  input: ConverseCommandInput,
  timeoutMs: number,
): Promise<{ output: unknown } | { fault: ModelFault }> {
  try {
    const output = await client.send(new ConverseCommand(input), {
      abortSignal: AbortSignal.timeout(timeoutMs),
    });
    return { output };
  } catch (cause) {
    return { fault: faultOfError(cause) };
  }
}
