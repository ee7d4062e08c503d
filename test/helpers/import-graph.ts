import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';

export const root = path.resolve(import.meta.dirname, '../..');

/** Tracked and new files, without what is ignored or deleted. */
export const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && existsSync(path.join(root, file)));

export const sources = tracked.filter((file) => file.endsWith('.ts') || file.endsWith('.tsx'));

export const readSource = (file: string): string => readFileSync(path.join(root, file), 'utf8');

export interface Import {
  readonly file: string;
  readonly specifier: string;
  /** Path from the root for a file of ours, else null. */
  readonly target: string | null;
  /** Name of the package, or `node:x`. */
  readonly module: string;
}

/** Every import of a source text: static, type-only, re-exported and dynamic, as the parser finds them. */
export function importsOf(file: string, text: string = readSource(file)): Import[] {
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const specifiers = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => (moduleRequest === null ? [] : [moduleRequest.value])),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
      const literal = /^(['"`])([^$]*)\1$/.exec(text.slice(start, end));
      return literal === null ? [] : [literal[2] ?? ''];
    }),
  ];
  return [...new Set(specifiers)].map((specifier) => asImport(file, specifier));
}

export function asImport(file: string, specifier: string): Import {
  const target = specifier.startsWith('.') ? path.posix.join(path.posix.dirname(file), specifier) : null;
  const segments = specifier.split('/');
  const module = specifier.startsWith('@') ? segments.slice(0, 2).join('/') : (segments[0] ?? '');
  return { file, specifier, target, module };
}

/** The circles of a graph: its strongly connected components of more than one node (Tarjan), each sorted. */
export function circlesOf(edges: Iterable<readonly [from: string, to: string]>): string[][] {
  const targets = new Map<string, Set<string>>();
  for (const [from, to] of edges) {
    if (from === to) continue;
    targets.set(from, (targets.get(from) ?? new Set()).add(to));
  }
  const index = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    lowest.set(node, own);
    stack.push(node);
    for (const next of targets.get(node) ?? []) {
      const reached = index.has(next) ? (stack.includes(next) ? index.get(next) : undefined) : visit(next);
      if (reached !== undefined) lowest.set(node, Math.min(lowest.get(node) ?? own, reached));
    }
    const low = lowest.get(node) ?? own;
    if (low === own) {
      const circle = stack.splice(stack.indexOf(node));
      if (circle.length > 1) circles.push(circle.sort());
    }
    return low;
  };
  for (const node of targets.keys()) if (!index.has(node)) visit(node);
  return circles;
}
