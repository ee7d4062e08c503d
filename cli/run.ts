import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ISSUE_STATES } from '../core/diagnosis/issue.ts';
import { PROTOCOLS } from '../core/diagnosis/protocols.ts';
import { DEPTHS, OUTCOMES } from '../core/diagnosis/schema.ts';
import { ROOTSPAN_VERSION } from '../core/diagnosis/version.ts';
import { explainError } from './shell/errors.ts';
import { ExitCode } from './shell/exit-codes.ts';
import { FORMATS } from './shell/format-names.ts';
import type { CliIo } from './shell/io.ts';

const EXIT_CODES = `
Exit codes:
  0  CLEAN: no failure; FLAWED: failures, all put right or harmless (or --exit-zero)
  1  FAILED: a failure that nothing put right cost the goal
  2  wrong usage, or no input that could be read
  3  runtime error
  4  UNKNOWN: not everything was looked at, and no failure that cost the goal is known
  5  waiting for batch answers
`;

const MODELS = `
Models:
  none                          checks only; the result names what was not looked for
  bedrock:<model or profile>    Amazon Bedrock Converse, with your AWS credentials
  openai:<model>@<base URL>     any chat-completions server; key in OPENAI_API_KEY
  batch:<dir>                   Bedrock batch JSONL: writes requests.jsonl, reads responses.jsonl
  replay:<dir>                  recorded answers
`;

/**
 * Runs one command line. Returns the exit code and never throws: whatever goes wrong is said on `io.err`.
 * Commands are imported when they are called, so that `rootspan --help` loads no SDK.
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  let exitCode: number = ExitCode.Passed;
  const program = new Command('rootspan')
    .description(
      'Finds out why AI-agent sessions fail: which span, how, which step was the point of no return, why, and what to change.',
    )
    .version(ROOTSPAN_VERSION)
    .showSuggestionAfterError()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) })
    .addHelpText('after', EXIT_CODES + MODELS)
    .exitOverride();

  const model = (): Option =>
    new Option('-m, --model <spec>', 'which model to ask, see below').default('none');
  const store = (): Option =>
    new Option(
      '--store <where>',
      'a folder (SQLite), table:<table>@<bucket> (in your account: the output Store of the stack), or none',
    ).default('.rootspan');
  const json = (): Option =>
    new Option('--json', 'print JSON; the default when standard output is not a terminal');

  /** How results are written: `diagnose`, `ingest`, `show`, `list`. */
  const output = (command: Command): Command =>
    command
      .addOption(json())
      .addOption(
        new Option('-f, --format <format>', 'text for people; json for a pipe is the default there').choices(
          FORMATS,
        ),
      )
      .option('-o, --output <file>', 'write to a file; .html and .md say their format');
  /** Which of the stored diagnoses; what is given holds together. */
  const query = (command: Command): Command =>
    command
      .addOption(store())
      .option('--agent <name>', 'only of this agent')
      .option('--service <name>', 'only of this service')
      .addOption(new Option('--outcome <outcome>', 'only with this outcome').choices(OUTCOMES))
      .option('--category <id>', 'only with this failure category, or with one of this parent')
      .option('--issue <id>', 'only of this issue, as `rootspan issues` prints it')
      .option('--model <spec>', 'only diagnosed by this model')
      .option('--since <time>', 'not older than an ISO time, or an age such as 24h or 7d');

  /** What `diagnose` and `ingest` have in common: how to diagnose, and what to make of the result. */
  const diagnosing = (command: Command): Command =>
    output(command)
      .addOption(model())
      .addOption(
        new Option(
          '-d, --depth <depth>',
          'checks: no model; standard: detection, judge, root causes; deep: adds constraints and votes',
        )
          .choices(DEPTHS)
          .default('standard'),
      )
      .addOption(
        new Option('-c, --confidence <word>', 'drop findings below it')
          .choices(['low', 'medium', 'high'])
          .default('low'),
      )
      .option('--votes <n>', 'how often the judge votes', positiveInteger, 1)
      .option(
        '--concurrency <n>',
        "sessions, and calls of the model, at the same time; default: by the model's limits (16 for a service)",
        positiveInteger,
      )
      .addOption(store())
      .option(
        '--fail-on <what>',
        'comma-separated: "flawed" to exit 1 also for failures that were put right; categories or parents to exit 1 only for these',
        commaList,
      )
      .option(
        '--allow-partial',
        'exit 0 where no model was asked, by your choice, and the checks found nothing that stands',
      )
      .option('--exit-zero', 'exit 0 whatever is found; bad input and errors keep their codes')
      .addHelpText('after', MODELS);

  diagnosing(program.command('diagnose'))
    .description('diagnose sessions from files, or from standard input with "-"')
    .argument(
      '<file...>',
      'session or telemetry files, folders, globs, .zip, .gz; read together; see `rootspan formats`',
    )
    .option('--record <dir>', "write the model's answers down, for `--model replay:<dir>`")
    .option('--guidelines <file>', "text added to the detection prompt: your team's own rules")
    .option('--constraints <file>', "your team's constraints; see `rootspan constraints check`")
    .option('--healthy <file...>', 'sessions known to be good, to weigh constraints by')
    .addOption(
      new Option(
        '--synthesis <how>',
        'depth deep: constraints of the run by one call, or one a window of steps',
      )
        .choices(['one-shot', 'step-by-step'])
        .default('one-shot'),
    )
    .addOption(
      new Option(
        '--deep-when <rule>',
        'depth deep: ask a model for constraints always, or only if something was found',
      )
        .choices(['always', 'on-findings'])
        .default('always'),
    )
    .addOption(
      new Option('--protocol <name>', 'how the judge goes about it')
        .choices(PROTOCOLS)
        .default('all-at-once'),
    )
    .option('--expected <file>', 'the actions that the run should have taken: judges by them, as "reference"')
    .option('--assume-failed', 'the session is known to have failed: the judge must name a step')
    .option('--session <id>', 'only this session of the input')
    .option('--open', 'make the HTML report and open it')
    .action(async (files: string[], options) => {
      const { diagnoseCommand } = await import('./commands/diagnose.ts');
      exitCode = await diagnoseCommand(files, options, io);
    });

  program
    .command('constraints')
    .description('constraints of your team')
    .command('check')
    .description('compile a constraint file, run its examples, and count how often each fires; asks no model')
    .argument('<file>', 'YAML or JSON; see docs/constraints.md')
    .option('--against <file...>', 'sessions to try them on')
    .option('--healthy <file...>', 'sessions known to be good: what fires on them is a false alarm')
    .option('--failed <file...>', 'sessions known to have failed')
    .addOption(json())
    .action(async (file: string, options) => {
      const { constraintsCheckCommand } = await import('./commands/constraints.ts');
      exitCode = await constraintsCheckCommand(file, options, io);
    });

  diagnosing(program.command('ingest'))
    .description(
      'feed Lambda events, CloudWatch envelopes or lines of telemetry through the handlers of the deployed pipeline, and diagnose the sessions in them',
    )
    .argument(
      '[file...]',
      'files, folders, globs, archives, in the order of arrival; without files, goes on where the last run stopped',
    )
    .action(async (files: string[], options) => {
      const { ingestCommand } = await import('./commands/ingest.ts');
      exitCode = await ingestCommand(files, options, io);
    });

  program
    .command('fetch')
    .description('pull one session out of CloudWatch Logs, without a subscription; goes on after a break')
    .requiredOption('--log-group <name...>', 'names or ARNs, e.g. aws/spans and the log group of the agent')
    .requiredOption('--session-id <id>', 'as the producer names the session, or a trace id')
    .option('--since <time>', 'an ISO time, or an age such as 24h or 7d', '24h')
    .option('--until <time>', 'an ISO time, or an age')
    .requiredOption('-o, --out <file>', 'where the records go, one a line')
    .action(async (options) => {
      const { fetchCommand } = await import('./commands/fetch.ts');
      exitCode = await fetchCommand(options, io);
    });

  program
    .command('doctor')
    .description(
      'say what telemetry has for a diagnosis, what is missing, and which setting of the producer brings it',
    )
    .argument('<file or log group...>', 'looked at together: spans and their log records may lie apart')
    .addOption(json())
    .option('--since <time>', 'of a log group: not older than this', '1h')
    .action(async (targets: string[], options) => {
      const { doctorCommand } = await import('./commands/doctor.ts');
      exitCode = await doctorCommand(targets, options, io);
    });

  const quarantine = program.command('quarantine').description('what ingest could not read, and kept');
  quarantine
    .command('list')
    .description('what is there, oldest first, each with its reason')
    .addOption(store())
    .addOption(json())
    .option('--all', 'also what could be read since')
    .action(async (options) => {
      const { quarantineListCommand } = await import('./commands/quarantine.ts');
      exitCode = await quarantineListCommand(options, io);
    });
  quarantine
    .command('show')
    .description('the bytes of one item as they came')
    .argument('<id>', 'its id, or the start of one')
    .addOption(store())
    .addOption(json())
    .action(async (id: string, options) => {
      const { quarantineShowCommand } = await import('./commands/quarantine.ts');
      exitCode = await quarantineShowCommand(id, options, io);
    });
  quarantine
    .command('retry')
    .description('try to read all of it, or some, with the readers of this version')
    .argument('[id...]', 'ids, or starts of ids')
    .addOption(store())
    .action(async (ids: string[], options) => {
      const { quarantineRetryCommand } = await import('./commands/quarantine.ts');
      exitCode = await quarantineRetryCommand(ids, options, io);
    });

  output(query(program.command('list')))
    .description('list stored diagnoses, newest first')
    .option('-n, --limit <n>', 'how many', positiveInteger, 20)
    .action(async (options) => {
      const { listCommand } = await import('./commands/list.ts');
      exitCode = await listCommand(options, io);
    });

  query(program.command('top'))
    .description('what fails most: categories, causes and agents, each with a session to look at')
    .addOption(json())
    .option('-n, --limit <n>', 'rows of each table', positiveInteger, 5)
    .option('--of <n>', 'how many of the newest diagnoses are counted', positiveInteger, 1000)
    .action(async (options) => {
      const { topCommand } = await import('./commands/top.ts');
      exitCode = await topCommand(options, io);
    });

  const issues = program.command('issues').description('the same fault across sessions');
  issues
    .command('list', { isDefault: true })
    .description('what is open or came back, each with its sessions, trend and first release')
    .addOption(store())
    .addOption(json())
    .addOption(new Option('--state <state>', 'only in this state').choices(ISSUE_STATES))
    .option('--agent <name>', 'only of this agent')
    .option('-n, --limit <n>', 'how many', positiveInteger, 20)
    .action(async (options) => {
      const { issuesListCommand } = await import('./commands/issues.ts');
      exitCode = await issuesListCommand(options, io);
    });
  issues
    .command('show')
    .description('one issue by day and release; `rootspan list --issue <id>` lists its sessions')
    .argument('<issue>', 'its id')
    .addOption(store())
    .addOption(json())
    .action(async (id: string, options) => {
      const { issuesShowCommand } = await import('./commands/issues.ts');
      exitCode = await issuesShowCommand(id, options, io);
    });
  for (const [name, state, what] of [
    ['resolve', 'resolved', 'mark as put right: a session that ends later and shows it makes it regressed'],
    ['mute', 'muted', 'go on counting, and no longer bring it up'],
    ['reopen', 'open', 'take resolve or mute back'],
  ] as const)
    issues
      .command(name)
      .description(what)
      .argument('<issue>', 'its id')
      .addOption(store())
      .addOption(json())
      .action(async (id: string, options) => {
        const { issuesStateCommand } = await import('./commands/issues.ts');
        exitCode = await issuesStateCommand(id, state, options, io);
      });

  program
    .command('feedback')
    .description(
      'say of a failure whether it is one; what is rejected is left out of later diagnoses, by its issue',
    )
    .argument('<session>', 'session id, or the start of one')
    .argument('<failure>', 'its number as `rootspan show` counts, or its span id')
    .addArgument(new Argument('<word>', 'confirm or reject').choices(['confirm', 'reject']))
    .addOption(store())
    .option('--note <text>', 'why')
    .action(async (session: string, failure: string, word: 'confirm' | 'reject', options) => {
      const { feedbackCommand } = await import('./commands/feedback.ts');
      exitCode = await feedbackCommand(session, failure, word, options, io);
    });

  query(program.command('watch'))
    .description('print diagnoses as they come, until Ctrl-C')
    .addOption(json())
    .option('--interval <seconds>', 'between looks', positiveInteger, 2)
    .action(async (options) => {
      const { watchCommand } = await import('./commands/watch.ts');
      exitCode = await watchCommand(options, io);
    });

  output(program.command('show'))
    .description('show a stored diagnosis')
    .argument('<session>', 'session id, or the start of one')
    .addOption(store())
    .option('--version-number <n>', 'an older version', positiveInteger)
    .option('--versions', 'list the versions instead')
    .option('--log', 'show the validation log instead: what was checked at each step, and what could not be')
    .option('--context <n>', 'also so many steps before and after the critical one', positiveInteger)
    .action(async (session: string, options) => {
      const { showCommand } = await import('./commands/show.ts');
      exitCode = await showCommand(session, options, io);
    });

  program
    .command('compare')
    .description('two diagnoses: what is fixed, new, the same')
    .argument('<a>', 'session id, or <id>@<version>')
    .argument('<b>', 'the same')
    .addOption(store())
    .addOption(json())
    .action(async (a: string, b: string, options) => {
      const { compareCommand } = await import('./commands/compare.ts');
      exitCode = await compareCommand(a, b, options, io);
    });

  program
    .command('report')
    .description(
      'an HTML page, of sessions, or of everything since a time: one file, nothing loaded from elsewhere',
    )
    .argument('[session...]', 'session ids, or starts of them; without any, what happened since --since')
    .addOption(store())
    .option('--since <time>', 'of all sessions: not older than an ISO time, or an age such as 24h or 7d')
    .option('--agent <name>', 'of all sessions: only of this agent')
    .option(
      '-o, --output <file>',
      'where the page goes; rootspan-report.html when standard output is a terminal',
    )
    .option('--open', 'open it')
    .action(async (sessions: string[], options) => {
      const { reportCommand } = await import('./commands/report.ts');
      exitCode = await reportCommand(sessions, options, io);
    });

  program
    .command('estimate')
    .description('what a diagnosis would take: spans, tokens, chunks, USD; asks no model')
    .addHelpText('after', MODELS)
    .argument('<file...>', 'session or telemetry files')
    .addOption(model().default('bedrock:global.anthropic.claude-sonnet-4-6'))
    .addOption(json())
    .action(async (files: string[], options) => {
      const { estimateCommand } = await import('./commands/estimate.ts');
      exitCode = await estimateCommand(files, options, io);
    });

  program
    .command('formats')
    .description(
      'list the input formats: from which export or setting, checked on what, how each is recognised',
    )
    .addOption(json())
    .action(async (options) => {
      const { formatsCommand } = await import('./commands/formats.ts');
      exitCode = await formatsCommand(options, io);
    });

  program
    .command('bench')
    .description('measure accuracy on labelled sessions; `rootspan bench accuracy --help` says how')
    .argument('<name>', 'accuracy')
    .argument('[arguments...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (name: string, args: string[]) => {
      const { benchCommand } = await import('./commands/bench.ts');
      exitCode = await benchCommand(name, args, io);
    });

  try {
    await program.parseAsync([...argv], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.Passed : ExitCode.Usage;
    const { text, exitCode: code } = explainError(error);
    io.err(`rootspan: ${text}\n`);
    return code;
  }
}

function commaList(text: string): string[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.some((item) => item === '')) throw new InvalidArgumentError('expected names separated by commas');
  return items;
}

function positiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('expected a whole number of at least 1');
  return value;
}
