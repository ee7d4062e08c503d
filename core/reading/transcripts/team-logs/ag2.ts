import { blocksAt, type LogEntry, type TeamLogFormat } from './entry.ts';

/** AG2: entries of content, role and name in this order, printed as YAML. The role is as the other side sees it. */
export const ag2: TeamLogFormat = {
  name: 'AG2',
  recognise: (text) => /^\s{0,16}trajectory:\s{0,16}$/m.test(text) && /^\s{0,16}name: \S/m.test(text),
  split(text) {
    const start = text.search(/^\s{0,16}trajectory:\s{0,16}$/m);
    const entries = blocksAt(text.slice(start), /^\s{0,16}(?:- )?content: ?(.*)$/).map(
      ({ head, body }): LogEntry => {
        const lines = body.split('\n');
        const name = lines.findLast((line) => /^\s{0,16}name: /.test(line));
        const kept = lines.filter((line) => !/^\s{0,16}(?:role|name): \S{1,80}\s{0,8}$/.test(line));
        const said = `${(head[0] ?? '').replace(/^[|>]-?\s{0,8}$/, '')}\n${kept.join('\n')}`.trim();
        return { kind: 'agent', speaker: name?.slice(name.indexOf(':') + 1).trim() ?? 'agent', text: said };
      },
    );
    const task =
      /problem_statement:[ |>-]{0,8}\n?([\s\S]{1,8000}?)\n\s{0,16}(?:other_data|trajectory|note):/.exec(
        text.slice(0, 50_000),
      );
    return { goal: task?.[1]?.trim() || null, entries };
  },
};
