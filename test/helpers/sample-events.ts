import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/base/json.ts';
import type { LogEvent } from '../../core/ingest/envelope.ts';
import { logEvent } from './log-events.ts';
import { sharedPath } from './shared-data.ts';
import { parsed } from './telemetry.ts';

/** Real telemetry of ../shared/samples as the log events that its producers would have written. */
export interface Sample {
  readonly name: string;
  readonly files: readonly { readonly file: string; readonly group: string }[];
}

const agentcore = (name: string, parts: readonly string[]): Sample => ({
  name,
  files: parts.map((part) => ({
    file: `aws-agentcore/${part}`,
    group: part.includes('runtime') ? '/aws/bedrock-agentcore/runtimes/agent-DEFAULT' : 'aws/spans',
  })),
});
const one = (file: string): Sample => ({ name: file, files: [{ file, group: 'aws/spans' }] });

const SAMPLES: readonly Sample[] = [
  agentcore('AgentCore, Strands, split layout', [
    'raw_otel_strands_bedrock_spans.json',
    'raw_otel_strands_bedrock_runtime_logs.json',
  ]),
  agentcore('AgentCore, LangChain', [
    'raw_otel_langchain_spans.json',
    'raw_otel_langchain_runtime_logs.json',
  ]),
  agentcore('X-Ray, each span twice', ['coralogix-aws_spans-stepfunctions-inprogress.json']),
  one('otlp/kagua-openllmetry-langchain.json'),
  ...[
    'adk_live_spans',
    'claude_adot_spans',
    'claude_live_spans',
    'openai_agents_openinference_adot_spans',
    'openinference_adot_spans',
    'otel_genai_convention_spans',
    'pydantic_ai_live_spans',
    'smolagents_live_spans',
  ].map((name) => one(`strands-evals-fixtures/${name}.json`)),
];

/** `null` after saying why, when the shared data is absent. */
export function sampleEvents(): { readonly name: string; readonly events: readonly LogEvent[] }[] | null {
  const folder = sharedPath('samples');
  if (folder === null) return null;
  return SAMPLES.map(({ name, files }) => ({
    name,
    events: files.flatMap(({ file, group }) =>
      recordTexts(parsed(readFileSync(path.join(folder, file), 'utf8'))).map((record) =>
        logEvent(record, { logGroup: group }),
      ),
    ),
  }));
}

/** Each record alone. A wrapper's session id goes to its spans, as the wrapper's reader does it. */
function recordTexts(document: JsonValue): JsonObject[] {
  if (Array.isArray(document)) return document.flatMap(recordTexts);
  if (!isJsonObject(document)) return [];
  if (isJsonObject(document.raw_otel_json)) return [document.raw_otel_json];
  if (Array.isArray(document.spans)) {
    const { session_id: sessionId } = document;
    return document.spans.filter(isJsonObject).map((span) => ({
      ...span,
      attributes: {
        ...(typeof sessionId === 'string' ? { 'session.id': sessionId } : {}),
        ...(isJsonObject(span.attributes) ? span.attributes : {}),
      },
    }));
  }
  if (Array.isArray(document.resourceSpans)) return document.resourceSpans.flatMap(alone);
  return [document];
}

function alone(resource: JsonValue): JsonObject[] {
  if (!isJsonObject(resource) || !Array.isArray(resource.scopeSpans)) return [];
  return resource.scopeSpans.filter(isJsonObject).flatMap((scoped) =>
    (Array.isArray(scoped.spans) ? scoped.spans : []).map((span) => ({
      resourceSpans: [{ ...resource, scopeSpans: [{ ...scoped, spans: [span] }] }],
    })),
  );
}
