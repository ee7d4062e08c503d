/**
 * What a tool does, by the verb that begins its name. It decides what its answer is: a tool that reads is asked for
 * content, which may tell of failures; one that checks is asked for a judgement, which may be "no"; one that acts
 * answers for its own success.
 */
export type ToolManner = 'reads' | 'checks' | 'acts';

const READS = new Set(
  'get list read fetch search find lookup look show describe view query status poll watch inspect tail cat head open download scrape browse load count preview export retrieve load peek dump log logs monitor track wait resolve explain summarize summarise glob ls grep select scan history info'.split(
    ' ',
  ),
);
const CHECKS = new Set(
  'check validate verify test lint audit review qa evaluate compare diff assess simulate can is has'.split(
    ' ',
  ),
);
const GIVES = new Set('status info details history list listing report summary state log logs'.split(' '));
const CHANGES = new Set(
  'set update change create add send write delete remove clear reset post put save make submit generate edit append'.split(
    ' ',
  ),
);
/** Verbs of little meaning: the next word says what is done (`run_qa`, `run_tests`, `do_search`). */
const LIGHT = new Set('run do execute exec start tool mcp call try perform make'.split(' '));

export function mannerOf(toolName: string): ToolManner {
  const words = nameWords(toolName);
  // `ballot_status`, `order_history`: named by what they give.
  if (words.length > 1 && GIVES.has(words.at(-1) ?? '') && !CHANGES.has(words[0] ?? '')) return 'reads';
  for (const word of words.slice(0, 3)) {
    const bare = word.replace(/(?<=[a-z]{3})s$/, '');
    if (READS.has(word) || READS.has(bare)) return 'reads';
    if (CHECKS.has(word) || CHECKS.has(bare)) return 'checks';
    if (!LIGHT.has(word)) return 'acts';
  }
  return 'acts';
}

/** The words of a name, lower case, without a server's prefix (`mcp__github__get_issue`, `orders.get`). */
export function nameWords(toolName: string): readonly string[] {
  const verbs =
    toolName
      .slice(0, 200)
      .split(/__|[./:]/)
      .findLast((part) => part !== '') ?? toolName;
  return verbs
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

const TEXTS = new Set(
  'file files log logs page pages url document documents doc docs text source code transcript email mail message notebook ticket thread note notes content webpage website html readme repo'.split(
    ' ',
  ),
);

/** Whether the tool is asked for a text as it stands, whatever that tells of: a file, a log, a page. */
export function readsTexts(toolName: string, argumentKeys: readonly string[]): boolean {
  return (
    mannerOf(toolName) === 'reads' &&
    [...nameWords(toolName), ...argumentKeys.flatMap(nameWords)].some(
      (word) => TEXTS.has(word) || word === 'path' || word === 'uri',
    )
  );
}
