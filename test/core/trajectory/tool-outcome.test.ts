import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../../core/base/json.ts';
import { recoveryOf } from '../../../core/trajectory/exchanges.ts';
import { toolOutcome } from '../../../core/trajectory/tool-outcome.ts';
import type { ToolExchange } from '../../../core/trajectory/trajectory.ts';
import { call, chat, result, user } from '../checks/sessions.ts';

const answered = (name: string, given: JsonValue | string, args: JsonValue = {}) => {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const [exchange] = chat([user('Go.'), call('1', name, args), result('1', text)]).exchanges;
  if (exchange === undefined) throw new Error('no exchange');
  return toolOutcome(exchange);
};

describe('an error is seen by its structure', () => {
  it.each<[string, JsonValue | string, string]>([
    [
      'register_boat',
      { registered: false, reason: 'berth 9 belongs to another skipper' },
      'business-refusal',
    ],
    ['register_boat', { ok: false, error: { type: 'ReadTimeout' } }, 'timeout'],
    ['list_boats', { result: { status: 'error', detail: 'harbour id is required' } }, 'tool-schema'],
    [
      'list_boats',
      { data: null, errors: [{ message: 'Forbidden', extensions: { code: 'FORBIDDEN' } }] },
      'authentication',
    ],
    ['list_boats', { type: 'https://x.test/gone', title: 'Gone', status: 410 }, 'resource-not-found'],
    [
      'list_boats',
      { detail: [{ loc: ['query', 'page'], msg: 'ensure this value is positive' }] },
      'tool-schema',
    ],
    ['list_boats', { code: 16, message: 'UNAUTHENTICATED: who are you' }, 'authentication'],
    ['list_boats', { jsonrpc: '2.0', error: { code: -32602, message: 'bad' } }, 'tool-schema'],
    [
      'list_boats',
      { __type: 'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException' },
      'rate-limiting',
    ],
    ['put_boat', { Error: { Code: 'ExpiredToken', Message: 'stale' } }, 'authentication'],
    ['put_boat', { code: 'ConditionalCheckFailedException', message: 'version' }, 'business-refusal'],
    ['list_boats', { content: [{ type: 'text', text: 'bad gateway' }], isError: true }, 'service-errors'],
    ['list_boats', 'ERROR:  relation "boat" does not exist\nLINE 1: select * from boat', 'tool-schema'],
    ['run_script', 'Exit code 127\nzsh: pandoc: command not found', 'environment'],
    ['list_boats', '<html><head><title>502 Bad Gateway</title></head></html>', 'service-errors'],
    ['list_boats', 'rpc error: code = PermissionDenied desc = no', 'authentication'],
  ])('%s %j: %s', (name, given, wanted) => {
    expect(answered(name, given)).toMatchObject({ state: 'failed', class: wanted });
  });
});

describe('what only looks like an error', () => {
  it.each<[string, JsonValue | string, JsonValue, string]>([
    // A record that was asked for has a fate of its own.
    ['get_job', { job: 'j-4', state: 'FAILED', error: 'disk full' }, { job: 'j-4' }, 'done'],
    ['get_boat', { boat: 'b', last_survey: { state: 'failed' }, errors: [] }, { boat: 'b' }, 'done'],
    ['validate_form', { valid: false, errors: [{ field: 'age', message: 'too low' }] }, {}, 'done'],
    ['read_file', 'Traceback (most recent call last):\n  File "x"\nKeyError: 1', { path: 'a.log' }, 'done'],
    ['read_log', '2026-01-01 ERROR a\n2026-01-01 ERROR b\n2026-01-02 INFO c', {}, 'done'],
    ['run_tests', '12 passed, 1 failed', {}, 'done'],
    ['get_export', { export: 'e', status: 'RUNNING' }, { export: 'e' }, 'pending'],
    ['find_boats', { harbour: 'Bol', boats: [] }, { harbour: 'Bol' }, 'empty'],
    ['Bash', 'Exit code 1', { command: 'grep -r x .' }, 'empty'],
    ['pay', 'Rejected by the user: not now', {}, 'interrupted'],
    ['pay', "GraphInterrupt((Interrupt(value='Approve?'),))", {}, 'done'],
    ['block_card', { message: 'blocked, a new card is on its way' }, {}, 'done'],
  ])('%s %j is %s', (name, given, args, state) => {
    expect(answered(name, given, args).state).toBe(state);
  });
});

describe('a failed call is put right by a later one with the same goal', () => {
  const after = (failing: string, args: JsonValue, text: string, name: string, later: JsonValue) => {
    const { exchanges, ...rest } = chat([
      user('Go.'),
      call('1', failing, args),
      result('1', text),
      call('2', name, later),
      result('2', '{"id": "x1"}'),
    ]);
    return recoveryOf({ exchanges, ...rest })(exchanges[0] as ToolExchange).recovered;
  };

  it.each([
    ['create_order_payment', { order: 1 }, 'Error: 503', 'create_order_payment', { order: 1 }, true],
    ['create_order_payment', { order: 1 }, 'Error: 503', 'create_order_note', { order: 1 }, null],
    ['find_user_by_email', { email: 'a@b.c' }, 'Error: user not found', 'lookup_user', { id: '7' }, true],
    // The outage struck one charger; that another one works does not help it.
    ['set_plan', { charger_id: 'A' }, 'Error: 503', 'set_plan', { charger_id: 'B' }, null],
  ])('%s %j, then %4$s %5$j', (failing, args, text, name, later, wanted) => {
    expect(after(failing, args, text, name, later)).toBe(wanted);
  });
});
