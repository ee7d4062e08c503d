import { expect, test } from 'vitest';
import { rootspan, scratchFile } from '../helpers/cli.ts';
import { awslogs, logEvent } from '../helpers/log-events.ts';
import { contentLog, span } from '../helpers/telemetry-records.ts';

const bare = { 'gen_ai.input.messages': undefined, 'gen_ai.output.messages': undefined };
const split = {
  resource: { attributes: { 'service.name': 'support', 'aws.log.group.names': '/agents/support' } },
};
const session = 'S';

/** The cases of "Telemetry in", and what doctor must name. */
const cases: readonly [what: string, records: readonly object[], code: string, says: RegExp][] = [
  [
    'spans without their log records',
    [span({ session, attributes: bare, ...split })],
    'spans-without-logs',
    /\/agents\/support/,
  ],
  ['log records without their spans', [contentLog({ session })], 'logs-without-spans', /aws\/spans/],
  ['no session id', [span()], 'no-session-id', /session/i],
  [
    'content switched off',
    [span({ session, attributes: bare, scope: { name: 'opentelemetry.instrumentation.openai_v2' } })],
    'content-off',
    /OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT/,
  ],
  [
    'an unknown scope',
    [
      span({ session }),
      span({
        session,
        spanId: 'd',
        attributes: { ...bare, 'gen_ai.operation.name': undefined },
        scope: { name: 'my-llm-agent' },
      }),
    ],
    'unknown-scope',
    /my-llm-agent/,
  ],
  [
    'a foreign schema',
    [
      span({
        session,
        attributes: { ...bare, 'gen_ai.operation.name': undefined, 'braintrust.input': '{}' },
        scope: { name: 'braintrust' },
      }),
    ],
    'foreign-schema',
    /Braintrust/i,
  ],
];

test.each(cases)('%s: named, with what to set', async (_what, records, code, says) => {
  const run = await rootspan([
    'doctor',
    scratchFile('in.jsonl', records.map((record) => JSON.stringify(record)).join('\n')),
  ]);
  const exam: { findings: { code: string; found: string; advice: string }[] } = JSON.parse(run.out);
  const finding = exam.findings.find((item) => item.code === code);
  expect(exam.findings.map((item) => item.code)).toContain(code);
  expect(`${finding?.found} ${finding?.advice}`).toMatch(says);
});

test('the two halves of a split session given together miss nothing of each other', async () => {
  const files = [span({ session, attributes: bare, ...split }), contentLog()].map((record, n) =>
    scratchFile(`${n}.jsonl`, JSON.stringify(record)),
  );
  const exam = JSON.parse((await rootspan(['doctor', ...files])).out);
  const codes = exam.findings.map(({ code }: { code: string }) => code);
  expect(codes).not.toContain('spans-without-logs');
  expect(codes).not.toContain('logs-without-spans');
});

test('Lambda events are unpacked first; what blocks a diagnosis makes the exit code 4', async () => {
  const event = awslogs([logEvent(span({ session, attributes: bare, ...split })), logEvent('{"broken }')]);
  const run = await rootspan(['doctor', scratchFile('event.json', event)]);
  expect(run.exitCode).toBe(4);
  const exam = JSON.parse(run.out);
  expect(exam.records).toEqual({ spans: 1, logs: 0, unread: 1 });
  expect(exam.findings.map(({ code }: { code: string }) => code)).toEqual(
    expect.arrayContaining(['spans-without-logs', 'unreadable-records']),
  );
});

test('a person reads it too, without control characters of the telemetry', async () => {
  const evil = span({
    session,
    attributes: { ...bare, 'gen_ai.operation.name': undefined },
    scope: { name: 'llm\u001b[2J' },
  });
  const run = await rootspan(['doctor', scratchFile('in.json', [evil, span({ session, spanId: 'd' })])], {
    terminal: true,
  });
  expect(run.out).toContain('unknown-scope');
  expect(run.out).not.toContain('\u001b[2J');
});

test('a session document needs nothing of a producer; a missing file and a non-session are bad input', async () => {
  const document = scratchFile('chat.json', {
    messages: [
      { role: 'user', content: 'Two and two?' },
      { role: 'assistant', content: 'Four.' },
    ],
  });
  const run = await rootspan(['doctor', document]);
  expect([run.exitCode, run.out]).toEqual([0, '']);
  expect(run.err).toContain('rootspan diagnose');
  expect((await rootspan(['doctor', '/no/such/file.json'])).exitCode).toBe(2);
  expect((await rootspan(['doctor', scratchFile('x.txt', 'plain')])).exitCode).toBe(2);
});

test.each([
  ['of a product that it names', { sdk: 'langfuse-python', scores: [] }, /Langfuse.*api\/public\/traces/],
  [
    'refused by name',
    { raw: 'x', token_usage: {}, tasks_output: [] },
    /the output of a CrewAI crew.*Trace the crew with OpenInference/,
  ],
  ['of nothing that is known', { rows: [1, 2, 3] }, /What is read of each product: `rootspan formats`/],
])('a file %s: which export would be read', async (_name, content, message) => {
  const run = await rootspan(['doctor', scratchFile('x.json', content)]);
  expect(run).toMatchObject({ exitCode: 2, out: '' });
  expect(run.err).toMatch(message);
});

test('formats says from where each comes and what it was checked on', async () => {
  const run = await rootspan(['formats'], { terminal: true, env: { NO_COLOR: '1' } });
  expect(run.out).toMatch(/Codex session files.*\n +from +.*\.codex\/sessions.*\n +checked on +.*0\.150/);
  expect(run.out).toContain('a CrewAI task log');
});
