/** Why a model call ended, in one word for all providers. The provider's own word is kept where the span is. */
export type FinishReason =
  | 'stop'
  | 'length'
  | 'content-filter'
  | 'tool-calls'
  | 'refusal'
  | 'error'
  | 'other';

/**
 * The providers' words by meaning, letters only. From the API references of OpenAI (Chat Completions, Responses),
 * Anthropic Messages, Bedrock (Converse, Titan, AI21), Gemini (`FinishReason`, `BlockReason`), Cohere, Mistral,
 * DeepSeek, Ollama, vLLM, and the AI SDK's unified words.
 */
const WORDS: Readonly<Record<Exclude<FinishReason, 'other'>, string>> = {
  stop: 'stop end endturn stopsequence stopcriteriamet eos eostoken endoftext complete completed finish finished done',
  length:
    'length maxtokens maxoutputtokens maxcompletiontokens maxlength tokenlimit modellength errorlimit ' +
    'modelcontextwindowexceeded contextwindowexceeded contextlengthexceeded',
  'content-filter':
    'contentfilter contentfiltered guardrailintervened guardrails safety recitation blocklist prohibitedcontent spii ' +
    'language blocked sensitive errortoxic imagesafety imageprohibitedcontent imagerecitation modelarmor jailbreak',
  'tool-calls': 'toolcalls toolcall tooluse functioncall functioncalls',
  refusal: 'refusal refused',
  error:
    'error failed malformedfunctioncall malformedtooluse malformedmodeloutput malformedresponse unexpectedtoolcall ' +
    'toomanytoolcalls missingthoughtsignature networkerror insufficientsystemresource timeout',
};

const CLASSES: ReadonlyMap<string, FinishReason> = new Map(
  Object.entries(WORDS).flatMap(([reason, words]) =>
    words.split(' ').map((word): [string, FinishReason] => [word, reason as FinishReason]),
  ),
);

/** The meaning of a provider's word, whatever its case and separators; `other` for a word that is not known. */
export function finishReason(word: string): FinishReason {
  return CLASSES.get(letters(word)) ?? 'other';
}

/** Whether the answer ended because the context window was full: then the request is too long, not the answer. */
export function isWindowFull(word: string): boolean {
  return /^(?:model)?context(?:window|length)exceeded$/.test(letters(word));
}

/** Whether the model wrote a call or output that its service could not parse. */
export function isMalformedOutput(word: string): boolean {
  return /^(?:malformed|unexpectedtoolcall)/.test(letters(word));
}

/** Whether the word says that the answer is not whole, or was not given. */
export function isBrokenFinish(word: string): boolean {
  return ['length', 'content-filter', 'refusal', 'error'].includes(finishReason(word));
}

/** `FinishReason.MAX_TOKENS`, `FINISH_REASON_SAFETY`, `content-filter`, `toolUse`. */
function letters(word: string): string {
  return word
    .slice(0, 80)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .replace(/^(?:finish|stop|block)reason(?=.)/, '');
}
