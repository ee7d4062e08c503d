import { appendFile } from 'node:fs/promises';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { toStrandsJson } from '../../core/report-build/strands.ts';
import type { VerdictPolicy } from '../../core/report-build/verdict.ts';
import { toEvaluationEvents } from '../../report/formats/evaluation-events.ts';
import { renderGithub } from '../../report/formats/github.ts';
import { renderJunit } from '../../report/formats/junit.ts';
import { renderMarkdown } from '../../report/formats/markdown.ts';
import { toPromptfooTests, toStrandsCases } from '../../report/formats/regression-cases.ts';
import { toSarif } from '../../report/formats/sarif.ts';
import { renderTerminal } from '../../report/terminal.ts';
import type { OpenStore } from './deps.ts';
import { EACH, type Format, type WHOLE } from './format-names.ts';
import { type CliIo, palette } from './io.ts';
import { sessionReport } from './session-report.ts';
import { writeResult } from './write-result.ts';

export interface OutputFlags {
  readonly json?: boolean;
  readonly format?: Format;
  readonly output?: string;
}

/** What was asked for; else text for a person and JSON for a pipe. A page, unasked, for a file called so. */
export function formatOf({ format, json, output }: OutputFlags, io: CliIo): Format {
  if (format !== undefined) return format;
  if (json === true) return 'json';
  if (output !== undefined)
    return /\.html?$/iu.test(output) ? 'html' : /\.md$/iu.test(output) ? 'md' : 'json';
  return io.outIsTerminal ? 'text' : 'json';
}

/** Widest line of text: longer ones do not read. */
export const MAX_WIDTH = 100;
export const widthOf = (io: CliIo): number => Math.min(io.columns, MAX_WIDTH);

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function renderEach(
  format: (typeof EACH)[number],
  diagnosis: Diagnosis,
  policy: VerdictPolicy,
  io: CliIo,
): string {
  switch (format) {
    case 'text':
      return renderTerminal(diagnosis, { palette: palette(io), width: widthOf(io), policy });
    // Several sessions give several JSON values, one after the other: what jq reads as a stream.
    case 'json':
      return json(diagnosis);
    case 'ndjson':
      return `${JSON.stringify(diagnosis)}\n`;
    case 'md':
      return `${renderMarkdown(diagnosis, policy)}\n`;
    case 'github':
      return renderGithub(diagnosis, policy);
    case 'strands':
      return json(toStrandsJson(diagnosis));
    case 'otel':
      return `${JSON.stringify(toEvaluationEvents(diagnosis))}\n`;
  }
}

async function renderWhole(
  format: (typeof WHOLE)[number],
  diagnoses: readonly Diagnosis[],
  policy: VerdictPolicy,
  store: OpenStore | null,
): Promise<string> {
  switch (format) {
    case 'html':
      return sessionReport(diagnoses, store);
    case 'junit':
      return renderJunit(diagnoses, policy);
    case 'sarif':
      return json(toSarif(diagnoses));
    case 'strands-cases':
      return json(toStrandsCases(diagnoses));
    case 'promptfoo':
      return json(toPromptfooTests(diagnoses));
  }
}

const isEach = (format: Format): format is (typeof EACH)[number] => EACH.some((member) => member === format);

export interface ResultWriter {
  add(diagnosis: Diagnosis): void;
  /** Writes what waits for the last session, and the summary of a CI run. */
  end(): Promise<void>;
}

/** Results in one format, to standard output or a file; under GitHub Actions also as annotations and step summary. */
export function resultWriter(
  flags: OutputFlags,
  policy: VerdictPolicy,
  store: OpenStore | null,
  io: CliIo,
): ResultWriter {
  const format = formatOf(flags, io);
  const inActions = io.env.GITHUB_ACTIONS === 'true';
  const summary = inActions ? io.env.GITHUB_STEP_SUMMARY : undefined;
  const kept: Diagnosis[] = [];
  let text = '';
  let summaryText = '';
  return {
    add(diagnosis) {
      if (isEach(format)) {
        const piece = renderEach(format, diagnosis, policy, io);
        if (flags.output === undefined) io.out(piece);
        else text += piece;
      } else kept.push(diagnosis);
      if (inActions && (format !== 'github' || flags.output !== undefined))
        io.err(renderGithub(diagnosis, policy));
      if (summary !== undefined) summaryText += `${renderMarkdown(diagnosis, policy)}\n`;
    },
    async end() {
      if (!isEach(format)) {
        if (kept.length > 0)
          await writeResult(await renderWhole(format, kept, policy, store), flags.output, io);
      } else if (flags.output !== undefined) await writeResult(text, flags.output, io);
      if (summary !== undefined && summaryText !== '') await appendFile(summary, summaryText);
    },
  };
}
