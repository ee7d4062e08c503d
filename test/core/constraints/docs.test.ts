import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sha256Hex } from '../../../core/base/hash.ts';
import { checkConstraints } from '../../../core/constraints/check-constraints.ts';
import { FUNCTIONS } from '../../../core/constraints/functions.ts';
import {
  CONSTRAINTS_PROMPT_VERSION,
  constraintRepairPrompt,
  dynamicPrompt,
  globalPrompt,
  RUBRICS_PROMPT_VERSION,
  rubricPrompt,
} from '../../../core/constraints/prompt-v2.ts';
import {
  judgePrompt,
  PROTOCOL_PROMPT_VERSION,
} from '../../../core/explanation/critical-step/protocol-prompts-v2.ts';
import type { PromptText } from '../../../core/model/port.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

test('docs/constraints.md lists the functions there are', () => {
  const text = read('docs/constraints.md').replaceAll(/ {2,}/g, ' ');
  for (const { signature, meaning } of FUNCTIONS) expect(text).toContain(`| \`${signature}\` | ${meaning} |`);
});

test('the constraint file in docs/constraints.md is accepted, and its examples come out right', () => {
  const yaml = /```yaml\n([\s\S]*?)```/.exec(read('docs/constraints.md'))?.[1] ?? '';
  const checks = checkConstraints(yaml, 'docs', []);
  expect(checks.map(({ name, errors, examples }) => [name, errors, examples.wrong])).toEqual([
    ['refund-needs-order', [], []],
    ['tells-the-truth', [], []],
  ]);
});

test('every file that docs/agentrx-parts.md names is there', () => {
  const named = [...read('docs/agentrx-parts.md').matchAll(/`((?:core|test|docs)\/[\w./-]+)`/g)].map(
    (match) => match[1] ?? '',
  );
  expect(named.length).toBeGreaterThan(20);
  for (const file of named) expect(existsSync(path.join(root, file)), file).toBe(true);
});

/** As in test/core/detection/prompts.test.ts: changed words need a new version, then the new hash here. */
const constant = (prompt: readonly PromptText[]): string => prompt[0]?.text ?? '';
const judged = { run: '', note: null, failures: '', evidence: '', decided: null, assumeFailed: false };
const dynamic = { agent: { policy: '', tools: '' }, goal: '', existing: [], parts: [], mark: '', about: '' };
test.each([
  [
    CONSTRAINTS_PROMPT_VERSION,
    'constraints-3',
    [globalPrompt(dynamic.agent), dynamicPrompt(dynamic), constraintRepairPrompt([])]
      .map(constant)
      .join('\n'),
    '34d229763f9ee73b',
  ],
  [RUBRICS_PROMPT_VERSION, 'rubrics-2', constant(rubricPrompt('', '')), '054d8d0ffe19d646'],
  [
    PROTOCOL_PROMPT_VERSION,
    'protocol-2+judge-2',
    (['step-and-category', 'step', 'category-of-step', 'category', 'step-of-category'] as const)
      .map((question) => constant(judgePrompt(question, judged)))
      .join('\n'),
    '3e9d65bba78eea71',
  ],
])('prompt %s has the words of its version', (version, expected, text, hash) => {
  expect(version).toBe(expected);
  expect(sha256Hex(text).slice(0, 16)).toBe(hash);
});
