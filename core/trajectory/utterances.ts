import { isRequestReport, reportedExitCode } from './execution-report.ts';
import type { Part, Step, Trajectory } from './trajectory.ts';

/**
 * Who is speaking: a person, an agent, something that runs what agents ask for (a tool, a code executor), or the
 * set-up. Logs of group chats give every participant the role `user` or `assistant`, so the name decides there.
 */
export type Voice = 'human' | 'agent' | 'executor' | 'system';

export interface Utterance {
  readonly step: Step;
  readonly voice: Voice;
  readonly speaker: string | null;
  readonly text: string;
  readonly reasoning: boolean;
}

const HUMAN_NAMES = new Set(['user', 'human', 'customer', 'client', 'end_user', 'end user']);
const FENCE = '```';

/**
 * Every text of the session in order, with its voice. Empty texts are kept: an empty answer is a fact too.
 * Linear in the size of the session; remembered per trajectory, since every check reads it.
 */
export function readUtterances(trajectory: Trajectory): readonly Utterance[] {
  const known = cache.get(trajectory);
  if (known !== undefined) return known;
  const executors = executorNames(trajectory);
  const utterances: Utterance[] = [];
  for (const step of trajectory.steps) {
    for (const part of step.parts) {
      const text = textOf(part);
      if (text === null) continue;
      const voice = voiceOf(part, text, executors);
      const speaker = part.speaker ?? (voice === 'agent' ? step.agent : null);
      utterances.push({ step, voice, speaker, text, reasoning: isThought(part) });
    }
  }
  cache.set(trajectory, utterances);
  return utterances;
}

const cache = new WeakMap<Trajectory, readonly Utterance[]>();

/**
 * Whether the text was said when its step began. The answer of an agent span stands at the step where the span
 * starts, before all that was done to find it.
 */
export function saidInOrder({ voice, step }: Utterance): boolean {
  return voice !== 'agent' || step.kind !== 'invoke_agent';
}

/** What agents say aloud, in order. */
export function agentSpeech(trajectory: Trajectory): readonly Utterance[] {
  return readUtterances(trajectory).filter(
    (utterance) => utterance.voice === 'agent' && !utterance.reasoning,
  );
}

/** Reasoning of a model, or a note that an agent of a group chat makes to itself: "Planner (thought)". */
function isThought(part: Part): boolean {
  return (
    part.block.type === 'reasoning' ||
    /\((?:thought|thinking|internal|reasoning)\)$/i.test(part.speaker ?? '')
  );
}

function textOf(part: Part): string | null {
  switch (part.block.type) {
    case 'text':
    case 'reasoning':
      return part.block.text;
    case 'tool_result':
      return part.block.content;
    case 'tool_use':
    case 'media':
      return null;
  }
}

/** A participant that reports exit codes and never writes code itself only runs what others wrote. */
function executorNames(trajectory: Trajectory): ReadonlySet<string> {
  const reporting = new Set<string>();
  const writing = new Set<string>();
  for (const step of trajectory.steps) {
    for (const { speaker, block } of step.parts) {
      if (speaker === null || block.type !== 'text') continue;
      if (reportedExitCode(block.text) !== null) reporting.add(speaker);
      else if (block.text.includes(FENCE)) writing.add(speaker);
    }
  }
  for (const name of writing) reporting.delete(name);
  return reporting;
}

function voiceOf(part: Part, text: string, executors: ReadonlySet<string>): Voice {
  if (part.role === 'system') return 'system';
  if (part.role === 'tool' || part.block.type === 'tool_result') return 'executor';
  if (part.speaker !== null && executors.has(part.speaker)) return 'executor';
  if (reportedExitCode(text) !== null || isRequestReport(text)) return 'executor';
  if (part.role === 'assistant') return 'agent';
  return part.speaker === null || HUMAN_NAMES.has(part.speaker.toLowerCase()) ? 'human' : 'agent';
}
