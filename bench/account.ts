import {
  crashPoints,
  longSessions,
  manySessions,
  otherTraffic,
  type Row,
  troubles,
} from './account/scenarios.ts';

/**
 * `npm run bench -- account`: what AWS does to a session, simulated by its written rules (SQS at least once, throttled
 * pollers, retention, partial batches; Lambda's loop detection; clocks that differ). Fails when anything is stuck, lost,
 * mixed or diagnosed more often than promised.
 */
export async function benchAccount(): Promise<number> {
  const lasting = await longSessions();
  print('sessions without a silence', lasting);
  const crashed = await crashPoints();
  print('a crash at each call', crashed);
  const many = [await manySessions(60), await manySessions(240)];
  print('many sessions in one trace', many);
  const traffic = [await otherTraffic(60)];
  print('traces of other services', traffic);
  const troubled = await troubles();
  print('incidents', troubled);
  const sound =
    lasting.every(
      (row) =>
        row.diagnosed === row.promised &&
        isNothing(row, ['records lost', 'records twice', 'stuck', 'looped', 'dead']),
    ) &&
    crashed.every((row) => isNothing(row, ['stuck', 'lost', 'diagnosed twice'])) &&
    many.every((row) => row.diagnosed === row.sessions && isNothing(row, ['mixed', 'dead'])) &&
    traffic.every((row) => Number(row['writes a trace']) <= 1 && isNothing(row, ['spans lost'])) &&
    troubled.every(
      (row) => row.diagnosed === row.sessions && isNothing(row, ['records lost', 'stuck', 'dead']),
    );
  if (!sound) console.error('not sound: see the tables');
  return sound ? 0 : 1;
}

const isNothing = (row: Row, columns: readonly string[]): boolean =>
  columns.every((column) => row[column] === 0);

function print(title: string, rows: readonly Row[]): void {
  console.log(`\n${title}`);
  const names = Object.keys(rows[0] ?? {});
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => String(row[name]).length)));
  const line = (cells: readonly string[]): string =>
    cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
  console.log(line(names));
  for (const row of rows) console.log(line(names.map((name) => String(row[name]))));
}
