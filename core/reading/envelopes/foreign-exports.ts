import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import type { Envelope, Recognition } from '../decode/format.ts';

const ADVICE =
  'Export the traces as OTLP/JSON instead (the OpenTelemetry collector’s file exporter, or the vendor’s OTLP export), which keeps scopes and typed values.';

/** Traces of other systems, refused by name: their exports lose the scope or the types that tell what a span is. */
const KNOWN: readonly {
  readonly name: string;
  readonly is: (first: JsonObject, document: JsonValue) => boolean;
}[] = [
  {
    name: 'a Jaeger trace',
    is: (_, document) =>
      hasList(document, 'data', (trace) => Array.isArray(trace.spans) && 'processes' in trace),
  },
  {
    name: 'a Zipkin trace',
    is: (first) => 'traceId' in first && 'id' in first && ('localEndpoint' in first || 'duration' in first),
  },
  {
    name: 'a Datadog trace',
    is: (first) => 'trace_id' in first && 'span_id' in first && 'resource' in first && 'meta' in first,
  },
  {
    name: 'an X-Ray BatchGetTraces answer',
    is: (_, document) => hasList(document, 'Traces', (trace) => Array.isArray(trace.Segments)),
  },
  { name: 'an OTLP metrics export', is: (first) => Array.isArray(first.resourceMetrics) },
];

export const foreignExports: Envelope = {
  id: 'foreign-exports',
  title: 'Traces of other systems (not read, named)',
  knownBy: 'Jaeger, Zipkin, Datadog and X-Ray trace JSON, OTLP metrics',
  from: 'not read: export the same traces as OTLP/JSON',
  checkedOn: 'shapes of the named APIs',
  recognise: (document): Recognition => {
    const found = KNOWN.find(({ is }) => is(firstOf(document), document));
    return found === undefined ? { match: 'no' } : { match: 'foreign', name: found.name, advice: ADVICE };
  },
  unpack: (document) => {
    const found = KNOWN.find(({ is }) => is(firstOf(document), document));
    return {
      records: [],
      unread:
        found === undefined ? [] : [{ where: 'foreign-exports', reason: `this is ${found.name}`, count: 1 }],
    };
  },
};

function firstOf(document: JsonValue): JsonObject {
  let at: JsonValue = document;
  for (let i = 0; i < 2 && Array.isArray(at); i += 1) at = at[0] ?? null;
  return isJsonObject(at) ? at : {};
}

function hasList(document: JsonValue, key: string, is: (item: JsonObject) => boolean): boolean {
  const list = isJsonObject(document) ? document[key] : undefined;
  return Array.isArray(list) && isJsonObject(list[0]) && is(list[0]);
}
