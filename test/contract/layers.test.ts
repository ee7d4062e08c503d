import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { asImport, circlesOf, type Import, importsOf, sources } from '../helpers/import-graph.ts';

/**
 * The layers of core: each folder imports only from itself and from those before it, type-only imports included.
 * Only `core/index.ts` and `core/library.ts`, the entry points of the package, stand above all of them.
 */
const LAYERS = [
  'errors',
  'base',
  'cel',
  'session',
  'vocabulary',
  'redaction',
  'reading',
  'trajectory',
  'prompting',
  'model',
  'planning',
  'diagnosis',
  'checks',
  'detection',
  'constraints',
  'explanation',
  'report-build',
  'stages',
  'ports',
  'ingest',
];

const product = sources.filter((file) => /^(core|adapters|lambdas|lib|bin|cli|report|bench)\//.test(file));
const imports = product.flatMap((file) => importsOf(file));

/** Layer of a file of core: its place in the order; the entry points are above all. */
function layerOf(file: string): number {
  const [, folder, rest] = file.split('/');
  return rest === undefined ? LAYERS.length : LAYERS.indexOf(folder ?? '');
}

const isUpward = ({ file, target }: Import): boolean =>
  target !== null &&
  file.startsWith('core/') &&
  target.startsWith('core/') &&
  layerOf(target) > layerOf(file);

type Edge = readonly [from: string, to: string];
const fileEdges = (list: readonly Import[]): Edge[] =>
  list.flatMap(({ file, target }) => (target === null ? [] : [[file, target] as const]));
const folderEdges = (list: readonly Import[]): Edge[] =>
  fileEdges(list).map(([from, to]) => [path.posix.dirname(from), path.posix.dirname(to)]);

describe('the layers of core', () => {
  it('lists every folder of core, and no other', () => {
    const folders = product.filter((file) => /^core\/[^/]+\//.test(file)).map((file) => file.split('/')[1]);
    expect([...new Set(folders)].sort()).toEqual([...LAYERS].sort());
  });

  it('no folder imports from one above it', () => {
    expect(imports.filter(isUpward).map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
  });

  it('sees a planted upward import, also one of types only', () => {
    for (const text of [
      "import { diagnose } from '../stages/pipeline.ts';",
      "import type { Diagnosis } from '../diagnosis/schema.ts';",
      "export type { Diagnosis } from '../diagnosis/schema.ts';",
      "const late = () => import('../diagnosis/schema.ts');",
    ]) {
      expect(importsOf('core/base/planted.ts', text).filter(isUpward)).toHaveLength(1);
    }
    expect(isUpward(asImport('core/stages/x.ts', '../base/json.ts'))).toBe(false);
  });
});

describe('circles', () => {
  it('no two files import each other, directly or around corners', () => {
    expect(circlesOf(fileEdges(imports))).toEqual([]);
  });

  it('no two folders do, at any depth', () => {
    expect(circlesOf(folderEdges(imports))).toEqual([]);
  });

  it('sees a planted circle of files and of folders', () => {
    const planted = [
      ...imports,
      ...importsOf('core/session/session.ts', "import type { X } from '../trajectory/trajectory.ts';"),
    ];
    expect(circlesOf(fileEdges(planted)).flat()).toContain('core/session/session.ts');
    expect(circlesOf(folderEdges(planted)).flat()).toContain('core/session');
    expect(
      circlesOf([...fileEdges(imports), ['core/a.ts', 'core/b.ts'], ['core/b.ts', 'core/a.ts']]),
    ).toEqual([['core/a.ts', 'core/b.ts']]);
  });
});
