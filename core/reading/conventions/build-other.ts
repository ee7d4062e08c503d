import { toWellFormed } from '../decode/decode-json.ts';
import { textWithoutMedia } from '../decode/decode-media.ts';
import type { RawSpan, SpanContent } from '../decode/format.ts';
import { agentOf } from './attributes.ts';
import type { Extras } from './build.ts';

/** Longest text kept of an attribute that only helps to recognise a span. */
const MAX_SHOWN = 2000;

const SHOWN = [
  'http.url',
  'url.full',
  'http.method',
  'http.request.method',
  'http.route',
  'http.status_code',
  'http.response.status_code',
  'rpc.service',
  'rpc.method',
  'rpc.system',
  'aws.remote.service',
  'aws.remote.operation',
  'aws.xray.origin',
  'aws.xray.fault',
  'aws.xray.error',
  'aws.xray.throttle',
  'server.address',
  'db.system',
  'db.operation',
  'messaging.system',
  'messaging.operation',
  'openinference.span.kind',
  'traceloop.span.kind',
  'gen_ai.operation.name',
  'traceloop.entity.name',
  'retry_attempts',
  'exit_code',
  'event.name',
  'level',
  'logger',
] as const;

/** A span that is no step of the agent. What it carried in and out is shown, cut to 2,000 characters. */
export function buildOther(
  span: RawSpan,
  extras: Extras & { readonly shown?: Readonly<Record<string, string>> } = {},
): SpanContent {
  const attributes: Record<string, string | number | boolean> = {};
  for (const key of SHOWN) {
    const value = span.attributes[key];
    if (typeof value === 'string' && value !== '') attributes[key] = cut(value);
    else if (typeof value === 'number' || typeof value === 'boolean') attributes[key] = value;
  }
  for (const key of [
    'input.value',
    'output.value',
    'traceloop.entity.input',
    'traceloop.entity.output',
    'message',
  ]) {
    const value = span.attributes[key];
    if (typeof value === 'string' && value !== '') attributes[key] = cut(textWithoutMedia(value));
  }
  for (const [key, value] of Object.entries(extras.shown ?? {})) attributes[key] = cut(value);
  return {
    span: { kind: 'other', attributes },
    errors: extras.errors ?? [],
    flags: [...(extras.flags ?? [])],
    agent: extras.agent ?? agentOf(span.attributes),
  };
}

function cut(text: string): string {
  if (text.length <= MAX_SHOWN) return toWellFormed(text);
  return `${text.slice(0, MAX_SHOWN).toWellFormed()}… [${text.length - MAX_SHOWN} characters cut]`;
}
