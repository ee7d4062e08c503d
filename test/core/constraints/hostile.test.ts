import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkConstraints } from '../../../core/constraints/check-constraints.ts';
import { exampleTrajectory } from '../../../core/constraints/example-session.ts';
import { compileExpression } from '../../../core/constraints/language.ts';
import { admitConstraints, readConstraintFile } from '../../../core/constraints/read-constraints.ts';
import { runConstraints } from '../../../core/constraints/run.ts';
import { WORK_LIMITS } from '../../../core/constraints/work-limits.ts';
import type { Example } from '../../../core/diagnosis/constraint.ts';

/*
 * "Within a second" is a bound on work, and work is counted (meter.ts): a test of the clock would pass or fail by
 * the machine. The file's own time limit of 30 s over all of these is the sanity check that units mean what they say.
 */

const constraint = (assertion: string, guard = 'true', name = 'hostile') => ({
  name,
  targets: ['inconclusive'],
  kind: 'protocol',
  guard,
  assertion,
  hint: 'hostile',
});

/** A long session: 400 calls with large results. */
const LONG: Example[] = [
  {
    turns: Array.from({ length: 39 }, (_, index) => ({
      call: 'search',
      args: { query: 'a'.repeat(2_000), page: index, nested: { list: [1, 2, 3] } },
      result: 'a'.repeat(8_000),
    })),
  },
];
const trajectory = exampleTrajectory(LONG[0] as Example);

function verdicts(assertion: string, guard?: string): readonly string[] {
  const set = admitConstraints([constraint(assertion, guard)], 'dynamic');
  if (set.accepted.length === 0) return set.refused.map((one) => `refused: ${one.errors.join()}`);
  return runConstraints(set.accepted, trajectory).entries.map((entry) => entry.verdict);
}

describe('hostile constraints are refused or bounded', () => {
  it('endless loops stop at the work allowed and are not called satisfied', () => {
    const triple = 'earlier.all(a, earlier.all(b, earlier.all(c, a.text + b.text + c.text != "x")))';
    expect(verdicts(triple)).toContain('not-evaluated');
    expect(verdicts('prior.map(a, prior.map(b, prior.map(c, a.result + b.result))).size() >= 0')).toContain(
      'not-evaluated',
    );
  });

  it('a quantifier or || around endless work does not hide that it ran out', () => {
    const loop = 'earlier.all(a, earlier.all(b, a.text.contains(b.text + "b") || true))';
    expect(verdicts(`(${loop}) || true`).filter((verdict) => verdict === 'violated')).toEqual([]);
  });

  it('a fault before it does not hide that work ran out, nor does the loop go on', () => {
    const calls = Array.from({ length: 3_000 }, (_, at) => ({ call: 'x', args: { at }, result: 'ok' }));
    const rule = (body: string) => ({
      ...constraint(`session.calls.all(a, session.calls.all(b, session.calls.all(c, ${body})))`),
      each: 'session',
    });
    const { accepted } = admitConstraints([rule('dyn(c.args) < 1')], 'dynamic');
    const { entries } = runConstraints(accepted, exampleTrajectory({ turns: calls }));
    expect(entries.map((entry) => entry.verdict)).toEqual(['not-evaluated']);
    const sides = 'dyn(call) < 1 || earlier.all(a, earlier.all(b, a.text.contains(b.text + "b") || true))';
    expect(verdicts(sides)).toContain('not-evaluated');
  });

  it('a catastrophic regular expression runs in linear time', () => {
    expect(verdicts('!call.result.matches("(a+)+$") || true')).toContain('satisfied');
    expect(verdicts('!call.result.matches("(a|aa)+b")')).toContain('satisfied');
    // A program of ~1,800 instructions would be linear too, at 1,800 times the price.
    expect(verdicts('call.result.matches("(a{1,30}){1,30}$")')[0]).toMatch(/^refused: .*too large a program/);
  });

  it.each([
    ['parentheses', `${'('.repeat(900)}true${')'.repeat(900)}`],
    ['negation', `${'!'.repeat(1_500)}true`],
    ['conditionals', `true${' ? true : true'.repeat(120)}`],
    ['lists', `${'['.repeat(900)}${']'.repeat(900)} == []`],
    ['fields', `call.args${'.a'.repeat(900)} == 1`],
    ['sums', `1${'+1'.repeat(900)} > 0`],
  ])('deep nesting of %s', (_name, expression) => {
    expect(verdicts(expression)[0]).toMatch(/^refused/);
  });

  it('huge literals are refused by length', () => {
    expect(verdicts(`"${'a'.repeat(1_000_000)}" == call.name`)[0]).toMatch(/^refused/);
    expect(verdicts(`[${'1,'.repeat(900)}1].size() > 1`)[0]).toMatch(/^refused/);
    expect(verdicts('123456789012345678901234567890 == 1')[0]).toMatch(/^refused/);
  });

  it('sharing does not multiply: comparing nested copies is charged by size', () => {
    const grown =
      '[[0,0,0,0,0,0,0,0]].map(a, [a,a,a,a,a,a,a,a].map(b, [b,b,b,b,b,b,b,b].map(c, [c,c,c,c,c,c,c,c])))';
    expect(verdicts(`(${grown}) == (${grown})`)).toContain('satisfied');
    const text = `prior.map(a, a.result + a.result + a.result + a.result).join() != ""`;
    expect(verdicts(text)).toContain('not-evaluated');
  });

  it('ten thousand constraints: 500 are read, the rest is refused by count, and all share one allowance', () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      constraint('earlier.all(a, earlier.all(b, a.text != b.text + "x"))', 'true', `c${index}`),
    );
    const set = admitConstraints(many, 'dynamic');
    expect(set.accepted).toHaveLength(500);
    expect(set.refused).toEqual([
      { name: '(9500 more)', errors: ['at most 500 constraints are read from one place'] },
    ]);
    const { tallies } = runConstraints(set.accepted, trajectory);
    expect(tallies.some((tally) => tally.skipped > 0)).toBe(true);
    expect(WORK_LIMITS.session).toBeLessThanOrEqual(10_000_000);
  });

  const copies = (name: string) => `[${Array(95).fill(name).join(',')}]`;
  /** 95³ references to a result of 8,000 characters: 7 GB, were it ever written out. */
  const grown = `[call.result].map(a,${copies('a')}).map(b,${copies('b')}).map(c,${copies('c')})`;

  it.each([
    ['an id', `sameId(dyn(${grown}), 1)`],
    ['text', `string(dyn(${grown})) == ""`],
    ['a number', `sum(dyn(${grown})) > 0.0`],
    ['a truth', `dyn(${grown}) ? true : false`],
    ['a key', `call.args[dyn(${grown})] == 1`],
    ['a path', `pick(${grown}, "*.*.*.*").size() > 0`],
  ])('a value that shares its parts is never written out, as %s', (_name, assertion) => {
    for (const verdict of verdicts(assertion)) expect(['unclear', 'not-evaluated']).toContain(verdict);
  });

  it.each([
    ['compared', 'call.args != prior[0].args', 'not-evaluated'],
    ['parsed and compared', 'call.json != prior[0].json', 'not-evaluated'],
    ['shown', 'string(call.args.x) != ""', 'satisfied'],
    ['looked up', 'supported(call.args)', 'violated'],
  ])('data nested to the end of the stack is bounded when %s', (_name, assertion, verdict) => {
    const nested = (levels: number): string => `${'['.repeat(levels)}1${']'.repeat(levels)}`;
    const turn = () => ({
      call: 'deep',
      args: { x: JSON.parse(nested(900)) },
      result: nested(50_000),
    });
    const { accepted } = admitConstraints([constraint(assertion)], 'dynamic');
    const { entries } = runConstraints(accepted, exampleTrajectory({ turns: [turn(), turn()] }));
    expect(entries.map((entry) => entry.verdict)).toContain(verdict);
  });

  it.each([
    ['own regular expressions', '!"".matches("(x{1,30}){1,9}" + string(p.step) + "y" + string(q.step + r))'],
    ['ids of 300,000 characters', 'sameId(p.result, q.result) || true'],
    ['the source of 300,000 characters', 'supported(q.args) || true'],
    ['the length of 300,000 characters', 'q.result.size() > r'],
    ['maps of many keys', 'q.json == null || dyn(q.json) < 1 || size(q.json) > 1'],
  ])('loops over %s are charged for what they look at', (_name, body) => {
    const big = 'word '.repeat(60_000);
    const turns = Array.from({ length: 12 }, (_, at) => ({
      call: 'big',
      args: { q: `${big}${at}` },
      result:
        at % 2 === 0
          ? `${big}${at}`
          : JSON.stringify(Object.fromEntries(Array.from({ length: 30_000 }, (_, key) => [`k${key}`, at]))),
    }));
    const loop = `prior.all(p, prior.all(q, [1, 2, 3, 4, 5].all(r, (${body}))))`;
    const { accepted } = admitConstraints([constraint(loop)], 'dynamic');
    const { entries } = runConstraints(accepted, exampleTrajectory({ turns }));
    expect(entries.map((entry) => entry.verdict)).toContain('not-evaluated');
  });

  it('what came before is not kept for every step of a long session', () => {
    const turns = Array.from({ length: 10_000 }, (_, at) => ({ user: `turn ${at}` }));
    const rule = { ...constraint('earlier.size() + prior.size() + userTurns.size() >= 0'), each: 'step' };
    const { accepted } = admitConstraints([rule], 'dynamic');
    const { tallies } = runConstraints(accepted, exampleTrajectory({ turns }));
    // Kept, the lists would hold a hundred million references.
    expect(tallies[0]?.satisfied).toBeGreaterThan(5_000);
  });

  it('regular expressions of a set share what may be compiled', () => {
    const many = Array.from({ length: 500 }, (_, index) =>
      constraint(
        Array.from(
          { length: 6 },
          (_, at) => `call.result.matches("${'(?i)\\\\pL'.repeat(25)}${at}x${index}")`,
        ).join(' || '),
        'true',
        `c${index}`,
      ),
    );
    const { accepted, refused } = admitConstraints(many, 'dynamic');
    expect(accepted.length).toBeGreaterThan(10);
    expect(refused.at(-1)?.errors.join()).toMatch(/more than is compiled from one place/);
    expect(verdicts(`call.result.matches("${'a{1000}'.repeat(40)}")`)[0]).toMatch(/too large a program/);
  });

  it('examples of all constraints share what may be worked', () => {
    const turns = Array.from({ length: 39 }, () => ({ call: 'x', result: 'ok' }));
    const many = Array.from({ length: 60 }, (_, index) => ({
      ...constraint('prior.all(a, prior.all(b, prior.all(c, dyn(c.args) < 1 || true)))', 'true', `c${index}`),
      examples: { pass: [{ turns }, { turns }] },
    }));
    const file = JSON.stringify({ version: 1, constraints: many });
    const checks = checkConstraints(file, 'x.json', []);
    expect(checks).toHaveLength(60);
    expect(checks.at(-1)?.examples.wrong[1]).toMatch(/^passing example 2 is beyond the work allowed/);
  });

  it('a constraint nested to the end of the stack is refused by name', () => {
    const x = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`);
    const item = { ...constraint('true'), examples: { fail: [{ turns: [{ call: 'a', args: { x } }] }] } };
    expect(admitConstraints([item], 'dynamic').refused).toEqual([
      { name: 'hostile', errors: ['nested deeper than 32 levels'] },
    ]);
  });

  it.each([
    ['many keys', Array.from({ length: 25_000 }, (_, at) => `k${at}: 1`).join('\n'), /not a constraint file/],
    ['brackets', '['.repeat(200_000), /nested too deeply/],
    ['closing brackets', ']'.repeat(100_000), /Unexpected/],
    ['escapes', `a: "${'\\x'.repeat(100_000)}"`, /Invalid escape/],
    ['a circle', 'version: 1\nconstraints: &a [*a]', null],
    ['a tag', 'version: 1\nconstraints: !!js/function "function(){}"', /Unresolved tag.* line 2, column 14/],
    [
      'a key given twice',
      'version: 1\nconstraints: []\nconstraints: []',
      /'constraints' stands twice at line 3/,
    ],
    ['a prototype', 'version: 1\nconstraints: []\n__proto__: {polluted: 1}', /Unrecognized key/],
    ['2 MB', ' '.repeat(2_000_000), /may have 250000/],
  ])('a file of %s is refused in time linear in its size', (_name, file, message) => {
    if (message === null) expect(readConstraintFile(file, 'x.yaml').accepted).toEqual([]);
    else expect(() => readConstraintFile(file, 'x.yaml')).toThrow(message);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('a YAML bomb and a file that is none are errors of configuration', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'.split('').map((name, index) => {
        const before = 'abcdefg'[index];
        return `${name}: &${name} [${Array(10).fill(`*${before}`).join(',')}]`;
      }),
    ].join('\n');
    expect(() => readConstraintFile(bomb, 'bomb.yaml')).toThrow(/bomb.yaml/);
    expect(() => readConstraintFile('constraints: [', 'x.yaml')).toThrow(/neither YAML nor JSON/);
    expect(() => readConstraintFile('[]', 'x.json')).toThrow(/not a constraint file/);
  });
});

describe('fuzz', () => {
  const words = [
    'call',
    'step',
    'prior',
    'earlier',
    'session',
    'userTurns',
    '.name',
    '.args',
    '.result',
    '.json',
    '.text',
    '["x"]',
    '[0]',
    '==',
    '!=',
    '&&',
    '||',
    '!',
    '+',
    '-',
    '*',
    '/',
    '%',
    '<',
    '>',
    'in',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    ',',
    ':',
    '?',
    '"a"',
    '1',
    '1.5',
    'true',
    'null',
    '.exists(p, ',
    '.all(q, ',
    '.map(r, ',
    '.filter(s, ',
    '.size()',
    '.matches("a+")',
    'supported(',
    'schemaValid(call)',
    'sum(',
    'pick(call.json, "a.*")',
    'count(prior, "x")',
    'has(call.args.x)',
    'p',
    'q',
    '.contains(',
    '.constructor',
    '.__proto__',
    'b"x"',
    'timestamp(',
  ];
  const small = exampleTrajectory({
    turns: [
      { user: 'yes' },
      { call: 'x', args: { x: 1, y: ['a'] }, result: { a: [1, 2] } },
      { call: 'x', args: {}, result: 'Error: no' },
    ],
  });
  const known = new Set(['violated', 'satisfied', 'unclear', 'not-evaluated', 'not-applicable']);

  it('any text is refused or gives a verdict, and nothing throws', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.array(fc.constantFrom(...words), { maxLength: 25 }).map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(text, fc.constantFrom('call', 'step', 'session'), (assertion, each) => {
        const set = admitConstraints([{ ...constraint(assertion), each }], 'dynamic');
        const { entries } = runConstraints(set.accepted, small);
        for (const entry of entries) expect(known).toContain(entry.verdict);
        expect(set.accepted.length + set.refused.length).toBe(1);
      }),
      { numRuns: 2_000 },
    );
  });

  const leaf = fc.constantFrom(
    'call.args.x',
    'call.json',
    'call.result',
    'call.name',
    'prior',
    'prior[0].args',
    'step.text',
    '1',
    '2.5',
    '"x"',
    'null',
    'true',
    '[1, 2]',
    'userTurns',
    'session.tools',
    'call',
  );
  const { bool } = fc.letrec((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, leaf, tie('call')),
    call: fc.oneof(
      fc
        .tuple(tie('value'), fc.constantFrom('+', '-', '*', '/', '%'), tie('value'))
        .map((t) => `(${t.join(' ')})`),
      tie('value').map((v) => `size(${v})`),
      tie('value').map((v) => `sum([${v}])`),
      tie('value').map((v) => `pick(${v}, "x.*.y")`),
      tie('bool').map((b) => `prior.map(p, ${b})`),
      fc.tuple(tie('bool'), tie('value'), tie('value')).map(([b, x, y]) => `(${b} ? dyn(${x}) : dyn(${y}))`),
    ),
    bool: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(
        'schemaValid(call)',
        'knownTool(call)',
        'confirmedBefore(call)',
        'has(call.args.x)',
        'true',
      ),
      fc
        .tuple(tie('value'), fc.constantFrom('==', '!=', '<', '>=', 'in'), tie('value'))
        .map(([a, op, b]) => `dyn(${a}) ${op} dyn(${b})`),
      fc.tuple(tie('bool'), fc.constantFrom('&&', '||'), tie('bool')).map((t) => `(${t.join(' ')})`),
      tie('bool').map((b) => `!(${b})`),
      tie('value').map((v) => `supported(${v})`),
      tie('bool').map((b) => `prior.exists(p, p.name == "x" && ${b})`),
      tie('bool').map((b) => `prior.all(q, ${b})`),
    ),
  }));

  it('expressions as a model writes them compile or are refused, and evaluate to a verdict', () => {
    let compiled = 0;
    fc.assert(
      fc.property(bool.map(String), (assertion) => {
        if (compileExpression(assertion, 'call').ok) compiled += 1;
        const set = admitConstraints([constraint(assertion)], 'dynamic');
        for (const entry of runConstraints(set.accepted, small).entries)
          expect(known).toContain(entry.verdict);
      }),
      { numRuns: 2_000 },
    );
    expect(compiled).toBeGreaterThan(200);
  });
});
