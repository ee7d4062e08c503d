import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { readSessions } from '../../core/reading/registry.ts';
import type { Session } from '../../core/session/session.ts';
import { toTrajectory } from '../../core/trajectory/to-trajectory.ts';
import { readCategory } from './categories.ts';
import type { Gold, LabelledRun } from './labelled-run.ts';
import { listFiles, readJson } from './read-json.ts';

const labelSchema = z.object({
  /** A file name from the folder, or a session id when a file holds several. */
  session: z.string(),
  /** `null`: this session is healthy and only counts for the false-alarm rate. */
  criticalSpanId: z.string().nullable(),
  category: z.string().nullish(),
  agent: z.string().nullish(),
});

/** The richer form: one entry a session, with its tool errors and lookalikes. */
const sessionLabelSchema = z.object({
  file: z.string(),
  logs_file: z.string().nullish(),
  critical_span_id: z.string().nullable(),
  agentrx_category: z.string().nullish(),
  agent: z.string().nullish(),
  tool_errors: z
    .array(
      z.object({
        span_id: z.union([z.string(), z.number()]),
        tool_call_id: z.string().nullish(),
        class: z.string(),
      }),
    )
    .default([]),
  lookalikes: z.array(z.union([z.string(), z.number()])).default([]),
});

const LABEL_FILES = ['labels.json', 'labels.jsonl'];

/**
 * A user's own sessions: a folder of session files in any format, and in it `labels.json` (a list) or `labels.jsonl`
 * with a line `{session, criticalSpanId, category, agent?}` for each session that counts.
 */
export function loadLabels(folder: string): LabelledRun[] {
  const name = LABEL_FILES.find((file) => existsSync(path.join(folder, file)));
  if (name === undefined) {
    const parts = listFiles(folder).filter((file) => LABEL_FILES.includes(path.basename(file)));
    if (parts.length > 0) return parts.flatMap((file) => loadLabels(path.join(folder, path.dirname(file))));
    throw new ConfigurationInvalidError(
      `${folder}: no label file. Expected ${LABEL_FILES.join(' or ')} with {session, criticalSpanId, category, agent?}.`,
    );
  }
  const rich = z
    .array(sessionLabelSchema)
    .safeParse(name.endsWith('.json') ? readJson(path.join(folder, name)) : null);
  if (rich.success) return rich.data.map((label) => loadSession(folder, label, name));
  const sessions = readFolder(folder);
  return readLabels(path.join(folder, name)).map((label): LabelledRun => {
    const session = sessions.get(label.session);
    if (session === undefined) {
      throw new ConfigurationInvalidError(
        `${name}: "${label.session}" is neither a file of ${folder} with one session nor a session id in it.`,
      );
    }
    return {
      id: `labels/${session.sessionId}`,
      group: 'labels',
      session,
      gold: readGold(label, session, name),
      expectedActions: null,
      answers: [],
    };
  });
}

function loadSession(folder: string, label: z.infer<typeof sessionLabelSchema>, name: string): LabelledRun {
  const files = [label.file, ...(label.logs_file == null ? [] : [label.logs_file])];
  const texts = files.map((file) => readFileSync(path.join(folder, file), 'utf8'));
  // Spans and the log records that carry their content are one delivery.
  const text =
    texts.length === 1 ? (texts[0] ?? '') : JSON.stringify(texts.flatMap((text) => JSON.parse(text)));
  const [session] = readSessions({ text, source: label.file }).sessions;
  if (session === undefined) throw new ConfigurationInvalidError(`${label.file}: a file without a session`);
  const { critical_span_id: criticalSpanId, agentrx_category: category, agent } = label;
  const spanOf = (id: string | number): string => (typeof id === 'number' ? `m${id}` : id);
  return {
    id: `labels/${session.sessionId}`,
    group: 'labels',
    session,
    gold: readGold({ session: label.file, criticalSpanId, category, agent }, session, name),
    expectedActions: null,
    toolErrors: label.tool_errors.map((toolError) => ({
      spanId: spanOf(toolError.span_id),
      toolCallId: toolError.tool_call_id ?? null,
      class: toolError.class.replace(/^execution-error-category-/, ''),
    })),
    lookalikes: label.lookalikes.map(spanOf),
    answers: [],
  };
}

function readLabels(file: string): z.infer<typeof labelSchema>[] {
  const text = readFileSync(file, 'utf8');
  try {
    const entries: unknown = file.endsWith('.jsonl')
      ? text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line)]))
      : JSON.parse(text);
    return z.array(labelSchema).parse(entries);
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new ConfigurationInvalidError(
      `${file}: not a list of {session, criticalSpanId, category, agent?}: ${why}`,
      { cause: error },
    );
  }
}

function readFolder(folder: string): Map<string, Session> {
  const found = new Map<string, Session>();
  for (const file of listFiles(folder)) {
    if (LABEL_FILES.includes(file) || !/\.(jsonl?|ndjson)$/.test(file)) continue;
    const { sessions } = readSessions({ text: readFileSync(path.join(folder, file), 'utf8'), source: file });
    for (const session of sessions) found.set(session.sessionId, session);
    const [only] = sessions;
    if (only !== undefined && sessions.length === 1) found.set(file, only);
  }
  return found;
}

function readGold(label: z.infer<typeof labelSchema>, session: Session, file: string): Gold | null {
  if (label.criticalSpanId === null) return null;
  const step = toTrajectory(session).stepBySpan.get(label.criticalSpanId);
  if (step === undefined) {
    throw new ConfigurationInvalidError(
      `${file}: session "${label.session}" has no span "${label.criticalSpanId}". ` +
        'Expected a span id as `rootspan show` prints it.',
    );
  }
  const critical = {
    position: step.position,
    category: typeof label.category === 'string' ? readCategory(label.category, file) : null,
    agent: label.agent ?? null,
  };
  return { critical, failures: [critical] };
}
