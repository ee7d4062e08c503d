/** A member of an archive, unpacked. */
export interface ArchiveMember {
  readonly name: string;
  readonly text: string;
}

/** Whether an archive with members of these names is a log of Inspect. */
export const isInspectArchive = (names: readonly string[]): boolean =>
  names.includes('header.json') || names.includes('_journal/start.json');

/** Lists of a sample that newer archives write in pieces, each named by the number of its first item. */
const PIECES = ['messages', 'events', 'attachments'] as const;

/**
 * The log that an `.eval` archive of Inspect AI holds, as JSON text in the shape of its `.json` logs; `null` when it
 * is no such archive. Members are set together as text, since a log of many samples is long. Scores of all samples
 * (`summaries.json`, `reductions.json`) are left where they are.
 *
 * A sample is `samples/<id>_epoch_<n>.json`, or a folder of that name with `sample.json` and its lists in pieces. A
 * run that was killed has no `header.json` but the start of its journal.
 */
export function inspectLog(members: readonly ArchiveMember[]): string | null {
  // After an edit a name can stand twice: the later one counts.
  const byName = new Map(members.map(({ name, text }) => [name, text]));
  const header = byName.get('header.json') ?? byName.get('_journal/start.json');
  if (header === undefined) return null;
  const samples: string[] = [];
  for (const [name, text] of byName) {
    const folder = /^(samples\/.{1,500}_epoch_\d{1,6})\/sample\.json$/.exec(name)?.[1];
    if (folder !== undefined) {
      const lists = PIECES.map(
        (list) => `"${list}":[${piecesBelow(byName, `${folder}/${list}/`).join(',')}]`,
      );
      samples.push(`{"inspect_parts":{"sample":${text},${lists.join(',')}}}`);
    } else if (/^samples\/.{1,500}_epoch_\d{1,6}\.json$/.test(name)) samples.push(text);
  }
  const status = byName.has('header.json') ? '' : '"status":"started",';
  const body = header.trim().replace(/^\{/, '');
  // The samples come first, so that an empty header leaves no comma.
  return `{${status}"samples":[${samples.join(',')}],${body}`;
}

function piecesBelow(byName: ReadonlyMap<string, string>, folder: string): string[] {
  const numbered = [...byName].flatMap(([name, text]): [number, string][] => {
    const start = name.startsWith(folder)
      ? /^(\d{1,12})\.json$/.exec(name.slice(folder.length))?.[1]
      : undefined;
    return start === undefined ? [] : [[Number(start), text]];
  });
  return numbered.sort(([a], [b]) => a - b).map(([, text]) => text);
}
