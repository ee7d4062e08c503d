import { addUsage, blocksAt, type LogEntry, type TeamLogFormat } from './entry.ts';

const HEADER = /^\s{0,16}\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d (?:INFO|WARNING|ERROR)\] (.*)$/;
const TURN = /^([\w .'-]{1,60}): \*\*[\w .'-]{1,60}<->[\w .'-]{1,60} on : (\w{1,60}), turn \d{1,6}\*\*/;
const NOISE = /flask app\.py did not start|^HTTP Request: /;

/** ChatDev: turns of two roles in a phase, and events of the chain between them. */
export const chatdev: TeamLogFormat = {
  name: 'ChatDev',
  recognise: (text) =>
    /^\s{0,16}\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d INFO\] /m.test(text) &&
    /<->|\*\*\[Preprocessing\]\*\*/.test(text),
  split(text) {
    const entries: LogEntry[] = [];
    let goal: string | null = null;
    for (const { head, body } of blocksAt(text, HEADER)) {
      const [first = ''] = head;
      const whole = `${first}\n${body}`.trim();
      const turn = TURN.exec(first);
      if (turn !== null) {
        const said = `${first.slice(turn[0].length)}\n${body}`.trim();
        entries.push({ kind: 'agent', speaker: turn[1] ?? '', text: said });
      } else if (whole.includes('[OpenAI_Usage_Info Receive]')) {
        addUsage(
          entries,
          /prompt_tokens: (\d{1,12})/.exec(whole)?.[1],
          /completion_tokens: (\d{1,12})/.exec(whole)?.[1],
        );
      } else if (!NOISE.test(first)) {
        const event = /\*\*\[([\w &]{1,40})\]\*\*/.exec(first)?.[1] ?? 'ChatDev';
        goal ??= /\*\*task_prompt\*\*: (.{1,8000})/.exec(whole)?.[1] ?? null;
        // What a program printed is a result; the rest is the chain's own.
        entries.push(
          event === 'Test Reports'
            ? {
                kind: 'tool',
                speaker: event,
                text: body,
                failed: /Traceback \(most recent call last\)/.test(body),
              }
            : { kind: 'note', speaker: event, text: whole },
        );
      }
    }
    return { goal, entries };
  },
};
