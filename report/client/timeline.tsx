import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { StepView } from '../html/session-view.ts';
import type { Mark } from './marks.ts';
import { duration, excerpt, KIND_NAMES } from './words.ts';

export interface TimelineProps {
  readonly steps: readonly StepView[];
  readonly marks: ReadonlyMap<string, readonly Mark[]>;
  readonly selected: number;
  onSelect(index: number): void;
  /** Enter on a row: on to what it says. */
  onOpen(): void;
}

interface Row {
  readonly index: number;
  readonly depth: number;
  readonly children: number;
}

const ROW_HEIGHT = 46;
/** Rows drawn above and below what is in view. */
const OVERSCAN = 8;
const MAX_INDENT = 8;

type Show = 'all' | 'marked' | 'model' | 'tool';

/** The session as rows of one height, of which only those in view are drawn: ten thousand spans cost as much as fifty. */
export function Timeline({ steps, marks, selected, onSelect, onOpen }: TimelineProps) {
  const [tree, setTree] = useState(false);
  const [show, setShow] = useState<Show>('all');
  const [search, setSearch] = useState('');
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });

  const nested = useMemo(() => steps.some(({ parent }) => parent !== null), [steps]);
  const ordered = useMemo(
    () => (tree ? treeRows(steps, collapsed) : flatRows(steps)),
    [steps, tree, collapsed],
  );
  const rows = useMemo(() => {
    const wanted = search.trim().toLowerCase();
    return ordered.filter(({ index }) => {
      const step = steps[index];
      if (step === undefined) return false;
      if (show === 'marked' && !marks.has(step.spanId)) return false;
      if (show === 'model' && step.kind !== 'inference') return false;
      if (show === 'tool' && step.kind !== 'execute_tool') return false;
      return wanted === '' || matches(step, wanted);
    });
  }, [ordered, show, search, steps, marks]);
  const span = useMemo(() => Math.max(1, ...extent(steps)), [steps]);
  const place = rows.findIndex(({ index }) => index === selected);

  useLayoutEffect(() => {
    const box = scroller.current;
    if (box === null) return;
    const measure = () => setView({ top: box.scrollTop, height: box.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  // What is selected stands in view, in the middle when it was far away.
  useEffect(() => {
    const box = scroller.current;
    if (box === null || place === -1) return;
    const top = place * ROW_HEIGHT;
    if (top >= box.scrollTop && top + ROW_HEIGHT <= box.scrollTop + box.clientHeight) return;
    box.scrollTop = Math.max(0, top - box.clientHeight / 2 + ROW_HEIGHT / 2);
  }, [place, rows]);

  // A jump from elsewhere must not land on a row that a filter or a folded parent hides.
  useEffect(() => {
    if (steps.length === 0 || rows.some(({ index }) => index === selected)) return;
    setSearch('');
    setShow('all');
    setCollapsed(new Set());
  }, [selected]);

  const moveTo = (at: number): void => {
    const row = rows[Math.min(rows.length - 1, Math.max(0, at))];
    if (row !== undefined) onSelect(row.index);
  };
  const jumpToMark = (by: 1 | -1): void => {
    for (let at = place + by; at >= 0 && at < rows.length; at += by) {
      const step = steps[rows[at]?.index ?? -1];
      if (step === undefined || !marks.has(step.spanId)) continue;
      moveTo(at);
      return;
    }
  };
  const toggle = (index: number): void => {
    const next = new Set(collapsed);
    if (!next.delete(index)) next.add(index);
    setCollapsed(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const page = Math.max(1, Math.floor(view.height / ROW_HEIGHT) - 1);
    const row = rows[place];
    const moves: Record<string, () => void> = {
      ArrowDown: () => moveTo(place + 1),
      ArrowUp: () => moveTo(place - 1),
      PageDown: () => moveTo(place + page),
      PageUp: () => moveTo(place - page),
      Home: () => moveTo(0),
      End: () => moveTo(rows.length - 1),
      n: () => jumpToMark(1),
      p: () => jumpToMark(-1),
      Enter: onOpen,
      ArrowLeft: () => {
        if (row === undefined || !tree) return;
        if (row.children > 0 && !collapsed.has(row.index)) return toggle(row.index);
        const parent = steps[row.index]?.parent ?? null;
        if (parent !== null) onSelect(parent);
      },
      ArrowRight: () => {
        if (row === undefined || !tree || row.children === 0) return;
        if (collapsed.has(row.index)) toggle(row.index);
        else moveTo(place + 1);
      },
    };
    const move = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (move === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    move();
  };

  const from = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - OVERSCAN);
  const to = Math.min(rows.length, Math.ceil((view.top + view.height) / ROW_HEIGHT) + OVERSCAN);
  const drawn = rows.slice(from, to);
  // The one that holds the focus is always there, for who listens instead of looking.
  const current = rows[place];
  if (current !== undefined && (place < from || place >= to)) drawn.push(current);
  const timed = steps.some(({ startMs, durationMs }) => startMs !== null && durationMs !== null);

  return (
    <div class="timeline">
      <div class="toolbar">
        <input
          type="search"
          placeholder="Search the session"
          aria-label="Search the session"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <select
          aria-label="Which steps"
          value={show}
          onChange={(event) => setShow(event.currentTarget.value as Show)}
        >
          <option value="all">All steps</option>
          <option value="marked">Marked steps</option>
          <option value="model">Model calls</option>
          <option value="tool">Tool calls</option>
        </select>
        {nested && (
          <select
            aria-label="Order"
            value={tree ? 'tree' : 'time'}
            onChange={(event) => setTree(event.currentTarget.value === 'tree')}
          >
            <option value="time">In time</option>
            <option value="tree">As a tree</option>
          </select>
        )}
        <button
          type="button"
          onClick={() => jumpToMark(-1)}
          aria-label="Previous marked step"
          title="Previous marked step (p)"
        >
          ↑
        </button>
        <button
          type="button"
          onClick={() => jumpToMark(1)}
          aria-label="Next marked step"
          title="Next marked step (n)"
        >
          ↓
        </button>
        <span class="dim" role="status">
          {rows.length === steps.length ? `${steps.length} steps` : `${rows.length} of ${steps.length} steps`}
        </span>
      </div>
      <div
        class="rows"
        ref={scroller}
        role={tree ? 'tree' : 'listbox'}
        aria-label="Steps of the session"
        aria-activedescendant={current === undefined ? undefined : `row-${current.index}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={(event) => {
          const { scrollTop, clientHeight } = event.currentTarget;
          setView({ top: scrollTop, height: clientHeight });
        }}
      >
        <div class="canvas" role="presentation" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
          {drawn.map((row) => {
            const step = steps[row.index];
            if (step === undefined) return null;
            const at = drawn.indexOf(row) + from;
            const stepMarks = marks.get(step.spanId) ?? [];
            return (
              <TimelineRow
                key={row.index}
                row={row}
                step={step}
                marks={stepMarks}
                top={(at < to ? at : place) * ROW_HEIGHT}
                place={(at < to ? at : place) + 1}
                total={rows.length}
                tree={tree}
                collapsed={collapsed.has(row.index)}
                isSelected={row.index === selected}
                timed={timed}
                span={span}
                onClick={() => onSelect(row.index)}
                onToggle={() => toggle(row.index)}
              />
            );
          })}
        </div>
      </div>
      <p class="hint">
        Arrow keys move, Enter reads, n and p go to the next and previous mark. Steps count from 0, as in the
        session{steps.some(({ position }, index) => position !== index) ? "'s own list of messages" : ''}.
      </p>
    </div>
  );
}

interface RowProps {
  readonly row: Row;
  readonly step: StepView;
  readonly marks: readonly Mark[];
  readonly top: number;
  readonly place: number;
  readonly total: number;
  readonly tree: boolean;
  readonly collapsed: boolean;
  readonly isSelected: boolean;
  readonly timed: boolean;
  readonly span: number;
  onClick(): void;
  onToggle(): void;
}

function TimelineRow({ row, step, marks, isSelected, ...of }: RowProps) {
  const first = marks[0];
  const semantics = of.tree
    ? {
        role: 'treeitem' as const,
        'aria-level': row.depth + 1,
        ...(row.children > 0 ? { 'aria-expanded': !of.collapsed } : {}),
      }
    : { role: 'option' as const };
  return (
    <div
      {...semantics}
      id={`row-${row.index}`}
      class={`row${first === undefined ? '' : ` is-${first.kind}`}${isSelected ? ' is-selected' : ''}`}
      aria-selected={isSelected}
      aria-posinset={of.place}
      aria-setsize={of.total}
      style={{
        top: `${of.top}px`,
        height: `${ROW_HEIGHT}px`,
        paddingLeft: `${8 + Math.min(row.depth, MAX_INDENT) * 14}px`,
      }}
      onClick={of.onClick}
    >
      {of.tree && row.children > 0 && (
        <span
          class="caret"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            of.onToggle();
          }}
        >
          {of.collapsed ? '▸' : '▾'}
        </span>
      )}
      <span class={`kind kind-${step.kind}`}>{KIND_NAMES[step.kind]}</span>
      <span class="what">
        <span class="line">
          <span class="number">{step.position}</span>
          <span class="name">{step.name}</span>
          {step.agent !== null && !step.name.startsWith(step.agent) && <span class="dim">{step.agent}</span>}
          {marks.slice(0, 3).map((mark) => (
            <span key={mark.label} class={`mark mark-${mark.kind}`}>
              {mark.label}
            </span>
          ))}
          {marks.length > 3 && <span class="mark">+{marks.length - 3}</span>}
        </span>
        <span class="excerpt">{excerpt(step)}</span>
      </span>
      {of.timed && <Bar step={step} span={of.span} />}
    </div>
  );
}

function Bar({ step, span }: { readonly step: StepView; readonly span: number }) {
  if (step.startMs === null || step.durationMs === null) return <span class="bar-cell" />;
  const left = (step.startMs / span) * 100;
  const width = Math.max(0.6, (step.durationMs / span) * 100);
  return (
    <span class="bar-cell">
      <span class="track" aria-hidden="true">
        <span
          class={`bar bar-${step.kind}${step.failed ? ' bar-failed' : ''}`}
          style={{
            left: `${Math.min(left, 99.4)}%`,
            width: `${Math.min(width, 100 - Math.min(left, 99.4))}%`,
          }}
        />
      </span>
      <span class="took">{duration(step.durationMs)}</span>
    </span>
  );
}

function* extent(steps: readonly StepView[]): Iterable<number> {
  let end = 0;
  for (const { startMs, durationMs } of steps) end = Math.max(end, (startMs ?? 0) + (durationMs ?? 0));
  yield end;
}

function matches(step: StepView, wanted: string): boolean {
  return (
    step.name.toLowerCase().includes(wanted) ||
    step.spanId.toLowerCase().includes(wanted) ||
    (step.agent ?? '').toLowerCase().includes(wanted) ||
    step.parts.some(
      ({ text, name }) => text.toLowerCase().includes(wanted) || (name ?? '').toLowerCase().includes(wanted),
    )
  );
}

function flatRows(steps: readonly StepView[]): Row[] {
  return steps.map((_, index) => ({ index, depth: 0, children: 0 }));
}

/** Children under their parent, in time; a cycle or a parent that comes later cannot hide a step. */
function treeRows(steps: readonly StepView[], collapsed: ReadonlySet<number>): Row[] {
  const children = new Map<number | null, number[]>();
  for (const [index, { parent }] of steps.entries()) {
    const under = parent !== null && parent < index ? parent : null;
    const siblings = children.get(under);
    if (siblings === undefined) children.set(under, [index]);
    else siblings.push(index);
  }
  const rows: Row[] = [];
  const stack = (children.get(null) ?? []).toReversed().map((index) => ({ index, depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { index, depth } = next;
    const below = children.get(index) ?? [];
    rows.push({ index, depth, children: below.length });
    if (!collapsed.has(index))
      for (const child of below.toReversed()) stack.push({ index: child, depth: depth + 1 });
  }
  return rows;
}
