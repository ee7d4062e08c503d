import type { StepView } from '../html/session-view.ts';

export const KIND_NAMES: Readonly<Record<StepView['kind'], string>> = {
  inference: 'model',
  execute_tool: 'tool',
  invoke_agent: 'agent',
  message: 'message',
  other: 'other',
};

export const stepTitle = ({ position, agent, name }: StepView): string =>
  `step ${position} · ${agent === null || name.startsWith(agent) ? name : `${agent}, ${name}`}`;

/** The first words of a step, on one line. */
export function excerpt({ parts, errors }: StepView, limit = 180): string {
  const part = parts.find(({ role }) => role !== 'system') ?? parts[0];
  if (part === undefined) return errors[0] ?? '';
  const text = part.text
    .slice(0, limit * 3)
    .replace(/\s+/gu, ' ')
    .trim();
  const lead = part.kind === 'call' ? `${part.name ?? 'call'} ` : '';
  const line = lead + text;
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}

export function duration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

export const count = (n: number): string => n.toLocaleString('en');

export const usd = (cost: number | null): string =>
  cost === null ? 'no price on file' : cost === 0 ? 'USD 0' : `USD ${cost.toFixed(cost < 0.1 ? 4 : 2)}`;

export const plainWords = (constant: string): string => constant.replaceAll('_', ' ').toLowerCase();
