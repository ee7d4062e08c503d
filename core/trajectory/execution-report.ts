/** `exitcode: 1`, `Exit code 127` at the head of a text, `(exit code 1)` at its end, `<returncode>`: how code runners report. */
const EXIT_CODE =
  /^\s{0,20}(?:process )?exit(?:ed with)?(?: |_)?(?:code|status)\s{0,3}[:=]?\s{0,3}(-?\d{1,6})\b/i;
const RETURN_CODE = /^\s{0,20}<(?:returncode|exit_?code)>\s{0,5}(-?\d{1,6})\s{0,5}</i;
const AT_END =
  /\[?\(?(?:process )?exit(?:ed with)?(?: |_)?(?:code|status)\s{0,3}[:=]?\s{0,3}(-?\d{1,6})[)\]]\s{0,5}$/i;

export function reportedExitCode(text: string): number | null {
  const found =
    EXIT_CODE.exec(text.slice(0, 120)) ??
    RETURN_CODE.exec(text.slice(0, 200)) ??
    AT_END.exec(text.slice(-60));
  return found?.[1] === undefined ? null : Number(found[1]);
}

/** `GET /rooms.csv -> 404 Not Found`: a text that is what a request brought, whoever hands it on. */
export function isRequestReport(text: string): boolean {
  return /^\s{0,8}(?:GET|POST|PUT|PATCH|DELETE|HEAD) \S{1,300}\s{0,3}(?:->|=>|→)\s{0,3}(?:HTTP\/\d(?:\.\d)? )?[1-5]\d\d\b/.test(
    text.slice(0, 400),
  );
}

export interface CodeBlock {
  readonly language: string;
  readonly code: string;
  /** Where the block begins in the text. */
  readonly start: number;
  readonly end: number;
}

/** Fenced code blocks, in order; an unclosed fence runs to the end. Linear. */
export function codeBlocks(text: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let at = text.indexOf('```');
  while (at !== -1) {
    const newline = text.indexOf('\n', at);
    const bodyStart = newline === -1 ? text.length : newline + 1;
    const close = text.indexOf('```', Math.max(bodyStart, at + 3));
    const end = close === -1 ? text.length : close;
    const language = text.slice(at + 3, Math.min(bodyStart, at + 43)).trim();
    blocks.push({
      language,
      code: text.slice(bodyStart, end),
      start: at,
      end: close === -1 ? text.length : close + 3,
    });
    at = close === -1 ? -1 : text.indexOf('```', close + 3);
  }
  return blocks;
}

/** The text with fenced and inline code blanked out, so that places in it stay the same. Linear. */
export function blankCode(text: string): string {
  if (!text.includes('`')) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const block of codeBlocks(text)) {
    const end = Math.min(text.length, block.end);
    pieces.push(text.slice(at, block.start), ' '.repeat(end - block.start));
    at = end;
  }
  pieces.push(text.slice(at));
  return pieces.join('').replace(/`[^`\n]{1,200}`/g, (inline) => ' '.repeat(inline.length));
}
