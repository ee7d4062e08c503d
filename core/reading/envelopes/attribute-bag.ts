import { canonicalJson, sha256Hex } from '../../base/hash.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { readAttributes } from '../decode/decode-values.ts';
import type { Envelope, RawSpan } from '../decode/format.ts';

/**
 * The attributes of a single span and nothing else, as pasted from a trace viewer. Its ids are made from its content.
 */
export const attributeBag: Envelope = {
  id: 'span-attributes',
  title: 'Attributes of one span',
  knownBy: 'an object whose keys are gen_ai.* or openinference.* attributes',
  from: 'the attributes of one span, copied from a trace viewer as JSON',
  checkedOn: 'OpenInference’s GenAI fixtures',
  recognise: (document) => (isBag(document) ? { match: 'yes', sure: 0.6 } : { match: 'no' }),
  unpack: (document) => ({ records: isBag(document) ? [asSpan(document)] : [], unread: [] }),
};

function isBag(document: JsonValue): document is JsonObject {
  return (
    isJsonObject(document) &&
    document.traceId === undefined &&
    (document['openinference.span.kind'] !== undefined || document['gen_ai.operation.name'] !== undefined)
  );
}

function asSpan(attributes: JsonObject): RawSpan {
  const hash = sha256Hex(canonicalJson(attributes));
  const operation = attributes['gen_ai.operation.name'] ?? attributes['openinference.span.kind'] ?? 'span';
  return {
    type: 'span',
    traceId: hash.slice(0, 32),
    spanId: hash.slice(32, 48),
    parentSpanId: null,
    name: String(operation),
    kind: null,
    startTimeUnixNano: null,
    endTimeUnixNano: null,
    scope: { name: '', version: '' },
    resource: readAttributes({}),
    attributes: readAttributes(attributes),
    events: [],
    status: { code: 'unset', message: null },
    inProgress: false,
  };
}
