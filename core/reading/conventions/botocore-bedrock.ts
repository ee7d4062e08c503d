import type { Convention } from '../decode/format.ts';
import { buildInference } from './build.ts';

/** The AWS SDK's own span of a Bedrock call; its log records repeat the whole history at each call, one a message. */
export const botocoreBedrock: Convention = {
  id: 'botocore-bedrock',
  title: 'botocore bedrock-runtime',
  knownBy: 'scope opentelemetry.instrumentation.botocore.bedrock-runtime',
  from: '`opentelemetry-instrumentation-botocore`, part of ADOT; content by OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true',
  checkedOn: '0.54b1',
  claim: (span) =>
    /botocore\.bedrock-runtime$|instrumentation-aws-sdk$/.test(span.scope.name) && isModelCall(span) ? 80 : 0,
  read: (span, logs) => buildInference(span, logs),
};

function isModelCall(span: {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly scope: { readonly name: string };
}): boolean {
  if (span.scope.name.endsWith('bedrock-runtime')) return true;
  return span.attributes['gen_ai.operation.name'] !== undefined;
}
