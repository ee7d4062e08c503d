import type { ContentBlock, ConverseCommandInput } from '@aws-sdk/client-bedrock-runtime';
import { canonicalJson } from '../../core/base/hash.ts';
import type { ModelCapabilities } from '../../core/model/capabilities.ts';
import type { ModelAnswer, ModelRequest } from '../../core/model/port.ts';
import { listPromptParts } from '../../core/model/request-body.ts';

export type OutputMode = ModelAnswer['outputMode'];

/** How the model is to be asked right now. */
export interface Manner {
  readonly outputMode: OutputMode;
  readonly sampling: boolean;
  readonly caching: boolean;
  /** The refusal concerned this schema (its grammar is too large), not the model. */
  readonly schemaOnly: boolean;
}

/** What a model's 400s taught us, kept while the process lives. */
export interface Manners {
  forSchema(name: string): Manner;
  /** Call it once a manner has worked. */
  remember(schemaName: string, manner: Manner): void;
}

export function startManners(capabilities: ModelCapabilities): Manners {
  let general: Manner = {
    outputMode: capabilities.nativeSchema
      ? 'native-schema'
      : capabilities.forcedTools
        ? 'strict-tool'
        : 'text',
    sampling: capabilities.sampling,
    caching: capabilities.cacheMinimumTokens !== null,
    schemaOnly: false,
  };
  const bySchema = new Map<string, OutputMode>();
  return {
    forSchema: (name) => ({ ...general, outputMode: bySchema.get(name) ?? general.outputMode }),
    remember(schemaName, manner) {
      if (manner.schemaOnly) {
        bySchema.set(schemaName, manner.outputMode);
        general = { ...general, sampling: manner.sampling, caching: manner.caching };
      } else if (!bySchema.has(schemaName)) {
        general = manner;
      }
    },
  };
}

/**
 * The next manner after a 400, or null when none is left. The wording tells which part was refused; where it tells
 * nothing, the structured output is the likeliest, because it is what models differ in most.
 */
export function stepDown(now: Manner, message: string, { forcedTools }: ModelCapabilities): Manner | null {
  if (now.sampling && /temperature|top_?p|sampling/i.test(message)) return { ...now, sampling: false };
  if (now.caching && /cache/i.test(message)) return { ...now, caching: false };
  const schemaOnly = now.schemaOnly || /grammar/i.test(message);
  switch (now.outputMode) {
    case 'native-schema':
      return { ...now, schemaOnly, outputMode: forcedTools ? 'strict-tool' : 'text' };
    case 'strict-tool':
      return { ...now, schemaOnly, outputMode: 'text' };
    case 'text':
      return null;
  }
}

/** Characters a token has at least, on average: a prefix is only marked when it surely reaches the minimum. */
const CHARACTERS_PER_TOKEN = 4;
/** Bedrock takes four cache points in a request. */
const MOST_CACHE_POINTS = 4;

export function writeConverseInput(
  modelId: string,
  request: ModelRequest,
  capabilities: ModelCapabilities,
  manner: Manner,
): ConverseCommandInput {
  const { name, description, schema } = request.answer;
  const input: ConverseCommandInput = {
    modelId,
    messages: [
      {
        role: 'user',
        content: writeContent(request, manner.caching ? capabilities.cacheMinimumTokens : null),
      },
    ],
    inferenceConfig: {
      maxTokens: Math.min(request.maxOutputTokens, capabilities.maxOutputTokens),
      // Votes need to differ; a single answer and the first vote, which is the same request, should not.
      ...(manner.sampling && (request.sample ?? 0) === 0 ? { temperature: 0 } : {}),
    },
  };
  if (request.system !== undefined && request.system.trim() !== '') input.system = [{ text: request.system }];
  if (manner.outputMode === 'native-schema') {
    input.outputConfig = {
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name, description, schema: canonicalJson(schema) } },
      },
    };
  } else if (manner.outputMode === 'strict-tool') {
    input.toolConfig = {
      tools: [{ toolSpec: { name, description, strict: true, inputSchema: { json: schema } } }],
      toolChoice: { tool: { name } },
    };
  }
  return input;
}

/** A cache point behind each marked part whose prefix reaches the minimum; shorter ones would store nothing. */
function writeContent(request: ModelRequest, cacheMinimumTokens: number | null): ContentBlock[] {
  const content: ContentBlock[] = [];
  let characters = request.system?.length ?? 0;
  let points = 0;
  for (const { text, cache } of listPromptParts(request)) {
    content.push({ text });
    characters += text.length;
    const long = cacheMinimumTokens !== null && characters >= cacheMinimumTokens * CHARACTERS_PER_TOKEN;
    if (cache && long && points < MOST_CACHE_POINTS) {
      content.push({ cachePoint: { type: 'default' } });
      points++;
    }
  }
  return content;
}
