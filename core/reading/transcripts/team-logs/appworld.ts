import { blocksAt, type LogEntry, type TeamLogFormat } from './entry.ts';

const HEADER =
  /^\s{0,40}(?:(Response from|Reply from|Message to) (\w{1,40}) Agent|(Entering|Exiting) \w{1,40} Agent message loop|(Code Execution Output)|(Response from send_message API))\s{0,16}$/;
const BANNER = /^\s{0,16}\*{5,80} Task \d{1,6}\/\d{1,6} \(\w{1,60}\) \*{5,80}\s{0,16}$/m;
/** The harness's own tests of the outcome, printed at the end. */
const GRADES =
  /^\s{0,16}(?:\*{5,80} )?(?:Evaluation|Test(?:s)? (?:passed|failed)|Num (?:Passed|Failed) Tests)\b/im;

/** AppWorld: a supervisor that sends messages to agents of single apps, which run code. */
export const appworld: TeamLogFormat = {
  name: 'AppWorld',
  recognise: (text) => /^\s{0,40}Response from \w{1,40} Agent\s{0,16}$/m.test(text),
  split(text) {
    const banner = BANNER.exec(text);
    const whole = banner === null ? text : text.slice(banner.index + banner[0].length);
    const graded = whole.search(GRADES);
    const log = graded === -1 ? whole : whole.slice(0, graded);
    const entries: LogEntry[] = [];
    for (const { head, body } of blocksAt(log, HEADER)) {
      const [what = '', app = '', loop = '', output = ''] = head;
      const speaker = app === '' ? '' : `${app[0]?.toUpperCase()}${app.slice(1).toLowerCase()}`;
      if (what === 'Response from') entries.push({ kind: 'agent', speaker, text: body });
      else if (what !== '') entries.push({ kind: 'note', speaker: `${what} ${speaker}`, text: body });
      else if (loop === '') {
        const name = output === '' ? 'send_message' : 'code';
        entries.push({
          kind: 'tool',
          speaker: name,
          text: body,
          failed: /Execution failed\. Traceback/.test(body),
        });
      }
    }
    const first = log.split(/\r?\n/).findIndex((line) => HEADER.test(line));
    const task = first === -1 ? '' : log.split(/\r?\n/).slice(0, first).join('\n').trim();
    return { goal: banner === null || task === '' ? null : task, entries };
  },
};
