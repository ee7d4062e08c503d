import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Message, Session, Span } from '../../../core/session/session.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import { turnOfStep, turnsOf } from '../../../core/trajectory/turns.ts';
import { anySession } from '../../helpers/arbitrary-session.ts';
import {
  agent,
  inference,
  message,
  other,
  result,
  said,
  session,
  text,
  tool,
  use,
} from '../../helpers/build-session.ts';

const user = (words: string) => said(message('user', words));
const says = (words: string) => inference([], [message('assistant', words)]);
const calls = (id: string, name = 'get_order') =>
  inference([], [message('assistant', use(id, name, { id }))]);
const brings = (id: string, name = 'get_order') => tool(id, name, { id }, '{"ok": true}');
const in_ = (traceId: string, parentSpanId: string | null = null) => ({ traceId, parentSpanId });

const turns = (given: Session) =>
  turnsOf(toTrajectory(given)).map(({ firstStep, lastStep, goal }) => [firstStep, lastStep, goal]);
const goals = (given: Session) => turns(given).map(([, , goal]) => goal);

/** One session of several traces, as a runtime writes them. */
const traced = (spans: ((spanId: string) => Span)[]): Session => {
  const made = spans.map((draft, i) => draft(`span-${i + 1}`));
  const ids = [...new Set(made.map(({ traceId }) => traceId))];
  return session([], {
    traces: ids.map((traceId) => ({
      traceId,
      sessionId: 'session-1',
      spans: made.filter((span) => span.traceId === traceId),
    })),
  });
};

interface Request {
  readonly words: string;
  readonly answer: string;
  /** Whether the agent calls a tool for it. */
  readonly work: boolean;
}
const asked = (words: string, answer: string, work = true): Request => ({ words, answer, work });

/** Requests as a runtime writes them: a trace each, whose model calls repeat the conversation so far. */
const conversation = (...requests: Request[]): Session => {
  const history: Message[] = [];
  const drafts = requests.flatMap(({ words, answer, work }, i) => {
    const trace = `t${i + 1}`;
    const call = message('assistant', use(`${trace}-c`, 'get', {}));
    const answered = message('tool', result(`${trace}-c`, '{"ok": true}'));
    const before = [...history, message('user', words)];
    history.push(message('user', words), ...(work ? [call, answered] : []), message('assistant', answer));
    return work
      ? [
          inference(before, [call], in_(trace)),
          tool(`${trace}-c`, 'get', {}, '{"ok": true}', in_(trace)),
          inference([...before, call, answered], [message('assistant', answer)], in_(trace)),
        ]
      : [inference(before, [message('assistant', answer)], in_(trace))];
  });
  return traced(drafts);
};

describe('a message of the user that begins a trace opens a turn', () => {
  it('when the request before it was worked on and answered', () => {
    expect(
      turns(
        conversation(asked('Where is order 7?', 'It is on its way.'), asked('Cancel order 8.', 'Cancelled.')),
      ),
    ).toEqual([
      [0, 2, 'Where is order 7?'],
      [3, 5, 'Cancel order 8.'],
    ]);
  });

  it('not when it answers a question of the agent, in whatever script the mark is', () => {
    for (const question of [
      'Which one?',
      '¿Cuál de ellos?',
      'どれですか？',
      'أيهما؟',
      'Which one?\n1. the red\n2. the blue',
    ]) {
      expect(
        goals(conversation(asked('Cancel my order.', question), asked('The blue one.', 'Done.'))),
      ).toEqual(['Cancel my order.']);
    }
  });

  it('not by a question mark in an address', () => {
    expect(
      goals(
        conversation(
          asked('Find the page.', 'It is https://example.org/x?q=1.'),
          asked('Find the other page.', 'Done.'),
        ),
      ),
    ).toEqual(['Find the page.', 'Find the other page.']);
  });

  it('not while the agent, which has tools, has used none: the request is still being made', () => {
    expect(
      goals(
        conversation(
          asked('Hi.', 'Hello. Please tell me your order number.', false),
          asked('W-17, I want to return it.', 'Returned.'),
        ),
      ),
    ).toEqual(['Hi.\nW-17, I want to return it.']);
  });

  it('not when the user goes on before anybody answered, nor when nobody answers any more', () => {
    const given = traced([
      said(message('user', 'Cancel order 8.'), in_('t1')),
      inference(
        [message('user', 'Cancel order 8.'), message('assistant', ''), message('user', 'The blue one.')],
        [message('assistant', use('c1', 'cancel', {}))],
        in_('t2'),
      ),
      tool('c1', 'cancel', {}, '{"ok": true}', in_('t2')),
      inference(
        [message('user', 'x'), message('assistant', 'y')],
        [message('assistant', 'Done.')],
        in_('t2'),
      ),
      agent('Thanks!', null, in_('t3')),
    ]);
    expect(goals(given)).toHaveLength(1);
  });
});

describe('one conversation in one trace or list is one turn', () => {
  it('whatever the user adds, confirms or corrects', () => {
    const given = session([
      user('Exchange my lamp.'),
      calls('c1'),
      brings('c1'),
      says('There are three. Please let me know which one you would like.'),
      user('The silver one.'),
      calls('c2', 'exchange'),
      brings('c2', 'exchange'),
      says('Exchanged.'),
      user('Return the bottle as well.'),
      calls('c3', 'return'),
      brings('c3', 'return'),
      says('Returned.'),
    ]);
    expect(turns(given)).toEqual([[0, 11, 'Exchange my lamp.']]);
  });

  it('and a tool result or an executor that speaks as the user is no word of the user', () => {
    const given = session([
      user('Add the numbers.'),
      says('```python\nprint(1)\n```'),
      said(message('user', 'exitcode: 0 (execution succeeded)\nCode output: 1')),
      said({
        role: 'user',
        content: [{ type: 'tool_result', toolCallId: 'c', content: '1', isError: null }],
      }),
      says('The sum is 1.'),
    ]);
    expect(goals(given)).toEqual(['Add the numbers.']);
  });
});

describe('traces', () => {
  const invocation = (trace: string, root: string, prompt: string, words: string) => [
    agent(prompt, words, in_(trace)),
    inference([message('user', prompt)], [message('assistant', words)], in_(trace, root)),
  ];

  it('an invocation of the agent is one request, whatever is said inside it', () => {
    const given = traced([
      agent('Plan a trip.', 'Here it is.', in_('t1')),
      agent('Find flights.', 'Found.', in_('t1', 'span-1')),
      inference(
        [message('user', 'Summarise the flights.')],
        [message('assistant', 'Short.')],
        in_('t1', 'span-2'),
      ),
    ]);
    expect(goals(given)).toEqual(['Plan a trip.']);
  });

  it('a trace a request, each with its own spans from its root on', () => {
    const given = traced([
      ...invocation('t1', 'span-1', 'First.', 'Done.'),
      other({}, in_('t2')),
      agent('Second.', 'Done too.', in_('t2', 'span-3')),
    ]);
    expect(turns(given)).toEqual([
      [0, 1, 'First.'],
      [2, 3, 'Second.'],
    ]);
  });

  it('an answer to a question that comes in the next trace goes on, where the model is shown the conversation', () => {
    const history = [
      message('user', 'Book it.'),
      message('assistant', 'For when?'),
      message('user', 'Tomorrow.'),
    ];
    const shown = traced([
      inference(history.slice(0, 1), [message('assistant', 'For when?')], in_('t1')),
      inference(history, [message('assistant', 'Booked.')], in_('t2')),
    ]);
    expect(goals(shown)).toEqual(['Book it.\nTomorrow.']);
  });

  it('a conversation that starts over is another request, though the one before ended in a question', () => {
    const given = traced([
      inference([message('user', 'Book it.')], [message('assistant', 'For when?')], in_('t1')),
      inference([message('user', 'Cancel mine.')], [message('assistant', 'Cancelled.')], in_('t2')),
    ]);
    expect(goals(given)).toEqual(['Book it.', 'Cancel mine.']);
  });

  it('in one list of messages, the system prompt said again starts over', () => {
    const system = said(message('system', 'You serve customers.'));
    const given = session([
      system,
      user('Book it.'),
      says('For when?'),
      user('Never mind.'),
      system,
      user('Cancel mine.'),
      says('Cancelled.'),
    ]);
    expect(turns(given)).toEqual([
      [0, 3, 'Book it.\nNever mind.'],
      [4, 6, 'Cancel mine.'],
    ]);
  });
});

describe('laws', () => {
  it('the turns are all steps, in order, each once', () => {
    fc.assert(
      fc.property(anySession(12), (given) => {
        const trajectory = toTrajectory(given);
        const found = turnsOf(trajectory);
        const covered = found.flatMap(({ firstStep, lastStep }) =>
          Array.from({ length: lastStep - firstStep + 1 }, (_, i) => firstStep + i),
        );
        expect(covered).toEqual(trajectory.steps.map(({ index }) => index));
        for (const { index } of trajectory.steps) {
          const turn = turnOfStep(found, index);
          expect(turn !== undefined && turn.firstStep <= index && index <= turn.lastStep).toBe(true);
        }
      }),
    );
  });

  it('a task that the format states is the first goal; without any user there is one turn', () => {
    expect(goals(session([says('Thinking.')], { goal: 'Stated.' }))).toEqual(['Stated.']);
    expect(goals(session([inference([], [message('assistant', text('x'))])]))).toEqual([null]);
    expect(turns(session([]))).toEqual([]);
  });
});
