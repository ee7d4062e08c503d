import { plain } from '../conventions/foreign.ts';
import { conventionFor } from '../conventions/index.ts';
import { xray } from '../conventions/xray.ts';
import type { RawRecord } from '../decode/format.ts';
import { isErrorLine, isTelling } from './records.ts';

/**
 * Whether a record shows something of an agent: a span that a convention of agents claims, or a log record with content.
 * A span of a server, a client or a queue, and a line of an application, do not: they matter only beside one that does.
 */
export function showsAgent(record: RawRecord): boolean {
  if (record.type === 'log') return isTelling(record) && !isErrorLine(record);
  const convention = conventionFor(record, []);
  return convention !== plain && convention !== xray;
}
