import { addUsage, blocksAt, LOGURU, type LogEntry, type TeamLogFormat } from './entry.ts';

/** OpenManus: one agent that thinks, prepares tools and acts, each on log lines of their own. */
export const openmanus: TeamLogFormat = {
  name: 'OpenManus',
  recognise: (text) => /\| app\.agent\.\w{1,40}:\w{1,40}:\d{1,6} - /.test(text),
  split(text) {
    const entries: LogEntry[] = [];
    let goal: string | null = null;
    let tool = '';
    /** Tokens are logged before what they were spent on. */
    let spent: RegExpExecArray | null = null;
    for (const { head, body } of blocksAt(text, LOGURU)) {
      const [level = '', , name = '', first = ''] = head;
      const whole = `${first}\n${body}`.trim();
      const after = (mark: RegExp): string => whole.replace(mark, '').trim();
      const thoughts = /^\S{0,4} ?(\w{1,40})'s thoughts: ?/.exec(first);
      const done = /Tool '([^']{1,80})' completed its mission! Result: ?/.exec(first);
      const prepared = /Tools being prepared: \[([^\]]{0,400})\]/.exec(first);
      if (thoughts !== null) {
        const text = after(/^[^:]{0,60}: ?/);
        entries.push({ kind: 'agent', speaker: thoughts[1] ?? 'Manus', text });
        addUsage(entries, spent?.[1], spent?.[2]);
        spent = null;
      } else if (prepared !== null) tool = /'([^']{1,80})'/.exec(prepared[1] ?? '')?.[1] ?? '';
      else if (/Tool arguments: /.test(first)) {
        const call = {
          name: tool === '' ? 'unknown' : tool,
          arguments: after(/^[\s\S]{0,8}Tool arguments: /),
        };
        entries.push({ kind: 'agent', speaker: 'Manus', text: '', call });
      } else if (done !== null) {
        const said = after(/^[\s\S]{0,200}?Result: ?/);
        entries.push({
          kind: 'tool',
          speaker: done[1] ?? '',
          text: said,
          failed: /^(?:Observed output of cmd .{0,200} executed:\s{0,8})?Error:/i.test(said),
        });
      } else if (name === 'update_token_count') {
        spent = /Input=(\d{1,12}), Completion=(\d{1,12})/.exec(first);
      } else if (/Read prompt from \S{1,80}: /.test(first)) {
        goal ??= after(/^Read prompt from \S{1,80}: /);
        entries.push({ kind: 'user', speaker: 'user', text: goal });
      } else if (level === 'ERROR' || /🚨|📝 Oops/u.test(first)) {
        entries.push({ kind: 'note', speaker: 'OpenManus', text: whole, failed: true });
      }
    }
    return { goal, entries };
  },
};
