import type { Group } from '../datasets/labelled-run.ts';

/** A figure from the literature, in percent, on the full public set (ours is on whatever folder was given). */
export interface PublishedFigure {
  readonly what: string;
  readonly step: number;
  readonly category: number | null;
}

/** arXiv 2602.02475 v1, tables 5 and 6; Who&When paper, table 1; AgenTracer, table 1; A2P and FALAT abstracts. */
export const PUBLISHED: Readonly<Record<Group, readonly PublishedFigure[]>> = {
  tau: [
    { what: 'plain LLM judge (GPT-5)', step: 32.2, category: 25.3 },
    { what: 'AgentRx default (GPT-5)', step: 48.3, category: 39.1 },
    { what: 'AgentRx best variant (GPT-5)', step: 54.0, category: 40.2 },
  ],
  magentic: [
    { what: 'plain LLM judge (GPT-5)', step: 31.8, category: 36.3 },
    { what: 'AgentRx default (GPT-5)', step: 24.2, category: 25.0 },
    { what: 'AgentRx best variant (GPT-5)', step: 31.8, category: 37.1 },
    { what: 'two human teams agree', step: 36.4, category: null },
  ],
  'hand-crafted': [
    { what: 'Who&When best GPT-4o, answer not shown', step: 8.8, category: null },
    { what: 'Claude Sonnet 4 all-at-once, answer not shown', step: 19.0, category: null },
    { what: 'best published (about)', step: 29, category: null },
  ],
  'algorithm-generated': [
    { what: 'Who&When best GPT-4o, answer not shown', step: 16.6, category: null },
    { what: 'Claude Sonnet 4 all-at-once, answer not shown', step: 38.8, category: null },
    { what: 'best published (about)', step: 47, category: null },
  ],
  labels: [],
  own: [],
};
