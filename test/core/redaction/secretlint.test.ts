import { creator as preset } from '@secretlint/secretlint-rule-preset-recommend';
import { describe, expect, it } from 'vitest';
import { redactText } from '../../../core/redaction/redact-credentials.ts';
import { ALL_SHAPED, JWT } from '../../helpers/credentials.ts';

/**
 * The rules of secretlint, which others keep up to date, as a second opinion: whatever they find in a text is gone from
 * what redaction leaves. They say where a secret is and not only that there is one, so nothing is shown twice.
 */

interface Rule {
  readonly meta: { readonly id: string };
  create(context: object, options: object): { file?(source: object): unknown };
}

async function secretsIn(content: string): Promise<string[]> {
  const rules: Rule[] = [];
  preset.create({ registerRule: (rule: Rule) => rules.push(rule) } as never, {} as never);
  const found: string[] = [];
  const context = {
    sharedOptions: {},
    createTranslator: () => () => ({ message: '', messageId: '', data: {} }),
    report: ({ range }: { range: readonly [number, number] }) =>
      found.push(content.slice(range[0], range[1])),
    ignore: () => undefined,
  };
  for (const rule of rules)
    await rule.create(context, {}).file?.({
      content,
      filePath: 'result.txt',
      ext: '.txt',
      contentType: 'text',
      getContent: () => ({ content, filePath: 'result.txt', ext: '.txt', contentType: 'text' }),
      hasBOM: false,
      indexToPosition: () => ({ line: 1, column: 0 }),
    });
  expect(rules.length).toBeGreaterThan(20);
  return found;
}

const run = (length: number, seed = 'a1B2c3D4e5F6g7H8'): string =>
  seed.repeat(Math.ceil(length / seed.length)).slice(0, length);
const digits = (length: number): string => run(length, '0918273645');
const letters = (length: number): string => run(length, 'abCDefGH');
const hex = (length: number): string => run(length, '0f1e2d3c4b5a6978');

/** A text for each rule that has a shape of its own, as a tool result may hold it. */
const TEXTS: readonly string[] = [
  ...ALL_SHAPED,
  `hf_${letters(34)}`,
  `hvs.${run(95)}`,
  `vcp_${run(24)}`,
  `glc_${run(60)}==`,
  `ntn_${digits(11)}${run(35)}`,
  `lin_api_${run(40)}`,
  `shpat_${hex(32)}`,
  `dapi${hex(32)}`,
  `dckr_pat_${run(27)}`,
  `figd_${run(44)}`,
  `cfut_${run(40)}${hex(8)}`,
  `tskey-auth-${run(12)}-${run(32)}`,
  `SG.${run(22)}.${run(43)}`,
  `npm_${run(36)}`,
  `github_pat_${run(82)}`,
  `ghs_${digits(8)}_${JWT}`,
  `glpat-${run(24)}`,
  `sk_live_${run(30)}`,
  `https://hooks.slack.com/services/T${run(9)}/B${run(9)}/${run(24)}`,
  `postgresql://app:${run(12)}@db.internal:5432/orders`,
  `mongodb+srv://app:${run(12)}@cluster.example/orders`,
  `https://anna:${run(12)}@example.com/x`,
];

describe('a second opinion', () => {
  it('finds the planted secrets at all', async () => {
    const seen = await Promise.all(TEXTS.map(secretsIn));
    expect(seen.filter((found) => found.length > 0).length).toBeGreaterThan(20);
  });

  it('finds none in what redaction leaves', async () => {
    for (const text of TEXTS) {
      const left = await secretsIn(redactText(`the tool said: ${text}\n`));
      expect(left, text.slice(0, 12)).toEqual([]);
    }
  });
});
