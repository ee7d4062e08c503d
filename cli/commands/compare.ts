import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { type ComparedFault, compareDiagnoses } from '../../core/report-build/compare.ts';
import { verdict } from '../../core/report-build/verdict.ts';
import { categoryName } from '../../report/category-name.ts';
import { safeLine } from '../../report/escape.ts';
import { type OpenStore, openStoreToRead } from '../shell/deps.ts';
import { UsageError } from '../shell/errors.ts';
import { findDiagnosis } from '../shell/find-diagnosis.ts';
import { type CliIo, palette } from '../shell/io.ts';

export interface CompareFlags {
  readonly store: string;
  readonly json?: boolean;
}

/** Two stored diagnoses: what is gone, what is new, what is still there. */
export async function compareCommand(a: string, b: string, flags: CompareFlags, io: CliIo): Promise<number> {
  const store = await openStoreToRead(flags.store);
  try {
    const before = await named(a, store, flags.store);
    const after = await named(b, store, flags.store);
    const comparison = compareDiagnoses(before, after);
    if (flags.json ?? !io.outIsTerminal) {
      io.out(`${JSON.stringify(comparison, null, 2)}\n`);
      return 0;
    }
    const paint = palette(io);
    const section = (
      title: string,
      mark: string,
      faults: readonly ComparedFault[],
      color: (text: string) => string,
    ) =>
      faults.length === 0
        ? []
        : [
            paint.bold(`${title} (${faults.length})`),
            ...faults.map(({ category, place, before: from, after: to }) =>
              [
                color(`  ${mark} ${categoryName(category)}`),
                `      ${safeLine(place, 60)}, step ${from ?? to}${from !== null && to !== null && from !== to ? `, now step ${to}` : ''}`,
              ].join('\n'),
            ),
          ];
    const lines = [
      head('A', before),
      head('B', after),
      '',
      ...section('Fixed: in A and not in B', '✓', comparison.fixed, paint.green),
      ...section('New: in B and not in A', '✗', comparison.new, paint.red),
      ...section('Same: in both', '=', comparison.same, paint.yellow),
    ];
    if (comparison.fixed.length + comparison.new.length + comparison.same.length === 0)
      lines.push('no failures in either');
    if (before.coverage.state !== after.coverage.state || before.provenance.model !== after.provenance.model)
      lines.push(
        '',
        paint.yellow('They were not looked at alike: what one of them lacks may not have been looked for.'),
      );
    io.out(`${lines.join('\n')}\n`);
    return 0;
  } finally {
    await store.close();
  }
}

const head = (name: string, diagnosis: Diagnosis): string =>
  `${name}  ${safeLine(diagnosis.sessionId, 40)} v${diagnosis.version}, ${safeLine(diagnosis.provenance.model, 60)}\n` +
  `   ${diagnosis.outcome}: ${safeLine(verdict(diagnosis).text, 200)}`;

/** `id`, or `id@2` for a version. An id may hold an at sign of its own. */
async function named(reference: string, store: OpenStore, where: string): Promise<Diagnosis> {
  const version = /^(.+)@(\d{1,6})$/u.exec(reference);
  if (version?.[1] === undefined) return findDiagnosis(reference, store, where);
  const number = Number(version[2]);
  if (number < 1) throw new UsageError(`compare: versions count from 1, got "${reference}"`);
  return findDiagnosis(version[1], store, where, number);
}
