import { canonicalJson, sha256Hex } from '../../base/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Session } from '../../session/session.ts';
import { readRequestBody } from '../conventions/provider-bodies.ts';
import { unwrapJson } from '../decode/decode-json.ts';
import type { TranscriptFormat } from '../decode/format.ts';
import { toUnixNano } from '../decode/times.ts';
import { UnreadTally } from '../envelopes/unread-tally.ts';
import { mergeStream } from './bedrock-bodies.ts';
import { arrayAt, numberAt, objectAt, objectsIn, sourceStem, textAt } from './fields.ts';
import { readCall } from './recorded-calls.ts';

/**
 * Amazon Bedrock's model invocation log (`schemaType: ModelInvocationLog`, 1.0; user guide "Monitor model invocation"), as
 * S3 delivers it (a record a line) and as CloudWatch Logs holds it (in the message of an event). Bodies over 100 KB
 * stand in objects of their own, which are named and not fetched. A record names no session: it is taken from the
 * request's metadata, from the caller's role session, else from which call goes on with which.
 */
export const bedrockInvocationLog: TranscriptFormat = {
  id: 'bedrock-invocation-log',
  title: 'Amazon Bedrock model invocation logs',
  knownBy:
    '{schemaType: "ModelInvocationLog", operation, modelId, input, output}, one a line or in messages of log events',
  from: 'Bedrock → Settings → Model invocation logging, to S3 (the `.json.gz` objects) or CloudWatch Logs (its events)',
  checkedOn: 'schema `ModelInvocationLog` 1.0',

  entriesOf: messagesOf,

  recognise(document) {
    return messagesOf(document)
      .slice(0, 50)
      .some((item) => recordOf(item) !== null)
      ? { match: 'yes', sure: 0.98 }
      : { match: 'no' };
  },

  read(document, source) {
    const tally = new UnreadTally(source);
    const records: JsonObject[] = [];
    for (const item of messagesOf(document)) {
      const record = recordOf(item);
      if (record !== null) records.push(record);
      else if (!isPermissionCheck(item)) tally.add('an entry that is no record of the model invocation log');
    }
    const sorted = records
      .map((record, position) => ({ record, position, time: toUnixNano(record.timestamp) ?? '' }))
      .sort((a, b) => a.time.length - b.time.length || (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
    const sessions = new Map<string, Session['traces'][number]['spans']>();
    const chains = new Chains(sourceStem(source));
    for (const { record, position, time } of sorted) {
      const request = bodyOf(record, 'input', tally);
      const response = bodyOf(record, 'output', tally);
      if (response !== null && ('embedding' in response || 'embeddings' in response)) {
        tally.add('a call for embeddings');
        continue;
      }
      const sessionId =
        statedSession(record, request) ??
        chains.sessionOf(request, textAt(record, 'errorCode') !== undefined);
      const spans = sessions.get(sessionId) ?? [];
      const call = readCall(
        { request: request ?? {}, response, record: { ...record, ...tokensOf(record) } },
        sessionId,
        position,
      );
      const offloaded = isOffloaded(record);
      spans.push({
        ...call,
        startTimeUnixNano: time || null,
        endTimeUnixNano: time || null,
        flags: offloaded ? [...new Set([...call.flags, 'content-not-arrived' as const])] : call.flags,
      });
      sessions.set(sessionId, spans);
    }
    return {
      sessions: [...sessions].map(
        ([sessionId, spans]): Session => ({
          sessionId,
          format: this.id,
          traces: [{ traceId: sessionId, sessionId, spans }],
          goal: null,
          agent: null,
          service: null,
          unread: [],
        }),
      ),
      unread: tally.list(),
    };
  },
};

/** Records, or the texts that hold them: rows of `filter-log-events` and Logs Insights, events of a decoded subscription. */
function messagesOf(document: JsonValue): JsonValue[] {
  const list = Array.isArray(document)
    ? document
    : isJsonObject(document)
      ? (arrayAt(document, 'logEvents') ?? arrayAt(document, 'events') ?? [document])
      : [];
  return list.map((item) => {
    const text = isJsonObject(item) ? (item['@message'] ?? item.message) : undefined;
    return typeof text === 'string' && !isRecord(item) ? unwrapJson(text, 1).value : item;
  });
}

const recordOf = (item: JsonValue | undefined): JsonObject | null =>
  isRecord(item) ? (item as JsonObject) : null;

function isRecord(item: JsonValue | undefined): boolean {
  if (!isJsonObject(item)) return false;
  if (item.schemaType === 'ModelInvocationLog') return true;
  const { input } = item;
  return (
    typeof item.modelId === 'string' &&
    isJsonObject(input) &&
    ('inputBodyJson' in input || 'inputBodyS3Path' in input)
  );
}

/** The first event of a stream only says that logging may write there. */
const isPermissionCheck = (item: JsonValue): boolean =>
  typeof item === 'string' && item.startsWith('Permissions are correctly set');

function bodyOf(record: JsonObject, side: 'input' | 'output', tally: UnreadTally): JsonObject | null {
  const part = objectAt(record, side) ?? {};
  const path = textAt(part, `${side}BodyS3Path`);
  const { value } = unwrapJson(part[`${side}BodyJson`] ?? null, 1);
  const body = Array.isArray(value) ? mergeStream(objectsIn(value)) : isJsonObject(value) ? value : null;
  if (body === null && path !== undefined)
    tally.add(
      `the ${side === 'input' ? 'request' : 'answer'} of a call stands in an object of its own: ${path.slice(0, 200)}`,
    );
  return body;
}

const isOffloaded = (record: JsonObject): boolean =>
  (['input', 'output'] as const).some((side) => {
    const part = objectAt(record, side) ?? {};
    return textAt(part, `${side}BodyS3Path`) !== undefined && (part[`${side}BodyJson`] ?? null) === null;
  });

/** Counted by the service, also where the bodies were offloaded or have no usage. */
function tokensOf(record: JsonObject): JsonObject {
  const input = numberAt(objectAt(record, 'input') ?? {}, 'inputTokenCount');
  const output = numberAt(objectAt(record, 'output') ?? {}, 'outputTokenCount');
  return input === undefined && output === undefined
    ? {}
    : { prompt_tokens: input ?? 0, completion_tokens: output ?? 0 };
}

function statedSession(record: JsonObject, request: JsonObject | null): string | undefined {
  const metadata = objectAt(record, 'requestMetadata') ?? {};
  const user = textAt(objectAt(request ?? {}, 'metadata') ?? {}, 'user_id');
  const role = textAt(objectAt(record, 'identity') ?? {}, 'arn');
  return (
    textAt(metadata, 'sessionId', 'session_id', 'session', 'conversationId', 'traceId', 'trace_id') ??
    (user === undefined ? undefined : /_session_([\w-]{8,64})$/.exec(user)?.[1]) ??
    (role === undefined ? undefined : /\/(Bedrock(?:AgentCore|Agents)-[\w-]{8,64})$/.exec(role)?.[1])
  );
}

/** Calls that name no session: one goes on with another when its messages begin with all of the other's. */
class Chains {
  readonly #stem: string;
  readonly #sessionOf = new Map<string, { id: string; failed: boolean }>();
  #count = 0;

  constructor(stem: string) {
    this.#stem = stem;
  }

  sessionOf(request: JsonObject | null, failed: boolean): string {
    const hashes: string[] = [];
    let hash = canonicalJson(request?.system ?? null);
    for (const message of readRequestBody(request ?? {})?.messages ?? []) {
      hash = sha256Hex(`${hash}\n${canonicalJson(message)}`);
      hashes.push(hash);
    }
    const whole = hashes.at(-1);
    const known = hashes
      .toReversed()
      .map((key) => this.#sessionOf.get(key))
      .find((key) => key !== undefined);
    const same = whole === undefined ? undefined : this.#sessionOf.get(whole);
    // The same request again is another try of a failed one, else another session that begins alike.
    const id = known !== undefined && (same === undefined || same.failed) ? known.id : this.#next();
    if (whole !== undefined) this.#sessionOf.set(whole, { id, failed });
    return id;
  }

  #next(): string {
    this.#count += 1;
    return this.#count === 1 ? this.#stem : `${this.#stem}#${this.#count - 1}`;
  }
}
