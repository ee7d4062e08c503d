import { codePoints } from './render-text.ts';

/** How a step's system text is told by the prompt in the header. */
export interface PromptReference {
  readonly note: string;
  /** What stands in place of the characters that the note names; `null` when the text is the prompt itself. */
  readonly replacement: string | null;
}

/** Below it the saving is not worth the reading. */
const SHARED_CHARACTERS = 200;
const SHARED_SHARE = 0.75;

/**
 * Many agents state the time or a session's state inside their system prompt, so that every call has one of its own.
 * Such a text is told as a change of the prompt above; `null` when the two have too little in common.
 */
export function referToPrompt(text: string, prompt: string): PromptReference | null {
  const trimmed = text.trim();
  if (trimmed === prompt) return { note: 'the system prompt above', replacement: null };
  const shorter = Math.min(trimmed.length, prompt.length);
  let head = 0;
  while (head < shorter && trimmed[head] === prompt[head]) head++;
  if (isHighSurrogate(trimmed, head - 1)) head--;
  let tail = 0;
  while (tail < shorter - head && trimmed.at(-1 - tail) === prompt.at(-1 - tail)) tail++;
  if (isHighSurrogate(trimmed, trimmed.length - tail - 1)) tail--;
  const shared = head + Math.max(0, tail);
  if (shared < SHARED_CHARACTERS || shared < trimmed.length * SHARED_SHARE) return null;
  const from = codePoints(prompt.slice(0, head));
  const to = from + codePoints(prompt.slice(head, prompt.length - tail));
  return {
    note: `the system prompt above with characters ${from} to ${to} replaced by`,
    replacement: trimmed.slice(head, trimmed.length - tail),
  };
}

function isHighSurrogate(text: string, index: number): boolean {
  return (text.charCodeAt(index) & 0xfc00) === 0xd800;
}
