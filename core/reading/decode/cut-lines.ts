/** A log event, as far as joining needs it. */
export interface LogLine {
  readonly logGroup: string;
  readonly logStream: string;
  readonly message: string;
}

/**
 * Lambda and the log agents split a stdout line near 256 KB. No character takes more than four bytes in UTF-8, so a
 * first piece has at least a quarter as many characters.
 */
const MIN_CUT_LENGTH = 64 * 1024;
/** CloudWatch takes events of 1 MB. */
const MAX_PIECES = 4;

/**
 * Joins a line that arrived cut into adjacent events of one stream: only if no piece parses alone and the whole
 * does. The joined event has the id of its first piece.
 */
export function joinCutLines<Line extends LogLine>(events: readonly Line[]): Line[] {
  const joined: Line[] = [];
  for (let at = 0; at < events.length; ) {
    const event = events[at];
    if (event === undefined) break;
    const pieces = piecesFrom(events, at);
    joined.push(pieces === 1 ? event : { ...event, message: textOf(events, at, pieces) });
    at += pieces;
  }
  return joined;
}

function piecesFrom(events: readonly LogLine[], at: number): number {
  const first = events[at];
  if (first === undefined || !beginsLikeJson(first.message)) return 1;
  for (let pieces = 2; pieces <= MAX_PIECES; pieces += 1) {
    const last = events[at + pieces - 1];
    if (last === undefined || last.logStream !== first.logStream || last.logGroup !== first.logGroup)
      return 1;
    // Nearly all events are whole: seen at their ends, without parsing them twice.
    if (looksWhole(first, last) || parses(first.message) || parses(last.message)) return 1;
    if (parses(textOf(events, at, pieces))) return pieces;
  }
  return 1;
}

const textOf = (events: readonly LogLine[], at: number, pieces: number): string =>
  events
    .slice(at, at + pieces)
    .map((event) => event.message)
    .join('');

/** Inside a string a cut may leave a bracket at both ends, but only where lines are cut at all. */
const looksWhole = (first: LogLine, next: LogLine): boolean =>
  first.message.length < MIN_CUT_LENGTH &&
  /[}\]]\s{0,64}$/.test(first.message.slice(-65)) &&
  beginsLikeJson(next.message);

const beginsLikeJson = (text: string): boolean => /^\s{0,64}[{[]/.test(text);

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a text that is no JSON may be a later piece of a cut line: as long as only cut lines are, or closing
 * brackets that it does not open. Brackets in strings do not count; the cut may have fallen into one, so both
 * readings are tried.
 */
export function isPieceOfLine(text: string): boolean {
  if (text.length >= MIN_CUT_LENGTH) return true;
  return /[}\]]\s{0,64}$/.test(text.slice(-65)) && (closesMore(text, false) || closesMore(text, true));
}

function closesMore(text: string, startsInString: boolean): boolean {
  let inString = startsInString;
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (inString && char === '\\') at += 1;
    else if (char === '"') inString = !inString;
    else if (inString) continue;
    else if (char === '{' || char === '[') open += 1;
    else if (char === '}' || char === ']') open -= 1;
  }
  return !inString && open < 0;
}
