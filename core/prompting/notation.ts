/** How `core/prompting/render-steps.ts` and `core/planning/chunk-header.ts` write a run, for those who read it. */
export const RUN_NOTATION = `## How the run is written
The run is a sequence of spans in order. A span is one thing that happened: a message, a model call, a tool call with
its result, the run of an agent. Its first line is "@id what who [notes]: text", for instance "@s12 tool search
{"q":"x"} [error]: no match"; here s12 is the id, and the only name you may use for the span. Lines that begin with @
and a word belong to the span above them: @call is a tool call that a model asked for, @result a result that came with
a message, @thinking what a model thought, @error what the telemetry says went wrong. Notes in brackets are the
recorder's: "error", "no result", "took 40 s" speak of the run, others ("missing-parent", "content-truncated") only of
the recording and are no fault of the agent. No other text can begin a line in this way. Repeated history is shown
once, where it first appeared. Before the first span may stand @part (which spans of the run are shown), @goal (what the
user wants; the agent saw only what the spans show), @system (the agent's instructions), @tools, @before (a count of what
came before the first span shown) and @earlier (excerpts of earlier spans that the spans shown go back to). A @turn line
between spans says that the user's next request begins there.`;
