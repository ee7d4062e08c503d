/** What the figures of docs/benchmarks.md are and are not; the page carries it above all tables. */
export const PAGE_SCOPE = `**What these figures are, and what is not claimed.**

- **Accuracy is of the development half.** The checks and rules were written and tuned on the very runs that are measured
  here, so these figures say how well they fit that half; they are no forecast for other sessions. The other half of the
  public data was held out: it was not at hand when the rules were written, and no figure here is of it.
- **No language model was available.** Every accuracy figure here is of \`--model none\`: rules and checks alone. Figures of
  Rootspan with a model (accuracy, cost, latency, agreement of repeated runs) are absent, and nothing is claimed about
  them.
- **Published figures** are of the full sets and of systems with a model. They stand beside ours for orientation, not for
  comparison to the decimal. Runs are told to be failed ones, as in all published work; without that
  (\`--no-assume-failed\`) fewer runs get an answer.
- **Tokens** are counted with o200k_base over the prompts that are really built; where a prompt depends on an answer, a
  stub answered. Other models' tokenizers count differently.
- **Speed** is of the machine named at each table, with the load it was under: the mean number of processes that ran or
  waited for a core in the last minute. Above the number of cores, wall time is partly the neighbours'; CPU time is
  given wherever the work is our own, and it too grows when a core is shared.
- **No AWS account was used.** The state machine ran under a local interpreter over local stores, model calls were stubs
  of a fixed latency, cold imports are of the machine named and not of a Lambda. Latency and limits of Lambda, Step
  Functions, S3, DynamoDB and Bedrock are in none of these figures.`;
