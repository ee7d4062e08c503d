import { expect, it } from 'vitest';
import { readSessions } from '../../../../core/reading/registry.ts';
import { sessionSpans } from '../../../../core/session/session.ts';

const read = (document: unknown) => readSessions({ text: JSON.stringify(document), source: 'thread.json' });
const human = { type: 'human', content: 'Pay it', id: 'h1', additional_kwargs: {}, response_metadata: {} };
const state = (tasks: object[], extra: object = {}) => ({
  values: { messages: [human] },
  next: ['pay'],
  tasks,
  metadata: { step: 1 },
  created_at: '2026-02-03T10:00:00+00:00',
  checkpoint: { thread_id: 't-1', checkpoint_ns: '', checkpoint_id: 'c' },
  ...extra,
});

it('a node that failed is an error of the session', () => {
  const { sessions } = read(
    state([{ id: '1', name: 'pay', error: "ValueError('no funds')", interrupts: [] }]),
  );
  expect(sessions[0]).toMatchObject({ sessionId: 't-1' });
  expect(sessionSpans(sessions[0]!).at(-1)).toMatchObject({
    agent: 'pay',
    errors: [{ source: 'exception' }],
  });
});

it.each([
  ['an interrupt of the task', { interrupts: [{ value: 'ok?', id: 'i' }], error: null }],
  ['the exception of an interrupt', { interrupts: [], error: "GraphInterrupt((Interrupt(value='ok?'),))" }],
])('%s is a pause and no error', (_name, task) => {
  const { sessions, unread } = read(state([{ id: '1', name: 'pay', ...task }]));
  expect(sessionSpans(sessions[0]!).flatMap((span) => span.errors)).toEqual([]);
  expect(unread).toEqual([]);
});

it('a run that stopped before its next node is said to be unfinished', () => {
  expect(read(state([{ id: '1', name: 'pay', error: null, interrupts: [] }])).unread).toMatchObject([
    { reason: expect.stringContaining('not finished') },
  ]);
});

it('checkpoint tuples are read, the error of a pending write too', () => {
  const tuple = {
    config: { configurable: { thread_id: 't-2' } },
    checkpoint: {
      v: 4,
      id: 'x',
      ts: '2026-02-03T10:00:00+00:00',
      channel_values: { messages: [human] },
      channel_versions: {},
      versions_seen: {},
    },
    metadata: { step: 0 },
    pending_writes: [['task', '__error__', "ValueError('x')"]],
  };
  const [session] = read(tuple).sessions;
  expect(session).toMatchObject({ sessionId: 't-2', format: 'langgraph' });
  expect(sessionSpans(session!).map((span) => span.errors.length)).toEqual([0, 1]);
});

it('a snapshot dumped by place, whose messages are Python text, is refused by name', () => {
  const snapshot = [
    { messages: ["content='Pay it'"] },
    [],
    { configurable: { thread_id: 't' } },
    {},
    null,
    null,
    [],
    [],
  ];
  expect(() => read(snapshot)).toThrow(/StateSnapshot.*_asdict/s);
});
