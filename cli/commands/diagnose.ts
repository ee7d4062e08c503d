import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { loadConstraints } from '../../core/constraints/read-constraints.ts';
import { type ConfidenceWord, DEFAULT_OPTIONS, type DiagnosisOptions } from '../../core/diagnosis/options.ts';
import type { Protocol } from '../../core/diagnosis/protocols.ts';
import type { Depth, Diagnosis } from '../../core/diagnosis/schema.ts';
import { readExpectedActions } from '../../core/explanation/critical-step/by-reference.ts';
import type { Session } from '../../core/session/session.ts';
import { safeLine } from '../../report/escape.ts';
import { type OpenStore, openStore } from '../shell/deps.ts';
import { diagnoseAll } from '../shell/diagnose-all.ts';
import { UsageError } from '../shell/errors.ts';
import { worstExitCode } from '../shell/exit-codes.ts';
import { type CliIo, readInput } from '../shell/io.ts';
import { nameSessions } from '../shell/name-sessions.ts';
import { openInBrowser } from '../shell/open-in-browser.ts';
import type { OutputFlags } from '../shell/output-format.ts';
import { readSessionFiles } from '../shell/read-sessions.ts';
import { pageOf, sessionReport } from '../shell/session-report.ts';
import { policyOf, type VerdictFlags } from '../shell/verdict-policy.ts';
import { writeResult } from '../shell/write-result.ts';
import { trialSessions } from './constraints.ts';

export interface DiagnoseFlags extends VerdictFlags, OutputFlags {
  readonly model: string;
  readonly record?: string;
  readonly depth: Depth;
  readonly confidence: ConfidenceWord;
  readonly store: string;
  readonly exitZero?: boolean;
  readonly votes: number;
  readonly guidelines?: string;
  readonly constraints?: string;
  readonly healthy?: readonly string[];
  readonly synthesis: 'one-shot' | 'step-by-step';
  readonly deepWhen: 'always' | 'on-findings';
  readonly protocol: Protocol;
  readonly expected?: string;
  readonly assumeFailed?: boolean;
  readonly session?: string;
  readonly concurrency?: number;
  readonly open?: boolean;
}

export async function diagnoseCommand(
  files: readonly string[],
  flags: DiagnoseFlags,
  io: CliIo,
): Promise<number> {
  const policy = policyOf(flags);
  const options: DiagnosisOptions = {
    ...DEFAULT_OPTIONS,
    depth: flags.depth,
    confidence: flags.confidence,
    votes: flags.votes,
    assumeFailed: flags.assumeFailed ?? false,
    ...(flags.depth === 'deep' ? { synthesis: flags.synthesis, deepRule: flags.deepWhen } : {}),
    ...(flags.protocol === 'all-at-once' ? {} : { protocol: flags.protocol }),
    ...(flags.constraints === undefined
      ? {}
      : {
          constraints: loadConstraints(await readInput(flags.constraints, io), flags.constraints),
        }),
    ...(flags.expected === undefined
      ? {}
      : {
          expectedActions: readExpectedActions(await readInput(flags.expected, io), flags.expected),
        }),
    ...(flags.guidelines === undefined ? {} : { guidelines: await readGuidelines(flags.guidelines) }),
  };
  const healthy = await trialSessions(flags.healthy, 'healthy', io);
  const { sessions, codes: ofReading } = await readSessionFiles(files, io);
  const store = await openStore(flags.store);
  try {
    const named = await nameSessions(sessions, store?.objects ?? null, io);
    const chosen = chooseSessions(named, flags.session);
    const tasks = chosen.map((session) => ({ sessionId: session.sessionId, load: async () => session }));
    const diagnosed: Diagnosis[] = [];
    const onDiagnosis = (diagnosis: Diagnosis): void => {
      if (flags.open === true) diagnosed.push(diagnosis);
    };
    const codes = await diagnoseAll(tasks, options, { ...flags, policy, healthy, onDiagnosis }, store, io);
    if (diagnosed.length > 0) await openReport(diagnosed, flags.store, store, io);
    return worstExitCode([...ofReading, ...codes]);
  } finally {
    await store?.close();
  }
}

async function openReport(
  diagnoses: readonly Diagnosis[],
  where: string,
  store: OpenStore | null,
  io: CliIo,
): Promise<void> {
  const file = pageOf(where, diagnoses.length === 1 ? (diagnoses[0]?.sessionId ?? '') : 'report');
  await mkdir(path.dirname(file), { recursive: true });
  await writeResult(await sessionReport(diagnoses, store), file, io);
  await openInBrowser(file, io);
}

function chooseSessions(sessions: readonly Session[], wanted: string | undefined): readonly Session[] {
  if (wanted === undefined) return sessions;
  const chosen = sessions.filter((session) => session.sessionId === wanted);
  if (chosen.length > 0) return chosen;
  const known = sessions.slice(0, 5).map((session) => safeLine(session.sessionId, 100));
  throw new UsageError(
    `no session "${wanted}" in the input; it has ${known.join(', ')}${sessions.length > 5 ? ', …' : ''}`,
  );
}

async function readGuidelines(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`--guidelines: cannot read ${file}`, { cause });
  }
}
