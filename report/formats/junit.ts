import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { type VerdictPolicy, verdict } from '../../core/report-build/verdict.ts';
import { PLAIN, renderTerminal } from '../terminal.ts';

const WIDTH = 100;

/**
 * One test case a session, in the dialect that Jenkins, GitLab and GitHub's readers share. What failed is a failure;
 * what is unknown is an error, since a build must not read it as passed.
 */
export function renderJunit(diagnoses: readonly Diagnosis[], policy: VerdictPolicy): string {
  const cases = diagnoses.map((diagnosis) => ({ diagnosis, ...verdict(diagnosis, policy) }));
  const count = (wanted: string): number => cases.filter(({ decision }) => decision === wanted).length;
  const seconds = diagnoses.reduce((sum, { usage }) => sum + usage.durationMs, 0) / 1000;
  const totals = {
    name: 'rootspan',
    tests: cases.length,
    failures: count('fail'),
    errors: count('unknown'),
    time: seconds.toFixed(3),
  };
  const body = cases.map(({ diagnosis, decision, text }) => {
    const attributes = {
      classname: `rootspan.${diagnosis.agent ?? diagnosis.service ?? diagnosis.format}`,
      name: diagnosis.sessionId,
      time: (diagnosis.usage.durationMs / 1000).toFixed(3),
    };
    const whole = renderTerminal(diagnosis, { palette: PLAIN, width: WIDTH, policy });
    const about = { message: text, type: diagnosis.outcome };
    if (decision === 'fail')
      return element('testcase', attributes, element('failure', about, escaped(whole)));
    if (decision === 'unknown')
      return element('testcase', attributes, element('error', about, escaped(whole)));
    return element('testcase', attributes, element('system-out', {}, escaped(whole)));
  });
  const suite = element('testsuite', totals, body.join('\n'));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element('testsuites', totals, suite)}\n`;
}

function element(
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  content: string,
): string {
  const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  return `<${name}${list.join('')}>${content}</${name}>`;
}

/** Characters that XML 1.0 cannot carry at all are shown as what they are. */
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const escaped = (text: string): string =>
  text
    .replace(NOT_XML, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
