import { addUsage, blocksAt, LOGURU, type LogEntry, type TeamLog, type TeamLogFormat } from './entry.ts';

const BLOCK =
  /^\s{0,16}\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] (?:FROM: (\w{1,60}) TO: .{0,200}|(NEW MESSAGES):)\s{0,16}$/;
const ROLE_LINE = /^\s{0,16}([A-Z]\w{1,60}):\s{0,16}$/;
const RULE = /^\s{0,16}-{20,200}\s{0,16}$/gm;

/** MetaGPT: its communication log, or the lines that its roles log as they act. */
export const metagpt: TeamLogFormat = {
  name: 'MetaGPT',
  recognise: (text) => /MetaGPT Agent Communication Log|\| metagpt\.roles\.role:_act:/.test(text),
  split: (text) => (text.includes('Agent Communication Log') ? splitMessages(text) : splitLines(text)),
};

function splitMessages(text: string): TeamLog {
  const entries: LogEntry[] = [];
  const clean = text.replace(RULE, '').replace(/^\s{0,16}=== Communication Log Ended[\s\S]*$/m, '');
  for (const { head, body } of blocksAt(clean, BLOCK)) {
    const [from = ''] = head;
    if (from !== '') {
      const said = /CONTENT:\s{0,16}([\s\S]*)$/.exec(body)?.[1] ?? body;
      entries.push({ kind: from === 'Human' ? 'user' : 'agent', speaker: from, text: said.trim() });
      continue;
    }
    for (const part of blocksAt(body, ROLE_LINE)) {
      const [role = ''] = part.head;
      entries.push({ kind: role === 'Human' ? 'user' : 'agent', speaker: role, text: part.body });
    }
  }
  return { goal: null, entries };
}

function splitLines(text: string): TeamLog {
  const entries: LogEntry[] = [];
  for (const { head, body } of blocksAt(text, LOGURU)) {
    const [level = '', module = '', name = '', said = ''] = head;
    const role =
      module === 'metagpt.roles.role' && name === '_act' ? /\((\w{1,60})\)/.exec(said)?.[1] : undefined;
    if (role !== undefined) entries.push({ kind: 'agent', speaker: role, text: body });
    else if (name === 'update_cost') {
      addUsage(
        entries,
        /prompt_tokens: (\d{1,12})/.exec(said)?.[1],
        /completion_tokens: (\d{1,12})/.exec(said)?.[1],
      );
    } else
      entries.push({
        kind: 'note',
        speaker: 'MetaGPT',
        text: `${said}\n${body}`.trim(),
        failed: level === 'ERROR',
      });
  }
  return { goal: null, entries };
}
