import { blocksAt, type LogEntry, type TeamLogFormat } from './entry.ts';

const HEADER = /^\s{0,16}(?:- )?HyperAgent_\S{1,200} - [A-Z]{1,10} - (.*)$/;

/** HyperAgent: a planner and the assistants inside its navigator, editor and executor. */
export const hyperagent: TeamLogFormat = {
  name: 'HyperAgent',
  recognise: (text) => /^\s{0,16}(?:- )?HyperAgent_\S{1,200} - /m.test(text),
  split(text) {
    const entries: LogEntry[] = [];
    for (const { head, body } of blocksAt(text, HEADER)) {
      const [first = ''] = head;
      const said = /^(?:Inner-)?(\w{1,40})(?:-Assistant)?'s Response: ?(.*)$/.exec(first);
      const handed = /^(\w{1,40})->(\w{1,40}): ?(.*)$/.exec(first);
      const text = (line: string | undefined): string => `${line ?? ''}\n${body}`.trim();
      if (said !== null) entries.push({ kind: 'agent', speaker: said[1] ?? '', text: text(said[2]) });
      else if (handed !== null)
        entries.push({ kind: 'agent', speaker: handed[1] ?? '', text: text(handed[3]) });
      else if (!first.startsWith('Initialized '))
        entries.push({ kind: 'note', speaker: 'HyperAgent', text: text(first) });
    }
    const task = /problem_statement:[ |>-]{0,8}\n?([\s\S]{1,8000}?)\n\s{0,16}(?:other_data|trajectory):/.exec(
      text.slice(0, 50_000),
    );
    return { goal: task?.[1]?.trim() || null, entries };
  },
};
