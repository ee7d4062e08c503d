import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

/** The machine in one line, for pages that name where figures were taken. */
export function machineLine(): string {
  const [cpu] = cpus();
  const memory = Math.round(totalmem() / 1024 ** 3);
  return `${cpu?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ${memory} GB, Node ${process.version}`;
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
