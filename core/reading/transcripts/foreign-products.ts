import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { arrayAt, objectAt, objectsIn } from './fields.ts';

interface Product {
  readonly name: string;
  /** The export of the same product that is read. */
  readonly advice: string;
  /** Looks at the first record of the file. */
  matches(record: JsonObject): boolean;
}

const has = (record: JsonObject, ...keys: readonly string[]): boolean => keys.every((key) => key in record);
const is = (record: JsonObject, key: string, pattern: RegExp): boolean =>
  typeof record[key] === 'string' && pattern.test(record[key]);

/**
 * Exports of agent products that hold no session, or one that cannot be told whole, each by marks that only it has.
 * They are looked for before the readers: rows with `input` and `output`, or messages with a role, look like others.
 *
 * Sources of the marks (read 2026-11): crewai 1.15.30, llama-index-core 0.14.25, haystack-ai 3.4.1, dspy 3.4.1,
 * braintrust 0.48.1, the HTTP APIs of Datadog LLM Observability and Helicone, an AgentOps trace in
 * IBM/ibmdotcom-tutorials, smolagents e3a5b899, tau2-bench a2c02472.
 */
export const FOREIGN_PRODUCTS: readonly Product[] = [
  {
    name: 'a CrewAI task log',
    advice:
      'It has no model or tool calls. Trace the crew with OpenInference, OpenLIT or Traceloop and give the OTLP/JSON.',
    matches: (record) =>
      has(record, 'task_name', 'task', 'agent') && is(record, 'status', /^(?:started|completed)$/),
  },
  {
    name: 'the output of a CrewAI crew',
    advice:
      'It has no model or tool calls. Trace the crew with OpenInference, OpenLIT or Traceloop and give the OTLP/JSON.',
    matches: (record) => has(record, 'raw', 'token_usage') && Array.isArray(record.tasks_output),
  },
  {
    name: 'LlamaIndex instrumentation events',
    advice: 'Trace with OpenInference (openinference-instrumentation-llama-index) and give the OTLP/JSON.',
    matches: (record) => is(record, 'class_name', /Event$/) && has(record, 'id_', 'span_id', 'timestamp'),
  },
  {
    name: 'a LlamaIndex chat store',
    advice: 'Trace with OpenInference (openinference-instrumentation-llama-index) and give the OTLP/JSON.',
    matches(record) {
      const [first] = Object.values(objectAt(record, 'store') ?? {});
      const message = objectsIn(first)[0] ?? record;
      return has(message, 'role', 'additional_kwargs') && Array.isArray(message.blocks);
    },
  },
  {
    name: 'a Haystack pipeline definition',
    advice:
      'It holds no run. Trace with Haystack’s OpenTelemetry tracer (HAYSTACK_CONTENT_TRACING_ENABLED=true) and give the OTLP/JSON.',
    matches: (record) => isJsonObject(record.components) && Array.isArray(record.connections),
  },
  {
    name: 'an AgentOps trace',
    advice: 'Point the AgentOps SDK’s exporter at an OpenTelemetry collector and give its OTLP/JSON.',
    matches(record) {
      const [span] = objectsIn(record.spans);
      return (
        span !== undefined &&
        has(span, 'span_name', 'span_attributes') &&
        has(objectAt(record, 'trace') ?? {}, 'root_span_name')
      );
    },
  },
  {
    name: 'a Helicone export without request and response bodies',
    advice: 'Export again with `npx @helicone/export --include-body`.',
    matches: (record) =>
      has(record, 'request_id', 'request_created_at') &&
      !isJsonObject(record.request_body) &&
      !isJsonObject(record.response_body),
  },
  {
    name: 'Braintrust rows',
    advice: 'Braintrust takes OTLP: let the same exporter write the spans to a file, and give the OTLP/JSON.',
    matches: (record) =>
      has(record, 'span_id', 'root_span_id', 'span_parents') &&
      ('_xact_id' in record || isJsonObject(record.span_attributes)),
  },
  {
    name: 'Datadog LLM Observability spans',
    advice: 'Datadog takes OTLP: let the same exporter write the spans to a file, and give the OTLP/JSON.',
    matches(record) {
      const attributes = objectAt(objectAt(record, 'data') ?? record, 'attributes') ?? {};
      const marked = 'span_kind' in attributes || Array.isArray(attributes.spans);
      return 'ml_app' in attributes && marked;
    },
  },
  {
    name: 'Logfire rows without attributes',
    advice: 'Query again with `SELECT * FROM records WHERE trace_id = …`.',
    matches: (record) =>
      has(record, 'trace_id', 'span_id', 'span_name') &&
      !('attributes' in record) &&
      !('span_attributes' in record),
  },
  {
    name: 'the definition of a smolagents agent',
    advice: 'Give its run: the list that `agent.memory.get_full_steps()` returns, as JSON.',
    matches: (record) => has(record, 'class', 'tools', 'managed_agents', 'prompt_templates'),
  },
  {
    name: 'the index of a tau2-bench results folder',
    advice: 'Give the files of its folder `simulations`.',
    matches: (record) => Array.isArray(record.simulation_index) && !Array.isArray(record.simulations),
  },
];

/** The product that a file is of, by its first record: bare, in a list, or in the wrapping of an API's answer. */
export function foreignProduct(
  document: JsonValue,
): { readonly name: string; readonly advice: string } | undefined {
  const wrapped = isJsonObject(document)
    ? (arrayAt(document, 'events') ?? arrayAt(document, 'data'))
    : undefined;
  const [inner] = wrapped ?? [];
  const first = Array.isArray(document) ? document[0] : document;
  const records = objectsIn([first ?? null, inner ?? null]);
  return FOREIGN_PRODUCTS.find((product) => records.some((record) => product.matches(record)));
}
