/** What the figures of docs/benchmarks.md are and are not; the page carries it above all tables. */
export const PAGE_SCOPE = `**What these figures are, and what is not claimed.**

- **Accuracy is of the development half of the public data.** The rules of before were shaped on that half, and on the
  half that was held out they named the right step in 13 % of tau runs (the best constant step: 20 %), 20 % of Magentic
  (20 %), 10 % of Hand-Crafted (21 %) and 37 % of Algorithm-Generated (22 %), against 50, 29, 14 and 57 % on the half
  they were written on. They are gone. Now a step is named only where the record proves where the run was lost, which
  is seldom; on most failed runs none is named, and the figures here say so. Being told that a run failed changes
  nothing without a model.
- **Labelled sessions of our own** (28, in the table of checks): errors in results were written on one half and measured
  on the other, where 74 % were seen with their class at first and 2 of 24 lookalikes were taken for errors; what that
  showed was then mended by kind, so the table's figure is of sessions that have been looked at.
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
