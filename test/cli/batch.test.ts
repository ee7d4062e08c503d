import { describe, expect, it, onTestFinished } from 'vitest';
import { rootspan, scratchFile, scratchFolder } from '../helpers/cli.ts';
import { chatAnswer, chatError, startChatStub } from '../helpers/stub-chat.ts';

const CLEAN = JSON.stringify({ failures: [], errors: [], rootCauses: [], criticalStep: null });

const sessions = (count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    scratchFile(`room-${index}.json`, {
      messages: [
        { role: 'user', content: `Please book room ${index}` },
        { role: 'assistant', content: `Room ${index} is booked.` },
      ],
    }),
  );

const ids = (out: string): string[] =>
  out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { sessionId: string }).sessionId);

describe('many sessions', () => {
  it('run side by side, and come out in the order of the input', async () => {
    // The first ones take longest; none is answered before five are asked.
    let asked = 0;
    const stub = await startChatStub(() => {
      asked += 1;
      return chatAnswer(CLEAN, { latencyMs: 400 - asked * 20 });
    });
    onTestFinished(() => stub.close());
    const files = sessions(5);
    let most = 0;
    const run = rootspan([
      'diagnose',
      ...files,
      '--model',
      `openai:m@${stub.url}/v1`,
      '--store',
      'none',
      '--format',
      'ndjson',
      '--concurrency',
      '5',
    ]);
    const watching = setInterval(() => {
      most = Math.max(most, stub.requests.length);
    }, 5);
    const { out, exitCode } = await run;
    clearInterval(watching);
    expect(ids(out)).toEqual(files.map((_, index) => `room-${index}`));
    expect(most).toBe(5);
    expect(exitCode).toBe(0);
  });

  it('one that cannot be read does not hide the others', async () => {
    const stub = await startChatStub(() => chatAnswer(CLEAN));
    onTestFinished(() => stub.close());
    const [good = ''] = sessions(1);
    const { out, err, exitCode } = await rootspan([
      'diagnose',
      scratchFile('bad.json', 'not json'),
      good,
      '--model',
      `openai:m@${stub.url}/v1`,
      '--store',
      'none',
      '--format',
      'ndjson',
    ]);
    expect(ids(out)).toEqual(['room-0']);
    expect(err).toContain('bad.json');
    // The good one is clean; of the other nothing is known.
    expect(exitCode).toBe(4);
  });

  it('a refused credential ends the batch with one line, and nothing more is asked', async () => {
    const stub = await startChatStub(() => chatError(401, 'no such key'));
    onTestFinished(() => stub.close());
    const { out, err, exitCode } = await rootspan([
      'diagnose',
      ...sessions(30),
      '--model',
      `openai:m@${stub.url}/v1`,
      '--store',
      'none',
      '--concurrency',
      '2',
    ]);
    expect(out).toBe('');
    expect(err.match(/401|no such key|ModelAccessError/gu)).not.toBeNull();
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(err).toContain('0 of 30 sessions are done');
    expect(stub.requests.length).toBeLessThanOrEqual(2);
    expect(exitCode).toBe(3);
  });

  it('a port where nobody listens is said before anything is sent', async () => {
    const stub = await startChatStub([]);
    await stub.close();
    const { err, exitCode } = await rootspan([
      'diagnose',
      ...sessions(3),
      '--model',
      `openai:m@${stub.url}/v1`,
      '--store',
      'none',
    ]);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(err).toContain('ECONNREFUSED');
    expect(exitCode).toBe(2);
  });

  it('Ctrl-C waits for what was asked, and the same command goes on without asking it again', async () => {
    let interrupt: (() => void) | null = null;
    const stub = await startChatStub((_, index) => {
      if (index === 2) interrupt?.();
      return chatAnswer(CLEAN, { latencyMs: 30 });
    });
    onTestFinished(() => stub.close());
    const files = sessions(8);
    const command = [
      'diagnose',
      ...files,
      '--model',
      `openai:m@${stub.url}/v1`,
      '--store',
      scratchFolder(),
      '--format',
      'ndjson',
      '--concurrency',
      '2',
    ];
    const first = await rootspan(command, {
      onInterrupt: (handler) => {
        interrupt = handler;
        return () => {
          interrupt = null;
        };
      },
    });
    const done = ids(first.out);
    expect(done.length).toBeGreaterThan(0);
    expect(done.length).toBeLessThan(8);
    expect(first.err).toContain(`${done.length} of 8 sessions are done`);
    expect(first.exitCode).toBe(3);
    const second = await rootspan(command);
    expect(ids(second.out)).toHaveLength(8);
    const bodies = stub.requests.map(({ body }) => JSON.stringify(body));
    expect(new Set(bodies).size).toBe(bodies.length);
  });
});
