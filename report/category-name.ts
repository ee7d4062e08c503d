/** Words for the parts of category ids that do not read as words. Everything else reads with its dashes as spaces. */
const WORDS: Readonly<Record<string, string>> = {
  'context-handling-error': 'context handling',
  'coding-use-case-specific-failure-types': 'coding',
  'incorrect-actions': 'incorrect action',
  'llm-output': 'model output',
  'orchestration-related-errors': 'orchestration',
  'context-handling-failures': 'context lost',
  'fabricate-tool-outputs': 'invented tool result',
  'hall-capabilities': 'capability that does not exist',
  'hall-history': 'something never said',
  'hall-misunderstand': 'misread result',
  'hall-params': 'parameter values',
  'hall-usage': 'tool not used',
  'inappropriate-info-request': 'needless question',
  'problem-id': 'wrong approach',
  'repetition-info': 'same question',
  'repetition-tool': 'same call',
  'step-repetition': 'same steps',
};

const words = (part: string): string =>
  (Object.hasOwn(WORDS, part) ? WORDS[part] : undefined) ?? part.replaceAll('-', ' ');

/** `execution-error-category-tool-schema` as "execution error: tool schema". Ids of a team's own taxonomy keep their words. */
export function categoryName(id: string): string {
  const cut = id.indexOf('-category-');
  if (cut === -1) return words(id);
  return `${words(id.slice(0, cut))}: ${words(id.slice(cut + '-category-'.length))}`;
}
