import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { type VerdictPolicy, verdict } from '../../core/report-build/verdict.ts';
import { categoryName } from '../category-name.ts';
import { safeText } from '../escape.ts';
import { placeOf } from './place.ts';

const COMMANDS = { fail: 'error', unknown: 'warning', pass: 'notice' } as const;

/** Workflow commands that GitHub Actions shows as annotations: the verdict of each session, then its failures. */
export function renderGithub(diagnosis: Diagnosis, policy: VerdictPolicy): string {
  const { decision, text } = verdict(diagnosis, policy);
  const lines = [command(COMMANDS[decision], `${diagnosis.sessionId}: ${diagnosis.outcome}`, text)];
  for (const [index, failure] of diagnosis.failures.entries()) {
    const cause = diagnosis.rootCauses[index];
    lines.push(
      command(
        failure.effect === 'goal-lost' ? COMMANDS[decision] : 'notice',
        `${placeOf(diagnosis, failure.span_id)}: ${failure.category.map(categoryName).join(', ')}`,
        [failure.evidence[0] ?? '', cause?.root_cause_explanation ?? '', cause?.fix_recommendation ?? '']
          .filter((part) => part !== '')
          .join('\n'),
      ),
    );
  }
  return `${lines.join('\n')}\n`;
}

/** A line of a trace must not become a command of its own: line ends and the signs of the syntax are encoded. */
function command(kind: string, title: string, message: string): string {
  const data = (text: string): string =>
    safeText(text).replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  return `::${kind} title=${property(title)}::${data(message)}`;
}
