import { FUNCTIONS } from './functions.ts';

const OWN = FUNCTIONS.map(
  ({ signature, meaning }) => `- ${signature.replaceAll('dyn', 'any')} — ${meaning}`,
).join('\n');

/** The constraint language on one page, for prompts. `docs/constraints.md` is the long form for people. */
export const LANGUAGE_CARD = `## The language of checks
Expressions are CEL. "each" says what a check is asked about, and with it which names exist:
- call: every tool call. Names: call, step, prior, earlier, userTurns, session.
- step: every step. Names: step, prior, earlier, userTurns, session.
- session: once, at the end. Names: session, userTurns.
"guard" says where the rule applies; "assertion" must then be true. Both give true or false.
Call: name, args (map), step (index), agent, result (text), hasResult, json (the result as JSON, null if it is prose), failed, id.
Step: index, role (user, assistant, tool, system), agent, text, calls, results (lists of Call), first, last.
session: goal, policy, tools (names); when each is session also steps (number), answer (last words of the agent), calls.
prior: calls before this one, oldest first. earlier: steps before this one. userTurns: texts of the user before this step.
Operators: == != < <= > >= && || ! + - * / % in ?: and x.all(v, …) x.exists(v, …) x.filter(v, …) x.map(v, …) has(call.args.a)
Text: t.contains(u) t.startsWith(u) t.endsWith(u) t.lowerAscii() t.matches("RE2 pattern") t.size() t.split(",") t.trim()
Conversion: int(x) double(x) string(x) size(x)
Functions:
${OWN}
- matches(string, string): bool — a regular expression (RE2 syntax) occurs in the text
Limits: an expression has at most 2,000 characters, a pattern at most 300. Loops may be nested; work is counted, so three
loops over the same long list stay undecided.
A step is one span of the run, named by its id. A call belongs to the step that asked for it (the message or the model's
span; the tool's own span where nothing else records the asking), its result to the step that brought it. In a tiny run
each turn is a step, a call and its result two; before them stands a step with the instructions alone, and one agent does
everything, so agents cannot be told apart there.
failed is true when the recorder marks the result as an error or the result reads as one. pick gives an empty list for a
path that is missing.
A fault is no violation: it leaves the place undecided. A field that is missing is a fault: ask has(call.args.x) in the guard first. Arguments and JSON have no known types: dyn
comparisons are fine. Names that are not listed here do not exist.
Example: guard call.name == "refund" && has(call.args.order_id), assertion
prior.exists(p, p.name == "get_order" && has(p.args.order_id) && sameId(p.args.order_id, call.args.order_id))`;
