import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { DEFAULT_POLICY } from '../../core/report-build/verdict.ts';
import { toEvaluationEvents } from '../../report/formats/evaluation-events.ts';
import { renderGithub } from '../../report/formats/github.ts';
import { renderJunit } from '../../report/formats/junit.ts';
import { renderMarkdown } from '../../report/formats/markdown.ts';
import { toPromptfooTests, toStrandsCases } from '../../report/formats/regression-cases.ts';
import { toSarif } from '../../report/formats/sarif.ts';
import { aDiagnosis } from '../helpers/a-diagnosis.ts';

const schemas = path.resolve(import.meta.dirname, '../fixtures/schemas');
const schema = (file: string): string => readFileSync(path.join(schemas, file), 'utf8');

const failed = aDiagnosis();
const clean = aDiagnosis({
  sessionId: 'clean',
  diagnosisId: 'd-clean',
  outcome: 'CLEAN',
  failures: [],
  rootCauses: [],
  criticalStep: null,
});
const unknown: Diagnosis = {
  ...clean,
  sessionId: 'unknown',
  outcome: 'UNKNOWN',
  outcomeReason: 'no-model: the model is "none"',
  coverage: {
    ...clean.coverage,
    state: 'PARTIAL',
    gaps: [{ what: 'failures without a sign', reason: 'no-model: the model is "none"', spanIds: [] }],
  },
};
const HOSTILE =
  'a]]><b x="1">&amp;\u0000\u001b[31m\ud800::error::x%0A\n::stop-commands::y\n| a | [l](http://h.example) <img src=x> @team `c`';
const hostile: Diagnosis = {
  ...failed,
  sessionId: HOSTILE,
  goal: HOSTILE,
  agent: HOSTILE,
  failures: failed.failures.map((failure) => ({ ...failure, evidence: [HOSTILE] })),
  rootCauses: failed.rootCauses.map((cause) => ({
    ...cause,
    root_cause_explanation: HOSTILE,
    fix_recommendation: HOSTILE,
  })),
};
const all = [failed, clean, unknown, hostile];

describe('JUnit', () => {
  const valid = (xml: string) =>
    validateXML({ xml: { fileName: 'r.xml', contents: xml }, schema: schema('jenkins-junit.xsd') });

  it('validates against the schema of Jenkins, whatever the trace says', async () => {
    const { errors } = await valid(renderJunit(all, DEFAULT_POLICY));
    expect(errors).toEqual([]);
  });

  it('and the schema refuses what is not JUnit', async () => {
    const xml = renderJunit(all, DEFAULT_POLICY)
      .replaceAll('<testcase', '<case')
      .replaceAll('</testcase', '</case');
    expect((await valid(xml)).errors).not.toEqual([]);
  });

  it('what is unknown is an error, never a passed test', () => {
    const xml = renderJunit([failed, clean, unknown], DEFAULT_POLICY);
    expect(xml).toContain('tests="3" failures="1" errors="1"');
    expect(/name="unknown"[^>]*><error/u.test(xml)).toBe(true);
    expect(/name="clean"[^>]*><system-out/u.test(xml)).toBe(true);
  });
});

describe('SARIF', () => {
  const validate = new Ajv({
    strict: false,
    validateFormats: false,
    unicodeRegExp: false,
    logger: false,
  }).compile(withoutMeta(JSON.parse(schema('sarif-2.1.0-rtm.5.json'))));

  it('validates against its schema', () => {
    validate(JSON.parse(JSON.stringify(toSarif(all))));
    expect(validate.errors).toBeNull();
    expect(validate({ version: '2.1.0', runs: [{}] })).toBe(false);
  });

  it('says what was not looked at, so that no result does not read as clean', () => {
    const [run] = toSarif([unknown]).runs;
    expect(run?.results).toEqual([]);
    expect(JSON.stringify(run?.invocations)).toContain('failures without a sign');
  });
});

/** Ajv of this version knows newer drafts; what the schema uses is the same in them. */
function withoutMeta({ $schema: _, id: __, ...rest }: Record<string, unknown>): object {
  return rest;
}

describe('GitHub annotations', () => {
  it('give the verdict and each failure, and no line of a trace becomes a command', () => {
    const lines = renderGithub(hostile, DEFAULT_POLICY).trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines.every((line) => line.startsWith('::error title='))).toBe(true);
    expect(renderGithub(unknown, DEFAULT_POLICY)).toMatch(/^::warning /u);
    expect(renderGithub(clean, DEFAULT_POLICY)).toMatch(/^::notice /u);
  });
});

describe('Markdown', () => {
  it('shows the text of a trace as text: no link, image, mention, tag or cell of its making', () => {
    const text = renderMarkdown(hostile, DEFAULT_POLICY);
    expect(text).not.toMatch(/(?<!\\)<img|(?<!\\)\[l|@team|http:\/\//u);
    const [row = ''] = text.split('\n').filter((line) => line.startsWith('| 1 |'));
    expect(row.match(/(?<!\\)\|/gu)).toHaveLength(6);
  });
});

describe('OpenTelemetry evaluation events', () => {
  it('carry the outcome and each failure, a span id only where it is one of OpenTelemetry', () => {
    const spanId = '00f067aa0ba902b7';
    const there = {
      ...failed,
      failures: failed.failures.map((failure) => ({ ...failure, span_id: spanId })),
    };
    const records = toEvaluationEvents(there).resourceLogs[0]?.scopeLogs[0]?.logRecords ?? [];
    expect(records.map(({ eventName }) => eventName)).toEqual([
      'gen_ai.evaluation.result',
      'gen_ai.evaluation.result',
    ]);
    expect(records[0]).not.toHaveProperty('spanId');
    expect(records[1]).toHaveProperty('spanId', spanId);
  });
});

describe('regression cases', () => {
  it('one a session that failed, with its goal as the input and its fault as the assertion', () => {
    const { cases } = toStrandsCases(all);
    expect(cases.map(({ session_id }) => session_id)).toEqual(['session-1', HOSTILE]);
    expect(cases[0]).toMatchObject({ input: 'Refund the flight', name: 'rootspan-session-1' });
    expect(cases[0]?.expected_assertion).toContain('the call timed out');
    const [first] = toPromptfooTests(all);
    expect(first?.vars).toEqual({ input: 'Refund the flight' });
    expect(first?.assert).toHaveLength(1);
  });

  it('text of a trace is no template and no file of promptfoo', () => {
    const goals = ['{{ env.SECRET }} {% include x %} {# y #}', 'file:///etc/hostname'];
    const [template, file] = toPromptfooTests(goals.map((goal) => ({ ...failed, goal })));
    expect(template?.vars.input).toBe("{{ '{' }}{ env.SECRET }} {{ '{' }}% include x %} {{ '{' }}# y #}");
    expect(file?.vars.input).not.toMatch(/^file:/u);
  });
});
