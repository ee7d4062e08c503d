import { unescapeText } from '../../core/prompting/render-text.ts';

/** Reads a rendering back, to prove that nothing is lost in it and that no text can break out of its place. */
export interface ReadStep {
  alias: string;
  word: string;
  name: string | null;
  call: string | null;
  notes: string[];
  text: string | null;
  parts: { word: string; rest: string; notes: string[]; text: string | null }[];
}

const NAME = /^(?:"(?:[^"\\]|\\.)*"|[^[:{"]*?)(?= \[| \{| raw | "| -?\d| (?:true|false|null)|: |:$|$|, )/s;

export function readRendering(text: string): ReadStep[] {
  const steps: ReadStep[] = [];
  if (text === '') return steps;
  for (const chunk of text.split(/\n(?=@[a-z])/)) {
    const head = /^@([a-z]\d+) ([a-z]+)/.exec(chunk);
    if (head !== null) {
      const { first, notes, body } = headLine(chunk.slice(head[0].length));
      const { name, call } = nameAndCall(first);
      steps.push({ alias: head[1]!, word: head[2]!, name, call, notes, text: body, parts: [] });
      continue;
    }
    const part = /^@([a-z]+)/.exec(chunk);
    const step = steps.at(-1);
    if (part === null || step === undefined) throw new Error(`not a line of ours: ${JSON.stringify(chunk)}`);
    const { first, notes, body } = headLine(chunk.slice(part[0].length));
    step.parts.push({ word: part[1]!, rest: first, notes, text: body });
  }
  return steps;
}

/** Splits ` name {json} [notes]: text` from the left, JSON strings as wholes. */
function headLine(line: string): { first: string; notes: string[]; body: string | null } {
  const token = /"(?:[^"\\]|\\.)*"|: ?|[^":]/gsy;
  let at = 0;
  let depth = 0;
  for (;;) {
    token.lastIndex = at;
    const match = token.exec(line);
    if (match === null) break;
    if (match[0] === '{' || match[0] === '[') depth++;
    if (match[0] === '}' || match[0] === ']') depth--;
    if (match[0].startsWith(':') && depth === 0) break;
    at += match[0].length;
  }
  const before = line.slice(0, at);
  const body = at < line.length ? unescapeText(line.slice(at).replace(/^: ?/, '')) : null;
  const notes = / \[(?!(?:null|true|false)\b)([a-z](?:"(?:[^"\\]|\\.)*"|[^[\]"{}])*)\]$/.exec(before);
  return notes === null
    ? { first: before, notes: [], body }
    : { first: before.slice(0, -notes[0].length), notes: notes[1]!.split('; '), body };
}

export function nameAndCall(first: string): { name: string | null; call: string | null } {
  if (first === '') return { name: null, call: null };
  const rest = first.slice(1);
  const match = NAME.exec(rest);
  const raw = match?.[0] ?? rest;
  const call = rest.slice(raw.length).trim();
  return { name: raw.startsWith('"') ? JSON.parse(raw) : raw, call: call === '' ? null : call };
}
