import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { sharedPath } from '../helpers/shared-data.ts';

/**
 * The public reports that Rootspan was tried on, and the tests that show each one's symptom and that it comes out
 * right. Files are below `test/`; titles are those of the tests, word for word, so that a renamed test is noticed.
 */

type Place = readonly [file: string, title: string];
interface Trial {
  readonly report: string;
  readonly symptom: string;
  readonly covered: readonly Place[];
}

const delivery = (title: string): Place => ['trials/delivery.test.ts', title];
const records = (title: string): Place => ['trials/telemetry-records.test.ts', title];
const content = (title: string): Place => ['trials/telemetry-content.test.ts', title];
const tree = (title: string): Place => ['trials/telemetry-tree.test.ts', title];
const failures = (title: string): Place => ['trials/telemetry-failures.test.ts', title];
const documents = (title: string): Place => ['trials/documents.test.ts', title];
const answers = (title: string): Place => ['trials/answers.test.ts', title];
const platform = (title: string): Place => ['trials/platform.test.ts', title];
const awsSample = (title: string): Place => ['trials/samples-aws.test.ts', title];
const fileSample = (title: string): Place => ['trials/samples-files.test.ts', title];
const closing = (title: string): Place => ['core/ingest/close-session.test.ts', title];
const bedrock = (title: string): Place => ['adapters/models/bedrock.test.ts', title];

const TRIALS: readonly Trial[] = [
  {
    report: 'open-telemetry/opentelemetry-collector-contrib#38433',
    symptom: 'health check of the stream',
    covered: [
      delivery(
        'the receiver fails on a health check of Firehose or Kinesis: a control message is success and leaves nothing',
      ),
      awsSample('a control message leaves nothing, direct and as the collector recorded it'),
    ],
  },
  {
    report: 'DataDog/datadog-serverless-functions snapshots/step_functions_log.json',
    symptom: 'inner quotes not escaped',
    covered: [
      records(
        'inner quotes are not escaped and JSON.parse throws: that record alone is unread, with the reason',
      ),
      ['core/ingest/store-events.test.ts', 'keeps %s as it came, with the reason'],
      awsSample('the message with inner quotes that are not escaped is kept as it came, with the reason'),
    ],
  },
  {
    report: 'DataDog/datadog-serverless-functions#462',
    symptom: 'line cut at 262,119 characters',
    covered: [
      delivery('its pieces arrive as events of one batch: one record, as if it had never been cut'),
      delivery(
        'its pieces arrive in invocations of their own: all are kept, and a retry of the quarantine joins them',
      ),
      delivery('its pieces stand in a file of fetched rows: read as one record'),
      awsSample(
        'a record over 256 KB made of a sample span, cut at 262,119 characters, is read from its halves',
      ),
    ],
  },
  {
    report: 'SumoLogic/sumologic-aws-lambda PR#105',
    symptom: 'log event delivered more than once',
    covered: [
      delivery(
        'the same log event id is delivered more than once, in one batch and across two invocations: one session, one diagnosis',
      ),
      awsSample('%s delivered three times leaves what it leaves once'),
    ],
  },
  {
    report: 'aws/aws-cdk#15047; localstack#9355',
    symptom: 'filter pattern',
    covered: [
      platform(
        'a filter pattern without "$." is rejected, and one in JSON misses text that only contains JSON: no pattern is used',
      ),
      delivery(
        'a JSON filter pattern does not match text that only contains JSON: behind a prefix the record is read all the same',
      ),
    ],
  },
  {
    report: 'coralogix/coralogix-aws-shipper tests/fixtures/aws_spans.json (src traces module comment)',
    symptom: 'X-Ray span twice',
    covered: [
      records('each X-Ray span arrives twice, at start and when done: one span, the completed record wins'),
      closing('X-Ray sends a span twice, in progress and done: one span, completed, in either order'),
      awsSample('X-Ray: 42 records of spans that arrive twice are 24 spans, 9 of them failed'),
    ],
  },
  {
    report: 'starter-toolkit raw_otel_strands_bedrock_*',
    symptom: 'log records without session id',
    covered: [
      records(
        'most log records lack the session id: it is inherited through the trace, whichever comes first',
      ),
      awsSample(
        'Strands: records without a session id are all in the one session, under the id that a few name',
      ),
    ],
  },
  {
    report: 'starter-toolkit raw_otel_langchain_*',
    symptom: 'JSON in JSON, constructor objects, Python repr',
    covered: [
      [
        'core/formats/dialects.test.ts',
        'LangChain through ADOT: constructor objects, JSON in JSON and a Python repr of the arguments',
      ],
      awsSample(
        'LangChain: JSON text in JSON, constructor objects and Python arguments come out as messages and arguments',
      ),
    ],
  },
  {
    report: 'aws/agentcore-cli#1426',
    symptom: 'spans without arguments or results',
    covered: [
      records('spans carry no tool arguments or results: they come from the runtime log group, by span id'),
      awsSample('spans carry no arguments or results; with the runtime log group every call has both'),
    ],
  },
  {
    report: 'aws/agentcore-cli#1006; aws/bedrock-agentcore-starter-toolkit#509',
    symptom: 'spans without their log records',
    covered: [
      records('spans come without their log records: said as not arrived, never as an empty conversation'),
      awsSample(
        'spans without their log records: not analysed because the content has not arrived, never clean',
      ),
    ],
  },
  {
    report: 'aws/agentcore-cli#666',
    symptom: 'spans minutes late',
    covered: [
      records('spans appear minutes after the logs: the late delivery gives the session of a tidy one'),
      delivery('the empty result is not final: the spans make a second version, the one of a tidy delivery'),
      awsSample('spans replayed after the logs were closed make the session of a tidy delivery'),
    ],
  },
  {
    report: 'strands-agents/evals#340',
    symptom: 'plain text in JSON quotes',
    covered: [
      content('a plain-text tool output became JSON-quoted text, and session.id is on the root only'),
      fileSample(
        'Claude: tool output in JSON quotes is the plain text, and the session id of the root is that of all',
      ),
    ],
  },
  {
    report: 'traceloop/openllmetry#4347',
    symptom: 'one trace a call',
    covered: [
      records('one trace for every call, no session id, base64 ids: one session, joined by the history'),
      fileSample('OpenLLMetry: nine spans in nine traces, base64 ids and no session id, are one session'),
    ],
  },
  {
    report: 'evals fixture openai_agents_openinference_adot_spans.json',
    symptom: 'two hand-offs at once',
    covered: [
      tree(
        'two hand-offs are asked at once, one is ignored: both calls and the refusal are there, the failed one is flagged',
      ),
      fileSample('OpenAI Agents: of two hand-offs asked at once the ignored one is found'),
    ],
  },
  {
    report: 'evals fixtures claude_live / claude_adot; DataDog/dd-trace-py#17889',
    symptom: 'child outlives parent',
    covered: [
      tree('child spans end long after their parent'),
      fileSample('Claude: sub-agents outlive their parents, whose parent is missing: %s'),
    ],
  },
  {
    report: 'Arize-ai/openinference#3143',
    symptom: 'arguments encoded twice',
    covered: [
      content('arguments are encoded twice'),
      [
        'core/formats/documents/conversation.test.ts',
        'double-encoded arguments are decoded, with the text kept',
      ],
    ],
  },
  {
    report: 'Arize-ai/openinference#210; phoenix#2293',
    symptom: 'NaN and Infinity in JSON text',
    covered: [
      content('NaN stands in JSON attribute text and JSON.parse throws'),
      content('NaN and Infinity stand in values of any span: the span is read, the text is kept'),
    ],
  },
  {
    report: 'mlflow/mlflow#24123',
    symptom: 'lone surrogate',
    covered: [
      content('a lone surrogate makes the whole batch fail to store'),
      delivery(
        'one record with a lone surrogate makes the whole batch fail to store: all are stored, and the text is well-formed',
      ),
      answers('the model answers with one: the diagnosis is well-formed'),
      answers('whatever is cut from a session of emoji is cut between them: texts begin with %j'),
    ],
  },
  {
    report: 'getsentry/sentry#106888; jaegertracing/jaeger-ui#4321',
    symptom: 'cyclic parents',
    covered: [
      tree('parents are cyclic and hang or hide the tree: cut at the earliest start'),
      documents(
        'in a session of our own form: it is diagnosed to the end, also where its ancestors are asked for',
      ),
      documents('in an export: cut, flagged, and no observation is lost, nor one whose parent is missing'),
    ],
  },
  {
    report: 'comet-ml/opik#5963',
    symptom: 'missing parent',
    covered: [
      tree('spans whose parent is missing are dropped: they hang under the root'),
      awsSample('every span whose parent is taken away is still there, under the root of its trace'),
    ],
  },
  {
    report: 'langwatch/langwatch#6250 (= langwatch/tasks#457)',
    symptom: 'root never exported',
    covered: [
      tree('288 spans whose ultimate ancestor was never exported: the earliest is the root, none is lost'),
    ],
  },
  {
    report: 'OpenHands/software-agent-sdk#4358',
    symptom: 'results paired by position',
    covered: [
      tree('results come in reverse order: paired by id, never by place'),
      [
        'core/formats/documents/conversation.test.ts',
        'results in reverse order stay with the call they name',
      ],
      ['core/session/to-trajectory.test.ts', 'results in reversed order go to the call of their id'],
    ],
  },
  {
    report: 'langfuse/langfuse#10495, #11177',
    symptom: 'base64 images',
    covered: [
      content('base64 images of megabytes stand in the input'),
      documents(
        'base64 images of tens of MB stand in the input of an export: their size and digest are kept, not their bytes',
      ),
    ],
  },
  {
    report: 'DataDog/dd-trace-js#8936; openinference#2119',
    symptom: 'tokens counted twice',
    covered: [
      tree('framework and SDK both have a span for one model call and tokens are counted twice'),
      ['core/session/assemble-laws.test.ts', 'tokens of one response id are counted once in a trace'],
      awsSample('framework and SDK spans of one model call: the tokens of three calls are counted once'),
    ],
  },
  {
    report: 'vercel/ai#7033; sentry-javascript#16748',
    symptom: 'tool threw, span is no error',
    covered: [
      failures(
        'a tool threw but its span is no error: the missing result is said, the text comes from the next call',
      ),
      failures('a tool threw, its span is no error, and no call came after it: the missing result is found'),
    ],
  },
  {
    report: 'langfuse test "out-of-range index"',
    symptom: 'index far past the length',
    covered: [
      content('an index far past the length makes huge sparse arrays: %s'),
      fileSample('an index far past the length is left out and said: %s'),
    ],
  },
  {
    report: 'Arize-ai/openinference#3198 / PR#3199',
    symptom: 'session id changed in mid-stream',
    covered: [
      records('the CLI changes session.id in the middle of a trace: one session, the second id flagged'),
      delivery(
        'the CLI changes session.id in mid-stream: one trace is one session and one diagnosis, in either order',
      ),
      fileSample('Claude: the id of the CLI on half of the spans does not make two sessions of one trace'),
    ],
  },
  {
    report: 'open-telemetry/opentelemetry-js#2643',
    symptom: 'end before start',
    covered: [tree('clocks drift and a span ends before it starts')],
  },
  {
    report: 'microsoft/autogen#6531',
    symptom: 'no tools recorded',
    covered: [
      records('model calls carry no tool definitions, so "wrong tool" cannot be judged: the doctor says so'),
      documents(
        'model calls have no tools, so "wrong tool" cannot be judged: the check says that it is blind, not that nothing is wrong',
      ),
      documents(
        'the answer stands beside the messages: neither it nor the tool run is lost, and the log is one session',
      ),
    ],
  },
  {
    report: 'langfuse/langfuse#15337',
    symptom: 'export without input and output',
    covered: [
      documents(
        'an exported trace has input null, output null and metadata "{}": a session without content, and not analysed for that reason',
      ),
    ],
  },
  {
    report: 'ag2ai/Agents_Failure_Attribution#5',
    symptom: 'label beyond the history',
    covered: [
      ['bench/datasets.test.ts', 'steps are 0-based strings, and one beyond the history stays as it is'],
      fileSample('Who&When: a label, in the history or beyond it, reaches no session'),
    ],
  },
  {
    report: 'sierra-research/tau-bench gpt-4o-airline.json',
    symptom: 'failed without an error',
    covered: [
      documents(
        'reward 0.0 and no error anywhere: the text "Error: …" of a tool is found, and the reward is not told',
      ),
      documents('the user says ###STOP###: it is the end of the talk, and no run ended abruptly there'),
      fileSample(
        'tau-bench: two failed runs without any error are two sessions, partial and not clean without a model',
      ),
    ],
  },
  {
    report: 'openinference recording should-handle-multiple-tools-in-single-request',
    symptom: 'second tool_use cut',
    covered: [
      failures('the second tool_use is cut: empty input with stop reason max_tokens'),
      documents(
        'the second tool_use of an answer is cut, input {} with stop_reason max_tokens: a cut answer, not a call without arguments',
      ),
      fileSample('OpenInference recording: the second tool_use was cut at the token limit'),
    ],
  },
  {
    report: 'sierra-research/tau2-bench#555',
    symptom: 'every answer fenced',
    covered: [answers('every answer of the judge is fenced: all are read, none is asked for again')],
  },
  {
    report: 'lightspeed-core/lightspeed-evaluation#285; IBM/ai4rag PR#107',
    symptom: 'verdict lost in its wrapping',
    covered: [
      answers('prose around JSON, fences and single quotes: %j is the verdict that it says'),
      ['core/model/read-answer.test.ts', 'any JSON value survives fences and prose'],
    ],
  },
  {
    report: 'strands harness-sdk#1712, #1912, #3969',
    symptom: 'overflow wordings',
    covered: [
      answers('an overflow is not known by its wording, so nothing is split: %j is an overflow'),
      answers('another refusal with a 400 is no overflow: %j'),
      fileSample(
        'OpenInference recording: a 400 of Bedrock is an error of the call, and not an overflow by its status alone',
      ),
    ],
  },
  {
    report: '2FastLabs/agent-squad#47',
    symptom: 'throttled model call',
    covered: [failures('a throttled model call says so in an exception event')],
  },
  {
    report: 'maximhq/bifrost#3184',
    symptom: 'structured output refused',
    covered: [
      bedrock('schema, then tool, then text; and remembers the rung for the model'),
      bedrock('skips forced tools on models that refuse them'),
    ],
  },
  {
    report: 'aws-samples/review-and-assessment-powered-by-intelligent-documentation#58',
    symptom: 'Map output over 256 KB',
    covered: [
      platform(
        'each item is small and their sum is over 256 KB: an item returns a reference, whatever it found',
      ),
      ['contract/parity.test.ts', 'a session of 10,000 spans keeps the state under 200 KB'],
    ],
  },
  {
    report: 'aws-samples/aws-organizations-tag-inventory#16; chanzuckerberg/single-cell-data-portal#6541',
    symptom: '25,000 history events',
    covered: [
      platform(
        '25,000 history events are reached in an inline Map: not with the most chunks, each retried as often as it may',
      ),
      ['lambdas/preflight.test.ts', 'refuses a session that needs more chunks than one execution can carry'],
    ],
  },
  {
    report: 'getmoto/moto#9490, #9394',
    symptom: 'StartExecution with a taken name',
    covered: [
      [
        'contract/ingest-ports.test.ts',
        'the same name with the same input is success, with another input a conflict',
      ],
    ],
  },
  {
    report: 'aaronsu11/langgraph-checkpoint-dynamodb#8',
    symptom: 'item over 400 KB',
    covered: [
      [
        'adapters/stores/diagnosis-store.test.ts',
        'a body over the limit of an item goes to the object store and comes back',
      ],
    ],
  },
  {
    report: 'aws-samples/amazon-sqs-dlq-replay-backoff#8',
    symptom: 'DelaySeconds over 900',
    covered: [
      delivery(
        'a wait of 54,524 s is no valid DelaySeconds: it goes in steps of at most 900 s and loses no time',
      ),
      ['contract/ingest-ports.test.ts', 'refuses DelaySeconds %d, which must be 0 to 900'],
    ],
  },
  {
    report: 'langfuse/langfuse#9062',
    symptom: 'evaluated before it is finished',
    covered: [
      delivery(
        'the evaluator runs before the trace is finished: a child that comes after the timer supersedes the first version',
      ),
      closing('a record that arrives while the session is being read is not lost'),
      [
        'core/ingest/samples.test.ts',
        'with half of the records after the first diagnosis, has exactly the versions that differ',
      ],
    ],
  },
  {
    report: 'strands-agents/evals#342',
    symptom: 'larger than the window',
    covered: [
      answers('it is analysed in parts that fit, whole, and the failure in it is found and judged'),
      answers('where no part of it fits, it is not analysed: no verdict about the agent'),
      fileSample(
        'all trajectories in one session, larger than the window: each call fits, and each span is seen',
      ),
    ],
  },
  {
    report: 'MoonshotAI/kimi-cli#1378',
    symptom: 'raw newline in arguments',
    covered: [
      content('a raw newline stands in tool arguments and the whole history is poisoned'),
      [
        'core/formats/documents/conversation.test.ts',
        'a raw newline inside a string is mended, with the text kept',
      ],
    ],
  },
  {
    report: 'b-open-io/prompts PR#15',
    symptom: 'prose turned into "all failed"',
    covered: [
      answers('prose in place of findings: not analysed, neither failed nor clean'),
      answers(
        'prose in place of the explanation: the failures found stand, causes are by rule, and it says so',
      ),
      answers('prose in place of verdicts on rubrics: not evaluated, never violated'),
    ],
  },
];

/** Titles of the tests in a source text: the first argument of `it`, `test` and what `it.each(…)` returns. */
function titlesIn(source: string): Set<string> {
  const call = /(?:\b(?:it|test)|\)|\])\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\s*,/g;
  return new Set(
    [...source.matchAll(call)].map(([, single, double]) => (single ?? double ?? '').replace(/\\(.)/g, '$1')),
  );
}

const files = new Map(
  [...new Set(TRIALS.flatMap(({ covered }) => covered.map(([file]) => file)))].map((file) => [
    file,
    titlesIn(readFileSync(path.resolve(import.meta.dirname, '..', file), 'utf8')),
  ]),
);

describe('every public report has a test named after its symptom', () => {
  it.each(TRIALS)('$report: $symptom', ({ covered }) => {
    expect(covered.length).toBeGreaterThan(0);
    for (const [file, title] of covered) expect([...(files.get(file) ?? [])], file).toContain(title);
  });

  it('each report stands here once', () => {
    expect(new Set(TRIALS.map(({ report }) => report)).size).toBe(TRIALS.length);
    expect(new Set(TRIALS.map(({ symptom }) => symptom)).size).toBe(TRIALS.length);
  });

  it('titles are read as they are written', () => {
    expect(titlesIn("it('a \\'b\\'', () => {}); test.each([1])(\n  \"c\", () => {}); f('no')")).toEqual(
      new Set(["a 'b'", 'c']),
    );
  });

  const list = sharedPath('trials.md');
  it.skipIf(list === null)('the table is that of trials.md, line by line', () => {
    const rows = readFileSync(list ?? '', 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| ') && !line.startsWith('| report'))
      .map((line) => line.split('|')[1]?.trim());
    expect(TRIALS.map(({ report }) => report)).toEqual(rows);
  });
});
