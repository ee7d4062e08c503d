import type { Convention, RawSpan } from '../decode/format.ts';
import { hasPrefix } from './attributes.ts';
import { buildOther } from './build-other.ts';

/** Span attributes of other vendors' schemas that carry agent content we do not read. */
const SCHEMAS: readonly (readonly [prefix: string, name: string])[] = [
  ['mlflow.', 'MLflow tracing'],
  ['langwatch.', 'LangWatch'],
  ['braintrust.', 'Braintrust'],
  ['lmnr.', 'Laminar'],
  ['weave.', 'W&B Weave'],
  ['lk.', 'LiveKit agents'],
  ['dd.llmobs', 'Datadog LLM Observability'],
  ['_ml_obs', 'Datadog LLM Observability'],
  ['opik.', 'Opik'],
  ['semantic_kernel.', 'Semantic Kernel'],
];

/** Name of the foreign schema a span is written in, for refusals and the doctor. */
export function foreignSchema(span: RawSpan): string | null {
  return SCHEMAS.find(([prefix]) => hasPrefix(span.attributes, prefix))?.[1] ?? null;
}

/** Last resort: such a span stays in the tree, marked as one whose content we could not read. */
export const foreign: Convention = {
  id: 'foreign',
  title: 'Other vendors’ schemas (not read, named)',
  knownBy: SCHEMAS.map(([prefix]) => `${prefix}*`).join(', '),
  from: 'not read: most of these vendors can export the OpenTelemetry GenAI conventions or OpenInference',
  checkedOn: 'prefixes of their attributes',
  claim: (span) => (foreignSchema(span) === null ? 0 : 10),
  read: (span) =>
    buildOther(span, {
      flags: ['content-lost'],
      shown: { 'rootspan.foreign_schema': foreignSchema(span) ?? 'unknown' },
    }),
};

/** Spans of no agent at all: servers, clients, queues. */
export const plain: Convention = {
  id: 'plain',
  title: 'Any other OpenTelemetry span',
  knownBy: 'no agent attributes',
  from: 'servers, clients and queues beside the agent: shown, errors and times taken',
  checkedOn: 'OTLP 1.x',
  claim: () => 1,
  read: (span) => buildOther(span),
};
