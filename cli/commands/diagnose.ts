import { readFile } from 'node:fs/promises';
import { loadConstraints } from '../../core/constraints/read-constraints.ts';
import { ErrorName } from '../../core/contracts/error-names.ts';
import { RootspanError } from '../../core/contracts/errors.ts';
import { CATEGORY_IDS } from '../../core/detection/taxonomy.ts';
import { type ConfidenceWord, DEFAULT_OPTIONS, type DiagnosisOptions } from '../../core/diagnosis/options.ts';
import type { Depth, Diagnosis } from '../../core/diagnosis/schema.ts';
import { categoryMatches, ExitCode, verdict, worstExitCode } from '../../core/diagnosis/verdict.ts';
import { readExpectedActions } from '../../core/judge/expected-actions.ts';
import type { Protocol } from '../../core/judge/protocols.ts';
import { diagnose } from '../../core/pipeline.ts';
import type { Session } from '../../core/session/model.ts';
import { renderTerminal } from '../../report/terminal.ts';
import { openStore, pipelineDeps } from '../deps.ts';
import { explainError, UsageError } from '../errors.ts';
import { type CliIo, palette, progress, readInput } from '../io.ts';
import { readSessionFiles } from '../read-sessions.ts';
import { trialSessions } from './constraints.ts';

export interface DiagnoseFlags {
  readonly model: string;
  readonly depth: Depth;
  readonly confidence: ConfidenceWord;
  readonly json?: boolean;
  readonly store: string;
  readonly failOn?: readonly string[];
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
}

/** One session that could not be diagnosed must not hide the others: its error is said, and the worst code wins. */
export async function diagnoseCommand(
  files: readonly string[],
  flags: DiagnoseFlags,
  io: CliIo,
): Promise<number> {
  const failOn = checkCategories(flags.failOn ?? []);
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
  const { sessions, failedInputs } = await readSessionFiles(files, io);
  const chosen = chooseSessions(sessions, flags.session);
  const asJson = flags.json ?? !io.outIsTerminal;
  const store = await openStore(flags.store);
  const codes: ExitCode[] = failedInputs > 0 ? [ExitCode.Usage] : [];
  const report = progress(io);
  try {
    const deps = await pipelineDeps(flags.model, store, io);
    let waiting = 0;
    for (const [index, session] of chosen.entries()) {
      const label =
        chosen.length === 1 ? session.sessionId : `${index + 1}/${chosen.length} ${session.sessionId}`;
      try {
        const fresh = await diagnose(session, options, {
          ...deps,
          healthy,
          onProgress: ({ stage, done, total }) => report(`${label}: ${stage} ${done}/${total}`),
        });
        const stored =
          store === null ? fresh : { ...fresh, version: (await store.diagnoses.put(fresh)).version };
        report('');
        print(stored, asJson, failOn, io);
        const { exitCode } = verdict(stored, { failOn });
        codes.push(flags.exitZero === true && exitCode !== ExitCode.Runtime ? ExitCode.Clean : exitCode);
      } catch (error) {
        report('');
        // All sessions get the chance to write their open requests into the same batch round.
        if (error instanceof RootspanError && error.name === ErrorName.ModelPending) {
          waiting += 1;
          codes.push(ExitCode.Waiting);
          continue;
        }
        const { text, exitCode } = explainError(error);
        io.err(`rootspan: ${session.sessionId}: ${text}\n`);
        codes.push(exitCode);
      }
    }
    if (waiting > 0) {
      io.err(
        `rootspan: waiting: ${waiting} of ${chosen.length} sessions have open requests in ${flags.model.replace(/^batch:/, '')}/requests.jsonl; ` +
          'put the answers into responses.jsonl beside it and run the same command again\n',
      );
    }
  } finally {
    await store?.close();
  }
  return worstExitCode(codes);
}

function print(diagnosis: Diagnosis, asJson: boolean, failOn: readonly string[], io: CliIo): void {
  // Several sessions give several JSON values, one after the other: what jq reads as a stream.
  if (asJson) io.out(`${JSON.stringify(diagnosis, null, 2)}\n`);
  else
    io.out(
      renderTerminal(diagnosis, {
        palette: palette(io),
        width: Math.min(io.columns, 120),
        policy: { failOn },
      }),
    );
}

function chooseSessions(sessions: readonly Session[], wanted: string | undefined): readonly Session[] {
  if (wanted === undefined) return sessions;
  const chosen = sessions.filter((session) => session.sessionId === wanted);
  if (chosen.length > 0) return chosen;
  const known = sessions.slice(0, 5).map((session) => session.sessionId);
  throw new UsageError(
    `no session "${wanted}" in the input; it has ${known.join(', ')}${sessions.length > 5 ? ', …' : ''}`,
  );
}

function checkCategories(wanted: readonly string[]): readonly string[] {
  for (const name of wanted) {
    if (!CATEGORY_IDS.some((id) => categoryMatches(id, name))) {
      throw new UsageError(
        `--fail-on: unknown category "${name}"; ids and parents are listed in docs/taxonomy.md`,
      );
    }
  }
  return wanted;
}

async function readGuidelines(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new UsageError(`--guidelines: cannot read ${file}`, { cause });
  }
}
