import { isJsonObject } from '../../base/json.ts';
import type { Failure } from '../../diagnosis/schema.ts';
import { onOneLine } from '../../prompting/untrusted.ts';
import type { Step, Trajectory } from '../../trajectory/trajectory.ts';
import { type Fix, usualFix } from './fixes.ts';

const NAME = 60;
const LINE = 120;
const MOST_PARAMETERS = 3;
const MOST_TOOLS = 8;

/**
 * The usual remedy, with what is to be changed in this agent: its tool and the parameters that the evidence names, or the
 * part of its instructions that the step went by. Says nothing of what the telemetry does not carry.
 */
export function fixFor(failure: Failure, trajectory: Trajectory): Fix {
  const fix = usualFix(failure);
  const step = trajectory.stepBySpan.get(failure.span_id);
  if (step === undefined) return fix;
  const tools = toolsOf(step, failure, trajectory);
  const place =
    fix.fixType === 'SYSTEM_PROMPT_FIX'
      ? inPrompt(step, tools, trajectory)
      : inTools(tools, failure, trajectory);
  return place === null ? fix : { ...fix, text: `${fix.text} Here: ${place}.` };
}

/** Tools that the step calls or has the result of; of several, those that the evidence names, if it names any. */
function toolsOf({ index }: Step, { evidence }: Failure, { exchanges }: Trajectory): readonly string[] {
  const all = exchanges
    .filter(({ callStep, resultStep }) => callStep === index || resultStep === index)
    .map(({ name }) => name);
  const named = all.filter((name) => evidence.some((text) => hasWord(text, name)));
  return [...new Set(named.length > 0 ? named : all)];
}

function inTools(tools: readonly string[], { evidence }: Failure, trajectory: Trajectory): string | null {
  const [tool, another] = tools;
  if (tool === undefined || another !== undefined) return null;
  const parameters = trajectory.tools.find(({ name }) => name === tool)?.parameters;
  const properties = isJsonObject(parameters) ? parameters.properties : undefined;
  const names = Object.keys(isJsonObject(properties) ? properties : {});
  // What is said of the fault goes before what it quotes: a quoted call names all of its parameters.
  const said = evidence.map((text) => text.split(' — "', 1)[0] ?? '');
  const [named = []] = [said, evidence]
    .map((texts) => names.filter((name) => texts.some((text) => hasWord(text, name))))
    .filter(({ length }) => length > 0);
  const of = `the tool ${shown(tool, NAME)}`;
  return named.length === 0
    ? of
    : `${named
        .slice(0, MOST_PARAMETERS)
        .map((name) => shown(name, NAME))
        .join(', ')} of ${of}`;
}

function inPrompt(step: Step, tools: readonly string[], trajectory: Trajectory): string | null {
  const prompt = promptOf(step, trajectory);
  const whose = step.agent === null ? 'the instructions' : `the instructions of ${shown(step.agent, NAME)}`;
  const unknown = tools.filter((name) => trajectory.tools.every((known) => known.name !== name));
  if (unknown.length > 0 && trajectory.tools.length > 0) {
    const names = trajectory.tools.slice(0, MOST_TOOLS).map(({ name }) => shown(name, NAME));
    const more = trajectory.tools.length - names.length;
    return `${whose}; its tools are ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  }
  if (prompt === null) return step.agent === null ? null : whose;
  const lines = prompt
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = lines.find((text) => tools.some((tool) => hasWord(text, tool)));
  return line === undefined
    ? `${whose}, which begin "${shown(lines[0] ?? '', LINE)}"`
    : `"${shown(line, LINE)}" in ${whose}`;
}

/** The instructions that the step went by: of the last model call of its agent up to it, else of the session. */
function promptOf(step: Step, { steps, systemPrompt }: Trajectory): string | null {
  for (let index = step.index; index >= 0; index--) {
    const { agent, span } = steps[index] ?? step;
    if (agent === step.agent && span.kind === 'inference' && span.systemPrompt !== undefined)
      return span.systemPrompt;
  }
  return systemPrompt;
}

function shown(text: string, length: number): string {
  const line = onOneLine(text);
  return line.length <= length ? line : `${line.slice(0, length).toWellFormed()}…`;
}

/** Whether the text has the name as a word of its own. */
function hasWord(text: string, name: string): boolean {
  if (name === '') return false;
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const around = `${text[at - 1] ?? ' '}${text[at + name.length] ?? ' '}`;
    if (!/[\w-]/u.test(around)) return true;
  }
  return false;
}
