import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../core/base/hash.ts';
import { SessionInvalidError } from '../../core/errors/errors.ts';
import { diagnoseSession } from '../../core/library.ts';
import { assembleSessions } from '../../core/reading/assembly/assemble.ts';
import { readSessions } from '../../core/reading/registry.ts';
import { message, said, session, tool } from '../helpers/build-session.ts';
import { ALL_SHAPED, AWS_ID, AWS_SECRET, JWT } from '../helpers/credentials.ts';
import { LocalIngest } from '../helpers/local-ingest.ts';
import { logEvent } from '../helpers/log-events.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { chat, flatSpan, recordsOf, toolRun } from '../helpers/telemetry.ts';

/** Credentials stay in the raw records: nothing else that Rootspan writes, asks, says or throws has them. */

const records = [
  flatSpan('a1', {
    attributes: chat([{ role: 'user', parts: [{ type: 'text', content: `My key is ${AWS_ID}` }] }], []),
    start: 0,
  }),
  flatSpan('a2', {
    attributes: toolRun('deploy', { aws_secret_access_key: AWS_SECRET }, `{"token":"${JWT}"}`),
    start: 10,
  }),
  flatSpan('a3', { attributes: { 'aws.auth.account.access_key': AWS_ID, 'rpc.method': 'X' }, start: 20 }),
  flatSpan('a4', {
    attributes: toolRun('say', { text: 'x' }, `it was ${AWS_SECRET}`),
    start: 30,
    status: 'ERROR',
  }),
];
const secrets = [AWS_ID, AWS_SECRET, JWT];

describe('credentials', () => {
  it('are in raw records only once a session went in and was frozen', async () => {
    const ingest = new LocalIngest();
    await ingest.deliver(records.map((record) => logEvent(record)));
    await ingest.settle();
    const stored = [...ingest.objects.objects].map(
      ([key, bytes]) => [key, gunzipSync(bytes).toString()] as const,
    );
    const sessions = stored.filter(([key]) => key.startsWith('sessions/'));
    expect(sessions).toHaveLength(1);
    for (const [key, text] of stored) {
      if (key.startsWith('raw/')) continue;
      for (const secret of secrets) expect(text).not.toContain(secret);
      expect(text).toContain('[credential-1 aws-access-key]');
    }
    const state = JSON.stringify(ingest.state());
    for (const secret of secrets) expect(state).not.toContain(secret);
  });

  it('do not make the session depend on the order of its records', () => {
    const given = recordsOf(...records);
    const hashed = (list: typeof given): string => canonicalJson(assembleSessions(list).sessions);
    const expected = hashed(given);
    expect(expected).toContain('[credential-3 ');
    fc.assert(
      fc.property(fc.shuffledSubarray(given, { minLength: given.length }), (shuffled) => {
        expect(hashed(shuffled)).toBe(expected);
      }),
    );
  });

  it.each([
    [
      'a document',
      JSON.stringify([
        { role: 'user', content: `use ${JWT}` },
        { role: 'assistant', content: 'ok' },
      ]),
    ],
    ['telemetry', records.map((record) => JSON.stringify(record)).join('\n')],
  ])('do not come out of the reader of %s', (_, text) => {
    const read = JSON.stringify(readSessions({ text, source: 'file' }));
    for (const secret of secrets) expect(read).not.toContain(secret);
    expect(read).toContain('[credential-');
  });

  it.each(ALL_SHAPED)('do not come out of a refusal: %.12s…', (secret) => {
    const texts = [
      secret,
      `KEY=${secret}`,
      JSON.stringify({ [secret]: 1 }),
      `{"a": ${secret}`,
      JSON.stringify([secret]),
      `[{"x": "${secret}`,
    ];
    for (const text of texts) {
      let thrown: unknown = null;
      try {
        readSessions({ text, source: 'file' });
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(SessionInvalidError);
      const said = `${String(thrown)} ${String((thrown as Error).cause ?? '')}`;
      for (let at = 0; at + 8 <= secret.length; at += 1)
        if (/\d/.test(secret.slice(at, at + 8))) expect(said).not.toContain(secret.slice(at, at + 8));
    }
  });

  it('are asked of no model and stand in no diagnosis, also of a session that no reader made', async () => {
    const given = session([
      said(message('user', `Deploy with ${AWS_ID}`)),
      tool('c1', 'deploy', { password: 'letmein' }, `denied for ${JWT}`, {
        status: 'error',
        errors: [{ source: 'status', message: `denied for ${JWT}` }],
      }),
    ]);
    const model = scriptedModel([{ reply: { failures: [] }, times: 10 }]);
    const diagnosis = await diagnoseSession(given, { model, now: new Date(0) });
    const all = JSON.stringify([diagnosis, model.requests]);
    for (const secret of [AWS_ID, JWT, 'letmein']) expect(all).not.toContain(secret);
    expect(all).toContain('[credential-1 aws-access-key]');
  });
});
