import * as z from 'zod';
import { ContextOverflowError } from '../errors/errors.ts';
import { finishReason, isWindowFull } from '../vocabulary/finish-reasons.ts';
import { UnusableAnswerError } from './answer-defect.ts';
import type { ModelAnswer } from './port.ts';
import { NO_TOKENS, type TokenUsage } from './price-usage.ts';

/** What a service returned, whatever its convention. */
export interface Completion {
  readonly text: string;
  /** The convention's own stop reason, null where it gives none. */
  readonly stop: string | null;
  /** Null when none were reported. */
  readonly tokens: TokenUsage | null;
  readonly model: string | null;
}

const count = z.number().nonnegative().nullish();

/** Bedrock Converse. `reasoningContent` and unknown blocks are not part of the answer. */
const converseSchema = z.object({
  output: z.object({
    message: z.object({
      content: z.array(
        z.looseObject({ text: z.string().optional(), toolUse: z.object({ input: z.unknown() }).optional() }),
      ),
    }),
  }),
  stopReason: z.string().nullish(),
  usage: z
    .object({
      inputTokens: count,
      outputTokens: count,
      cacheReadInputTokens: count,
      cacheWriteInputTokens: count,
    })
    .nullish(),
});

/** Anthropic Messages. */
const anthropicSchema = z.object({
  content: z.array(
    z.looseObject({ type: z.string(), text: z.string().optional(), input: z.unknown().optional() }),
  ),
  stop_reason: z.string().nullish(),
  model: z.string().nullish(),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
    })
    .nullish(),
});

/** OpenAI chat completion; `content` can be a list of parts on compatible servers. */
const chatSchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).nullish(),
          refusal: z.string().nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  model: z.string().nullish(),
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
    })
    .nullish(),
});

/**
 * Reads a Converse response, an Anthropic message, a chat completion or a bare string.
 * Throws UnusableAnswerError (`malformed`) that names these for anything else.
 */
export function readCompletion(value: unknown): Completion {
  if (typeof value === 'string') return { text: value, stop: null, tokens: null, model: null };
  const converse = converseSchema.safeParse(value);
  if (converse.success) return fromConverse(converse.data);
  const chat = chatSchema.safeParse(value);
  if (chat.success) return fromChat(chat.data);
  const anthropic = anthropicSchema.safeParse(value);
  if (anthropic.success) return fromAnthropic(anthropic.data);
  throw new UnusableAnswerError(
    'malformed',
    'the response is neither a Converse response (output.message.content), an Anthropic message (content[].text), ' +
      'a chat completion (choices[].message.content) nor a string',
    { text: JSON.stringify(value) ?? '' },
  );
}

function fromConverse(data: z.infer<typeof converseSchema>): Completion {
  const { content } = data.output.message;
  const tool = content.find((block) => block.toolUse !== undefined)?.toolUse;
  const usage = data.usage;
  return {
    text: tool === undefined ? content.map((block) => block.text ?? '').join('') : JSON.stringify(tool.input),
    stop: data.stopReason ?? null,
    tokens: usage
      ? {
          inputTokens: usage.inputTokens ?? 0,
          outputTokens: usage.outputTokens ?? 0,
          cacheReadTokens: usage.cacheReadInputTokens ?? 0,
          cacheWriteTokens: usage.cacheWriteInputTokens ?? 0,
        }
      : null,
    model: null,
  };
}

function fromAnthropic(data: z.infer<typeof anthropicSchema>): Completion {
  const tool = data.content.find((block) => block.type === 'tool_use');
  const texts = data.content.filter((block) => block.type === 'text').map((block) => block.text ?? '');
  const usage = data.usage;
  return {
    text: tool?.input === undefined ? texts.join('') : JSON.stringify(tool.input),
    stop: data.stop_reason ?? null,
    tokens: usage
      ? {
          inputTokens: usage.input_tokens ?? 0,
          outputTokens: usage.output_tokens ?? 0,
          cacheReadTokens: usage.cache_read_input_tokens ?? 0,
          cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
        }
      : null,
    model: data.model ?? null,
  };
}

function fromChat(data: z.infer<typeof chatSchema>): Completion {
  const choice = data.choices[0];
  const content = choice?.message.content ?? '';
  const text = typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('');
  const refusal = choice?.message.refusal;
  const cached = data.usage?.prompt_tokens_details?.cached_tokens ?? 0;
  return {
    text: text === '' && refusal ? refusal : text,
    stop: text === '' && refusal ? 'refusal' : (choice?.finish_reason ?? null),
    tokens: data.usage
      ? {
          ...NO_TOKENS,
          // Chat completions count cached tokens among the prompt's; Converse and Anthropic do not.
          inputTokens: Math.max(0, (data.usage.prompt_tokens ?? 0) - cached),
          outputTokens: data.usage.completion_tokens ?? 0,
          cacheReadTokens: cached,
        }
      : null,
    model: data.model ?? null,
  };
}

/**
 * Turns a completion into an answer, or throws: the stop reason is looked at before the text, since a cut or blocked
 * text can look complete. `model_context_window_exceeded` is a ContextOverflowError, so the caller splits; the other
 * bad ends and an empty text are UnusableAnswerErrors that carry what the call cost.
 */
export function acceptCompletion(completion: Completion, answer: Omit<ModelAnswer, 'text'>): ModelAnswer {
  const { text, stop } = completion;
  const because = `stop reason ${stop}`;
  if (stop !== null) {
    const reason = finishReason(stop);
    if (isWindowFull(stop)) {
      throw new ContextOverflowError(`the model's window was full before its answer ended (${because})`);
    }
    if (reason === 'length') {
      const spent = `it used all ${answer.usage.outputTokens} tokens that it may put out (${because})`;
      throw new UnusableAnswerError('cut', spent, { text, answer });
    }
    if (reason === 'content-filter') {
      throw new UnusableAnswerError('blocked', `a guardrail or content filter stopped it (${because})`, {
        text,
        answer,
      });
    }
    if (reason === 'refusal') {
      throw new UnusableAnswerError('refused', `the model declined to answer (${because})`, { text, answer });
    }
    if (reason === 'error') {
      throw new UnusableAnswerError('malformed', `the service reports malformed output (${because})`, {
        text,
        answer,
      });
    }
  }
  if (text.trim() === '') {
    throw new UnusableAnswerError(
      'empty',
      `there was no text (${stop === null ? 'no stop reason' : because})`,
      { answer },
    );
  }
  return { ...answer, text };
}
