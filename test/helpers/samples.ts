import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/base/json.ts';
import { readSessions } from '../../core/reading/registry.ts';
import type { Session } from '../../core/session/session.ts';
import { sharedPath } from './shared-data.ts';
import { parsed } from './telemetry.ts';

/** Folder of the real files; `null` after saying why, when it is absent. */
export const samples = sharedPath('samples');

export const sampleText = (file: string): string => readFileSync(`${samples}/${file}`, 'utf8');

export const loadSample = (file: string): JsonValue => parsed(sampleText(file));

export const readSample = (file: string): readonly Session[] =>
  readSessions({ text: sampleText(file), source: file }).sessions;

/** A list of spans, each as `edit` makes it. */
export function editedSample(file: string, edit: (span: JsonObject, index: number) => JsonObject): JsonValue {
  const document = loadSample(file);
  if (Array.isArray(document))
    return document.map((item, index) => {
      if (!isJsonObject(item)) return item;
      return isJsonObject(item.raw_otel_json)
        ? { ...item, raw_otel_json: edit(item.raw_otel_json, index) }
        : edit(item, index);
    });
  if (isJsonObject(document) && Array.isArray(document.spans))
    return {
      ...document,
      spans: document.spans.map((span, i) => (isJsonObject(span) ? edit(span, i) : span)),
    };
  throw new Error(`${file} is no list of spans`);
}
