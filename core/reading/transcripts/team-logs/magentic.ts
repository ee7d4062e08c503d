import { addUsage, blocksAt, type LogEntry, type TeamLogFormat } from './entry.ts';

const HEADER = /^-{10} ([\w (>)-]{1,80}?) -{10}\s{0,16}$/;
const USAGE = /^\[Prompt tokens: (\d{1,12}), Completion tokens: (\d{1,12})\]\s{0,16}$/m;
const PEOPLE: ReadonlySet<string> = new Set(['user', 'human']);

/** Magentic-One under AutoGen's benchmark runner: the console between its start and end marks. */
export const magentic: TeamLogFormat = {
  name: 'Magentic-One',
  recognise: (text) => /SCENARIO\.PY STARTING !#!#|^-{10} MagenticOne\w{1,40} -{10}\s{0,16}$/m.test(text),
  split(text) {
    const start = text.indexOf('SCENARIO.PY STARTING !#!#');
    const end = text.search(/^(?:SCENARIO\.PY (?:COMPLETE|RUNTIME)|RUN\.SH COMPLETE)/m);
    const entries: LogEntry[] = [];
    for (const { head, body } of blocksAt(
      text.slice(Math.max(start, 0), end === -1 ? undefined : end),
      HEADER,
    )) {
      const [speaker = ''] = head;
      // What a harness prints of the right answer is no part of the run.
      const said = body
        .replace(/^.{0,40}expected[_ ]answer.{0,400}$/gim, '')
        .replace(USAGE, '')
        .trim();
      entries.push({ kind: PEOPLE.has(speaker.toLowerCase()) ? 'user' : 'agent', speaker, text: said });
      const spent = USAGE.exec(body);
      if (spent !== null) addUsage(entries, spent[1], spent[2]);
    }
    return { goal: null, entries };
  },
};
