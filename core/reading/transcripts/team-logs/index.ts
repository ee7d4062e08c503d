import { ag2 } from './ag2.ts';
import { appworld } from './appworld.ts';
import { chatdev } from './chatdev.ts';
import type { TeamLogFormat } from './entry.ts';
import { hyperagent } from './hyperagent.ts';
import { magentic } from './magentic.ts';
import { metagpt } from './metagpt.ts';
import { openmanus } from './openmanus.ts';

/** Text logs of multi-agent frameworks. Told by their text: one framework has had several shapes. */
export const TEAM_LOGS: readonly TeamLogFormat[] = [
  chatdev,
  metagpt,
  hyperagent,
  appworld,
  magentic,
  openmanus,
  ag2,
];
