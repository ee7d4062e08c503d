import { ConfigurationInvalidError } from '../../core/errors/errors.ts';
import { CRITICAL_CATEGORIES, type CriticalCategory } from '../../core/vocabulary/critical-categories.ts';

/** Publishers spell the names in several ways, so a keyword of the normalised name decides; first match wins. */
const KEYWORDS: readonly (readonly [string, CriticalCategory])[] = [
  ['adherence', 'plan-adherence'],
  ['invention', 'invention'],
  ['invocation', 'invalid-invocation'],
  ['misinterpretation', 'misinterpretation'],
  ['misalignment', 'intent-plan-misalignment'],
  ['underspecified', 'underspecified-intent'],
  ['not supported', 'unsupported-intent'],
  ['unsupported', 'unsupported-intent'],
  ['guardrail', 'guardrail'],
  ['system failure', 'system-failure'],
  ['inconclusive', 'inconclusive'],
];

/** Our id of a published category name. ConfigurationInvalidError for a name that has none, so that no label is lost. */
export function readCategory(name: string, where: string): CriticalCategory {
  const exact = CRITICAL_CATEGORIES.find((category) => category === name);
  if (exact !== undefined) return exact;
  const normal = name.toLowerCase().replaceAll(/[^a-z]+/g, ' ');
  const found = KEYWORDS.find(([keyword]) => normal.includes(keyword));
  if (found === undefined) {
    throw new ConfigurationInvalidError(
      `${where}: unknown category "${name.slice(0, 80)}". Expected one of ${CRITICAL_CATEGORIES.join(', ')}, ` +
        'or a published name of these.',
    );
  }
  return found[1];
}
