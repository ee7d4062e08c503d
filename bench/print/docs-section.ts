import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** Where figures were taken: no name of a host, no path. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly node: string;
}

export function machine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown CPU',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 1024 ** 3),
    node: process.version,
  };
}

/** The machine in one line, for pages that name where figures were taken. */
export function machineLine({ cpu, cores, memoryGb, node }: Machine = machine()): string {
  return `${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}`;
}

/**
 * Puts a benchmark's output into a page between `<!-- begin ID -->` and `<!-- end ID -->`, replacing what it wrote
 * there before; appended at the end when the page has no such marks yet.
 */
export function writeDocsSection(file: string, id: string, body: string): void {
  const [begin, end] = [`<!-- begin ${id} -->`, `<!-- end ${id} -->`];
  const page = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const section = `${begin}\n${body.trim()}\n${end}`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end, from);
  writeFileSync(
    file,
    from < 0 || to < 0
      ? `${page.trimEnd()}\n\n${section}\n`
      : `${page.slice(0, from)}${section}${page.slice(to + end.length)}`,
  );
}
