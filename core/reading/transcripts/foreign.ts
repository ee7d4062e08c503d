import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Recognition } from '../decode/format.ts';

interface Foreign {
  readonly name: string;
  readonly advice: string;
  matches(record: JsonObject): boolean;
}

/** Files that people try beside sessions. To be told what one holds in hand beats "no known format". */
const FOREIGN: readonly Foreign[] = [
  {
    name: 'a Rootspan diagnosis',
    advice: 'Give the session it was made from; `rootspan show` prints a stored diagnosis.',
    matches: (record) => typeof record.diagnosisId === 'string' && 'outcome' in record,
  },
  {
    name: 'a failure report of Strands detectors',
    advice: 'Give the session it was made from.',
    matches: (record) => Array.isArray(record.failures) && typeof record.session_id === 'string',
  },
  {
    name: 'a list of AgentRx labels',
    advice: 'Give the runs; `rootspan bench accuracy` reads runs and labels together.',
    matches: (record) => 'trajectory_id' in record && 'failures' in record && 'root_cause' in record,
  },
  {
    name: 'a batch exchange file',
    advice: 'It belongs to the model spec batch:DIR; give the session.',
    matches: (record) =>
      typeof record.recordId === 'string' && ('modelInput' in record || 'modelOutput' in record),
  },
  {
    name: 'a CloudWatch Logs control message',
    advice: 'It only checks that the destination is reachable and carries no records.',
    matches: (record) => record.messageType === 'CONTROL_MESSAGE',
  },
  {
    name: 'a CloudWatch Logs event without telemetry',
    advice: 'Its log lines are plain text; subscribe to the log groups that agents write spans to.',
    matches: (record) => record.messageType === 'DATA_MESSAGE' && Array.isArray(record.logEvents),
  },
  {
    name: 'a Kinesis event (compressed CloudWatch Logs records)',
    advice: 'Run `rootspan ingest` on it: it holds records of many sessions and has to be unpacked first.',
    matches: (record) =>
      Array.isArray(record.Records) && record.Records.some((item) => isJsonObject(item) && 'kinesis' in item),
  },
  {
    name: 'an HTTP archive (HAR)',
    advice: 'Give the agent log or its telemetry.',
    matches: (record) => isJsonObject(record.log) && Array.isArray(record.log.entries),
  },
];

export function recogniseForeign(document: JsonValue): Recognition {
  const record = Array.isArray(document) ? document[0] : document;
  if (!isJsonObject(record)) return { match: 'no' };
  const found = FOREIGN.find((entry) => entry.matches(record));
  return found === undefined ? { match: 'no' } : { match: 'foreign', name: found.name, advice: found.advice };
}
