import { type Compiled, type Language, makeLanguage } from '../cel/language.ts';
import { FUNCTIONS } from './functions.ts';

/** Scopes by what a constraint is asked about; each sees only what had happened by then. */
export type Scope = 'call' | 'step' | 'session';

const Call = {
  id: 'string',
  name: 'string',
  args: 'map<string, dyn>',
  step: 'int',
  agent: 'string',
  result: 'string',
  hasResult: 'bool',
  json: 'dyn',
  failed: 'bool',
};

const Step = {
  index: 'int',
  position: 'int',
  kind: 'string',
  role: 'string',
  agent: 'string',
  text: 'string',
  calls: 'list<Call>',
  results: 'list<Call>',
  first: 'bool',
  last: 'bool',
};

const Session = { goal: 'string', policy: 'string', tools: 'list<string>' };

/** Only a constraint on the whole session may see its end. */
const WholeSession = { ...Session, steps: 'int', answer: 'string', calls: 'list<Call>' };

const ALWAYS = { session: 'Session', userTurns: 'list<string>' };
const AT_A_STEP = { ...ALWAYS, step: 'Step', earlier: 'list<Step>', prior: 'list<Call>' };

const languages: Readonly<Record<Scope, Language>> = {
  session: makeLanguage({
    types: { Call, Step, Session: WholeSession },
    variables: ALWAYS,
    functions: FUNCTIONS,
  }),
  step: makeLanguage({ types: { Call, Step, Session }, variables: AT_A_STEP, functions: FUNCTIONS }),
  call: makeLanguage({
    types: { Call, Step, Session },
    variables: { ...AT_A_STEP, call: 'Call' },
    functions: FUNCTIONS,
  }),
};

/** Parses and type-checks an expression of a constraint. Never throws. */
export function compileExpression(source: string, scope: Scope): Compiled {
  return languages[scope].compile(source);
}
