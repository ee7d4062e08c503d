import { describe, expect, it } from 'vitest';
import { readSessions } from '../../../../core/reading/registry.ts';
import { type Session, sessionSpans } from '../../../../core/session/session.ts';
import { toTrajectory } from '../../../../core/trajectory/to-trajectory.ts';

const read = (document: unknown, source: string): Session[] => [
  ...readSessions({ text: JSON.stringify(document), source }).sessions,
];

describe('tau-bench', () => {
  const run = (task: number, trial: number) => ({
    task_id: task,
    trial,
    reward: 0,
    info: { task: { instruction: 'Return the lamp.', actions: [{ name: 'secret' }] } },
    traj: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'bye' },
    ],
  });
  it('a file of runs is as many sessions, named by task and trial', () => {
    const sessions = read([run(2, 0), run(2, 1), run(5, 0)], 'dir/tau.json');
    expect(sessions.map((session) => session.sessionId)).toEqual([
      'tau#task-2-trial-0',
      'tau#task-2-trial-1',
      'tau#task-5-trial-0',
    ]);
    expect(sessions[0]!.goal).toBe('Return the lamp.');
    expect(JSON.stringify(sessions)).not.toContain('secret');
  });
  it('the same task and trial twice are two sessions', () => {
    expect(read([run(1, 1), run(1, 1)], 'tau.json').map((session) => session.sessionId)).toEqual([
      'tau#task-1-trial-1',
      'tau#task-1-trial-1-2',
    ]);
  });
  it('messages in the place of traj are read too', () => {
    const { traj, ...rest } = run(3, 0);
    expect(read({ ...rest, messages: traj }, 't.json')[0]!.format).toBe('tau-bench');
  });
});

describe('logs of several agents', () => {
  it("a tool's result under the tool's name belongs to its call and is nobody's turn", () => {
    const call = { id: 'a1', type: 'function', function: { name: 'weigh', arguments: '{"parcel":"S-17"}' } };
    const [two] = read(
      [
        { role: 'user', content: 'Weigh it.' },
        { role: 'assistant', name: 'planner', content: 'Dispatcher, go on.' },
        { role: 'assistant', name: 'dispatcher', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'a1', name: 'weigh', content: '{"kg": 4.2}' },
      ],
      'two-agents.json',
    );
    expect(toTrajectory(two!).exchanges).toEqual([
      expect.objectContaining({ name: 'weigh', callStep: 2, resultStep: 3, result: '{"kg": 4.2}' }),
    ]);
    expect(sessionSpans(two!).map(({ agent }) => agent)).not.toContain('weigh');
  });

  const [session] = read(
    [
      { role: 'human', content: 'Find the date.' },
      { role: 'Orchestrator (thought)', content: 'The plan.' },
      { role: 'Orchestrator (-> WebSurfer)', content: 'Search it.' },
      { role: 'WebSurfer', content: 'Nothing there.' },
      {
        role: 'ComputerTerminal',
        content: 'The script ran, then exited with Unix exit code: 2\nIts output was:\nno file',
      },
      { role: 'Orchestrator (termination condition)', content: 'No agent selected.' },
    ],
    'm1.json',
  );
  const spans = sessionSpans(session!);
  it('the speaker without its aside is the agent; what it says is a model call', () => {
    expect(spans.map((span) => [span.kind, span.agent])).toEqual([
      ['message', null],
      ['inference', 'Orchestrator'],
      ['inference', 'Orchestrator'],
      ['inference', 'WebSurfer'],
      ['message', 'ComputerTerminal'],
      ['message', 'Orchestrator'],
    ]);
  });
  it('the aside is kept in the message', () => {
    expect(spans[2]).toMatchObject({ output: [{ name: 'Orchestrator (-> WebSurfer)' }] });
  });
  it('a code run that exits with 2 is an error of its span', () => {
    expect(spans[4]).toMatchObject({
      status: 'error',
      errors: [{ source: 'exit-code', code: 2, message: 'no file' }],
      message: { role: 'tool', content: [{ type: 'tool_result', isError: true }] },
    });
  });
});

describe('Who&When', () => {
  const [session] = read(
    {
      question: 'How many?',
      ground_truth: 'seven-teen',
      mistake_step: '1',
      mistake_agent: 'B_Expert',
      mistake_reason: 'guessed it',
      history: [
        { role: 'user', name: 'A_Expert', content: 'Count.' },
        { role: 'assistant', name: 'B_Expert', content: 'Five.' },
        { role: 'user', name: 'A_Expert', content: 'Sure?' },
        {
          role: 'user',
          name: 'Computer_terminal',
          content: 'exitcode: 0 (execution succeeded)\nCode output: 5',
        },
      ],
      system_prompt: { A_Expert: 'You are A.', B_Expert: 'You are B.' },
    },
    'Algo/12.json',
  );
  const spans = sessionSpans(session!);
  it('question is the goal and the file names the session', () => {
    expect([session!.sessionId, session!.goal, session!.format]).toEqual(['12', 'How many?', 'who-when']);
  });
  it('each agent has its system prompt at its first call', () => {
    expect(spans.map((span) => (span.kind === 'inference' ? (span.systemPrompt ?? null) : 'none'))).toEqual([
      'You are A.',
      'You are B.',
      null,
      'none',
    ]);
  });
  it('labels are nowhere', () => {
    expect(JSON.stringify(session)).not.toMatch(/seven-teen|guessed it|mistake/);
  });
  it('a successful code run is a result that states no error', () => {
    expect(spans[3]).toMatchObject({ errors: [], message: { content: [{ isError: false }] } });
  });
});
