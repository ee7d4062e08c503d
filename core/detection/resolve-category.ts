import type { CategoryDefinition } from '../vocabulary/taxonomy.ts';

const plain = (text: string): string =>
  text
    .slice(0, 200)
    .toLowerCase()
    .replace(/[^a-z0-9]+/gu, '-')
    .replace(/^-+|-+$/gu, '');

const leafOf = (id: string): string => id.slice(id.lastIndexOf('-category-') + 1).replace(/^category-/u, '');

/**
 * The taxonomy id that a model meant: the id itself, the id in other spelling, or its leaf when only one category
 * has it. `null` when none or several fit.
 */
export function resolveCategory(said: string, taxonomy: readonly CategoryDefinition[]): string | null {
  if (taxonomy.some(({ id }) => id === said)) return said;
  const wanted = plain(said);
  if (wanted === '') return null;
  const spelled = taxonomy.filter(({ id }) => plain(id) === wanted);
  const only = (found: readonly CategoryDefinition[]): string | null =>
    found.length === 1 && found[0] !== undefined ? found[0].id : null;
  if (spelled.length > 0) return only(spelled);
  const leaves = taxonomy.filter(({ id, parent }) => {
    const leaf = plain(leafOf(id));
    return leaf === wanted || `${plain(parent)}-${leaf}` === wanted;
  });
  return only(leaves);
}
