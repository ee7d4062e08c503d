import type { SpanFlag } from '../../session/session.ts';
import { compareTimes } from '../decode/times.ts';

/** What the tree needs of a span; `parentSpanId` and `depth` are set here. */
export interface TreeNode {
  readonly spanId: string;
  readonly statedParent: string | null;
  readonly start: string | null;
  readonly end: string | null;
  /** Made from log records alone: its place in the tree never arrived. */
  readonly detached: boolean;
  readonly flags: Set<SpanFlag>;
  parentSpanId: string | null;
  depth: number;
}

/**
 * Makes a tree of one trace (its span ids are distinct) and returns its spans in order: by start, a parent before its children (a child that
 * starts earlier, by clock drift, comes right after it), then by depth and id.
 *
 * A parent that is not there is replaced by the trace's root; roots are the rule to be missing. A span that is its
 * own parent, and in a cycle the one that starts first, lose their parent in the same way. All flagged. With no
 * root at all, the earliest of these spans is the root.
 */
export function arrange<T extends TreeNode>(nodes: readonly T[]): T[] {
  const byId = new Map(nodes.map((node) => [node.spanId, node]));
  const detached = new Set<T>();
  for (const node of nodes) {
    node.parentSpanId = node.statedParent;
    if (node.statedParent === node.spanId) {
      node.flags.add('self-parent');
      detached.add(node);
    } else if (node.detached || (node.statedParent !== null && !byId.has(node.statedParent))) {
      node.flags.add('missing-parent');
      detached.add(node);
    }
  }
  for (const node of detached) node.parentSpanId = null;
  for (const node of cycleCuts(nodes, byId)) {
    node.flags.add('cycle-cut');
    node.parentSpanId = null;
    detached.add(node);
  }
  const root =
    earliest(nodes.filter((node) => node.parentSpanId === null && !detached.has(node))) ??
    earliest([...detached]);
  for (const node of detached) if (node !== root) node.parentSpanId = root?.spanId ?? null;
  return ordered(nodes, byId);
}

/** For each cycle, its span that starts first. */
function cycleCuts<T extends TreeNode>(nodes: readonly T[], byId: ReadonlyMap<string, T>): T[] {
  const state = new Map<T, 'walking' | 'done'>();
  const cuts: T[] = [];
  for (const node of nodes) {
    const path: T[] = [];
    let at: T | undefined = node;
    while (at !== undefined && !state.has(at)) {
      state.set(at, 'walking');
      path.push(at);
      at = at.parentSpanId === null ? undefined : byId.get(at.parentSpanId);
    }
    if (at !== undefined && state.get(at) === 'walking') {
      const first = earliest(path.slice(path.indexOf(at)));
      if (first !== undefined) cuts.push(first);
    }
    for (const walked of path) state.set(walked, 'done');
  }
  return cuts;
}

function earliest<T extends TreeNode>(nodes: readonly T[]): T | undefined {
  let best: T | undefined;
  for (const node of nodes) if (best === undefined || compareNodes(node, best) < 0) best = node;
  return best;
}

function compareNodes(a: TreeNode, b: TreeNode): number {
  return compareTimes(a.start, b.start) || (a.spanId < b.spanId ? -1 : a.spanId > b.spanId ? 1 : 0);
}

function ordered<T extends TreeNode>(nodes: readonly T[], byId: ReadonlyMap<string, T>): T[] {
  const effective = new Map<T, string | null>();
  const place = (node: T): void => {
    // Chains can be thousands of spans long; recursion would overflow the stack.
    const chain: T[] = [];
    let at: T | undefined = node;
    while (at !== undefined && !effective.has(at)) {
      chain.push(at);
      at = at.parentSpanId === null ? undefined : byId.get(at.parentSpanId);
    }
    for (const link of chain.reverse()) {
      const parent = link.parentSpanId === null ? undefined : byId.get(link.parentSpanId);
      const floor = parent === undefined ? null : (effective.get(parent) ?? null);
      link.depth = parent === undefined ? 0 : parent.depth + 1;
      effective.set(link, later(link.start, floor) ?? '0');
      flagTimes(link, parent);
    }
  };
  for (const node of nodes) place(node);
  return [...nodes].sort(
    (a, b) =>
      compareTimes(effective.get(a) ?? null, effective.get(b) ?? null) ||
      a.depth - b.depth ||
      compareNodes(a, b),
  );
}

function later(a: string | null, b: string | null): string | null {
  if (a === null) return b;
  if (b === null) return a;
  return compareTimes(a, b) >= 0 ? a : b;
}

function flagTimes(node: TreeNode, parent: TreeNode | undefined): void {
  if (node.start !== null && node.end !== null && compareTimes(node.end, node.start) < 0)
    node.flags.add('negative-duration');
  // A span that was hung here for want of its own parent says nothing by outliving it.
  const isStatedChild = parent !== undefined && node.statedParent === parent.spanId;
  if (isStatedChild && node.end !== null && parent.end !== null && compareTimes(node.end, parent.end) > 0)
    node.flags.add('outlives-parent');
}
