/** A session that went well, apart from any format. */
export interface Conversation {
  readonly kind: string;
  readonly turns: readonly Turn[];
}

export type Turn = { readonly says: 'user' | 'agent'; readonly text: string } | Call;

export interface Call {
  readonly calls: string;
  readonly args: Readonly<Record<string, string | number>>;
  readonly result: string;
  /** The tool itself says that the call failed. */
  readonly failed?: true;
}

const user = (text: string): Turn => ({ says: 'user', text });
const agent = (text: string): Turn => ({ says: 'agent', text });
const call = (calls: string, args: Readonly<Record<string, string | number>>, result: string): Turn => ({
  calls,
  args,
  result,
});
const failedCall = (
  calls: string,
  args: Readonly<Record<string, string | number>>,
  result: string,
): Turn => ({ calls, args, result, failed: true });

/** What healthy agents do that looks like a fault: a kind each. */
export const HEALTHY: readonly Conversation[] = [
  {
    kind: 'the agent greets first',
    turns: [
      agent('Hello, this is the library. How can I help?'),
      user('Please renew my book 4411.'),
      call('renew_loan', { id: 4411 }, '{"renewed": true, "due": "2026-05-04"}'),
      agent('Book 4411 is renewed until 4 May 2026.'),
    ],
  },
  {
    kind: 'a pause for a person',
    turns: [
      user('Order the spare pump for line 3.'),
      call('request_approval', { item: 'pump', line: 3 }, '{"status": "pending", "approver": "R. Holt"}'),
      agent('The order waits for the approval of R. Holt. I go on as soon as it is given.'),
    ],
  },
  {
    kind: 'a poll until a job is done',
    turns: [
      user('Build release 7 and tell me its size.'),
      call('start_build', { release: 7 }, '{"job": "b-7", "status": "queued"}'),
      call('get_job', { job: 'b-7' }, '{"job": "b-7", "status": "running", "error": null}'),
      call('get_job', { job: 'b-7' }, '{"job": "b-7", "status": "running", "error": null}'),
      call('get_job', { job: 'b-7' }, '{"job": "b-7", "status": "done", "error": null, "size": "41 MB"}'),
      agent('Release 7 is built. It is 41 MB in size.'),
    ],
  },
  {
    kind: 'a refusal by policy',
    turns: [
      user('Refund my ticket T-88, please.'),
      call(
        'refund_ticket',
        { ticket: 'T-88' },
        '{"status": "rejected", "message": "Saver tickets are not refundable"}',
      ),
      agent('I am sorry: T-88 is a saver ticket, and those are not refundable.'),
      user('I see. Thank you anyway, bye.'),
    ],
  },
  {
    kind: 'a log that was asked for',
    turns: [
      user('Why did the import of last night stop? The log is import.log.'),
      call(
        'read_file',
        { path: 'import.log' },
        '02:00:01 INFO start\n02:00:09 ERROR OperationalError: connection refused\n02:00:09 FATAL exit code 1',
      ),
      agent('The database refused the connection at 02:00:09, so the import ended with exit code 1.'),
    ],
  },
  {
    kind: 'a search without a hit',
    turns: [
      user('Is there a train to Lund after midnight?'),
      call('search_trains', { to: 'Lund', after: '00:00' }, '{"trains": [], "total": 0}'),
      agent('No, there is no train to Lund after midnight.'),
    ],
  },
  {
    kind: 'a fault that a retry got past',
    turns: [
      user('What is the water level at gauge 12?'),
      failedCall('get_level', { gauge: 12 }, 'Error: 503 service unavailable'),
      call('get_level', { gauge: 12 }, '{"gauge": 12, "level": "2.31 m"}'),
      agent('The level at gauge 12 is 2.31 m.'),
    ],
  },
  {
    kind: 'an argument that was put right',
    turns: [
      user('Set the alarm of room 9 to half past six.'),
      failedCall('set_alarm', { room: 9, at: '6.30' }, 'Invalid value for "at": expected HH:MM'),
      call('set_alarm', { room: 9, at: '06:30' }, '{"ok": true, "room": 9, "at": "06:30"}'),
      agent('The alarm of room 9 is set to 06:30.'),
    ],
  },
  {
    kind: 'tests that fail before the change',
    turns: [
      user('Make the tests of slug.py pass.'),
      call('run_tests', { path: 'slug.py' }, '1 failed, 4 passed in 0.21s'),
      call('edit_file', { path: 'slug.py', text: 'return text.lower()' }, 'edited slug.py'),
      call('run_tests', { path: 'slug.py' }, '5 passed in 0.20s'),
      agent('All 5 tests of slug.py pass now.'),
    ],
  },
  {
    kind: 'a person who refuses a permission',
    turns: [
      user('Clean up the build folder.'),
      failedCall('delete_folder', { path: 'build' }, 'The user rejected this tool call: keep it for now.'),
      agent('All right, I have left the build folder as it is.'),
    ],
  },
  {
    kind: 'a question back',
    turns: [
      user('Book a table for Friday.'),
      agent('Gladly. For how many people, and at what time?'),
      user('Four, at 19:00.'),
      call('book_table', { people: 4, at: 'Friday 19:00' }, '{"booked": true, "table": 6}'),
      agent('Table 6 is booked for four on Friday at 19:00.'),
      user('Great, thanks.'),
    ],
  },
  {
    kind: 'records with states and errors of their own',
    turns: [
      user('List the deliveries of today with their state.'),
      call(
        'list_deliveries',
        { day: 'today' },
        '[{"id": "d1", "state": "failed", "error": "nobody at home"}, {"id": "d2", "state": "delivered", "error": null}]',
      ),
      agent('d1 failed because nobody was at home; d2 was delivered.'),
    ],
  },
  {
    kind: 'a check that finds what it looks for',
    turns: [
      user('Validate the file rates.csv.'),
      call('validate_file', { path: 'rates.csv' }, '{"valid": false, "errors": ["row 3: rate is empty"]}'),
      agent('rates.csv is not valid: in row 3 the rate is empty.'),
    ],
  },
  {
    kind: 'talk without a tool',
    turns: [
      user('Explain what a 404 error is.'),
      agent('A 404 error says that the server knows no page at that address: "404 Not Found".'),
    ],
  },
];
