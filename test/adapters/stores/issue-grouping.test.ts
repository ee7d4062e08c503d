import { expect, it } from 'vitest';
import { DynamoDiagnosisStore } from '../../../adapters/aws/dynamo-diagnosis-store.ts';
import { SqliteTable } from '../../../adapters/local/sqlite-table.ts';
import { ISSUE_STATES } from '../../../core/diagnosis/issue.ts';
import { UNKNOWN_RECOVERY } from '../../../core/diagnosis/recovery.ts';
import type { Fault, RootCause } from '../../../core/diagnosis/schema.ts';
import { faultsOf } from '../../../core/report-build/fingerprint.ts';
import { toTrajectory } from '../../../core/trajectory/to-trajectory.ts';
import { aDiagnosis } from '../../helpers/a-diagnosis.ts';
import { inference, message, session, tool } from '../../helpers/build-session.ts';
import { MemoryObjectStore } from '../../helpers/memory-ports.ts';

/**
 * Wording noise: each word has a chance to be replaced by one of like meaning, clauses change places, and ids and numbers
 * are always others. What it does not model: an error whose every word is another, and a model that files one fault under two
 * categories. The first splits an issue, since nothing is left to go by; the second is two issues by design.
 */
const LIKE: readonly (readonly string[])[] = [
  ['order', 'purchase'],
  ['customer', 'client', 'buyer'],
  ['profile', 'record', 'account data'],
  ['not found', 'absent', 'nowhere to be seen', 'unknown'],
  ['missing', 'absent', 'not there'],
  ['gateway', 'proxy', 'endpoint'],
  ['payment', 'billing'],
  ['answer', 'reply', 'respond'],
  ['connection', 'socket', 'link'],
  ['closed', 'dropped', 'reset'],
  ['upstream', 'remote', 'backend'],
  ['expired', 'lapsed', 'no longer valid'],
  ['token', 'credential', 'key'],
  ['queue', 'backlog'],
  ['full', 'saturated'],
  ['worker', 'executor'],
  ['waiting', 'on hold'],
  ['scope', 'permission', 'grant'],
  ['ledger', 'register', 'books'],
  ['directory', 'catalogue'],
  ['supervisor', 'manager', 'team lead'],
  ['approval', 'consent', 'sign-off'],
  ['refund', 'reimbursement', 'repayment'],
  ['verify', 'check', 'confirm'],
  ['identity', 'who the caller is'],
];

const PROMPT = `# Identity
Verify the caller's name and date of birth before you speak about an account.

# Refunds
A refund above the limit needs the written approval of a supervisor.

# Tone
Be brief and friendly.`;

interface Planted {
  readonly agent: string;
  readonly category: string;
  /** `null`: no tool; the cause is what a model says of it. */
  readonly tool: string | null;
  /** Clauses; `#` stands for an id or a number. */
  readonly said: readonly string[];
}

const NOT_FOUND = 'execution-error-category-resource-not-found';
const TIMEOUT = 'execution-error-category-timeout';
const AUTH = 'execution-error-category-authentication';
const BROKEN_RULE = 'task-instruction-category-non-compliance';
const ORDER = ['order # was not found in the ledger', 'region # of shard #'];

/** Pairs that share place and category, or the words, so that neither alone is enough. */
const CAUSES: readonly Planted[] = [
  { agent: 'shop', category: NOT_FOUND, tool: 'get_order', said: ORDER },
  {
    agent: 'shop',
    category: NOT_FOUND,
    tool: 'get_order',
    said: ['customer # has no profile', 'directory lookup #'],
  },
  { agent: 'shop', category: NOT_FOUND, tool: 'get_invoice', said: ORDER },
  { agent: 'bank', category: NOT_FOUND, tool: 'get_order', said: ORDER },
  {
    agent: 'shop',
    category: TIMEOUT,
    tool: 'charge',
    said: ['payment gateway gave no answer in # s', 'upstream connection closed'],
  },
  {
    agent: 'shop',
    category: TIMEOUT,
    tool: 'charge',
    said: ['fraud scoring queue full', 'job # gave up waiting for a worker'],
  },
  { agent: 'shop', category: AUTH, tool: 'charge', said: ['merchant token # expired', 'renewed # days ago'] },
  {
    agent: 'shop',
    category: AUTH,
    tool: 'charge',
    said: ["scope 'payments.write' missing", 'role # of the deployment'],
  },
  {
    agent: 'shop',
    category: BROKEN_RULE,
    tool: null,
    said: ['the agent paid a refund of # EUR', 'nobody asked a supervisor for approval'],
  },
  {
    agent: 'shop',
    category: BROKEN_RULE,
    tool: null,
    said: [
      'it told the caller the balance of account #',
      'without having asked for the date of birth to verify the identity',
    ],
  },
];

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function noisy(clauses: readonly string[], noise: number, next: () => number): string {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T;
  const order = next() < noise ? [...clauses].reverse() : clauses;
  let text = order.join(pick(['; ', ', ', '. ', ' – ']));
  for (const like of LIKE)
    for (const word of like)
      if (new RegExp(`\\b${word}\\b`, 'iu').test(text) && next() < noise) {
        text = text.replace(new RegExp(`\\b${word}\\b`, 'iu'), pick(like.filter((other) => other !== word)));
        break;
      }
  return text.replaceAll('#', () =>
    pick([
      String(Math.floor(next() * 1e6)),
      `x${Math.floor(next() * 1e9).toString(16)}9`,
      `eu-${Math.floor(next() * 9)}`,
    ]),
  );
}

function faultOf({ agent, category, tool: name, said }: Planted, noise: number, next: () => number): Fault[] {
  const text = noisy(said, noise, next);
  const head = inference([message('user', 'Help me')], [message('assistant', 'Done.')], {
    agent,
    systemPrompt: PROMPT,
  });
  const steps =
    name === null ? [head] : [head, tool('c1', name, {}, `Error: ${text}`, { agent, status: 'error' })];
  const trajectory = toTrajectory(session(steps));
  const spanId = trajectory.steps.at(-1)?.spanId ?? '';
  const failure = {
    span_id: spanId,
    category: [category],
    confidence: [0.9],
    evidence: [text],
    source: [{ kind: 'model' as const, ref: 'a' }],
    ...UNKNOWN_RECOVERY,
  };
  const [like] = aDiagnosis().rootCauses;
  const cause = {
    ...like,
    root_cause_explanation: text,
    fix_recommendation: '',
    fix_type: 'SYSTEM_PROMPT_FIX',
  } as RootCause;
  return faultsOf([failure], [cause], trajectory, null);
}

it.each([1, 2, 3])(
  '500 diagnoses of ten causes with a fifth of the wording changed: no merge, at most one split (%i)',
  async (seed) => {
    const next = random(seed);
    const clock = { now: () => Date.parse('2026-03-01T12:00:00Z') };
    const store = new DynamoDiagnosisStore(new SqliteTable(null, clock), new MemoryObjectStore(), clock, {
      retentionDays: null,
    });
    const causesOf = new Map<string, Set<number>>();
    for (let n = 0; n < 500; n++) {
      const cause = Math.floor(next() * CAUSES.length);
      const faults = faultOf(CAUSES[cause] as Planted, 0.2, next);
      const sessionId = `s-${n}`;
      await store.put(aDiagnosis({ sessionId, diagnosisId: sessionId, faults }));
      for (const fault of faults) {
        const issue = await store.issues.issueOf(fault);
        causesOf.set(issue, (causesOf.get(issue) ?? new Set()).add(cause));
      }
    }
    const merged = [...causesOf.values()].filter((causes) => causes.size > 1);
    expect(merged.map((causes) => [...causes])).toEqual([]);
    expect(causesOf.size).toBeLessThanOrEqual(CAUSES.length + 1);
    expect(new Set([...causesOf.values()].flatMap((causes) => [...causes])).size).toBe(CAUSES.length);
    const listed = [];
    for (const state of ISSUE_STATES) listed.push(...(await store.issues.list(state, 100)));
    expect(listed.map(({ issue }) => issue).sort()).toEqual([...causesOf.keys()].sort());
    expect(listed.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(500);
  },
);
