import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Examples too large to keep: the same bytes at every run.
 *
 *     node examples/generate.ts DIR
 *
 * `stocktake-long` is too long for one call of a model with a window of 200,000 tokens; `log-review-oversized` has a
 * single span that does not fit one chunk of such a model.
 */
export const GENERATED = {
  'stocktake-long': stocktakeLong,
  'log-review-oversized': logReviewOversized,
} as const;

const BINS = 520;
const LOG_LINES = 5200;

/** Park and Miller's generator: enough for figures that look counted. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

interface Message {
  role: string;
  content: string | null;
  [key: string]: unknown;
}

const ask = (id: string, name: string, args: object): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
});
const answer = (id: string, name: string, result: object): Message => ({
  role: 'tool',
  tool_call_id: id,
  name,
  content: JSON.stringify(result),
});
const tool = (name: string, description: string, properties: object) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: {
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    },
  },
});

/** 520 bins are counted without trouble; then the report times out, and the agent says that it was sent. */
function stocktakeLong(): object {
  const next = numbers(20260501);
  const messages: Message[] = [
    {
      role: 'system',
      content:
        'You take stock of warehouse N4. Read every bin from 1 on, then send the report with submit_report. The stocktake is finished when submit_report returns a receipt.',
    },
    { role: 'user', content: `Please take stock of bins 1 to ${BINS} and send the report.` },
  ];
  let pieces = 0;
  for (let bin = 1; bin <= BINS; bin += 1) {
    const articles = Array.from({ length: 9 }, (_, row) => {
      const counted = 3 + next(90);
      pieces += counted;
      return {
        article: `${String.fromCharCode(65 + next(26))}${String.fromCharCode(65 + next(26))}-${10_000 + next(90_000)}`,
        shelf: `${bin}.${row + 1}`,
        counted,
        weight_g: 40 + next(4000),
      };
    });
    messages.push(
      ask(`bin-${bin}`, 'read_bin', { bin }),
      answer(`bin-${bin}`, 'read_bin', { bin, state: 'read', articles }),
    );
  }
  messages.push(
    ask('report', 'submit_report', { bins: BINS, pieces }),
    answer('report', 'submit_report', {
      error: '504 Gateway Timeout: the report service did not answer in 60 s',
    }),
    { role: 'assistant', content: 'The stocktake is finished and the report has been sent.' },
  );
  return {
    session_id: 'stocktake-long',
    agent: 'stocktaker',
    tools: [
      tool('read_bin', 'Counts of one bin.', { bin: { type: 'integer', minimum: 1 } }),
      tool('submit_report', 'Sends the report and returns a receipt.', {
        bins: { type: 'integer' },
        pieces: { type: 'integer' },
      }),
    ],
    messages,
  };
}

/** One tool result of some 450 KB; the disk fills up in the middle of it, and the agent overlooks that. */
function logReviewOversized(): object {
  const next = numbers(77);
  const lines = Array.from({ length: LOG_LINES }, (_, n) => {
    const time = new Date(Date.UTC(2026, 3, 2, 0, 0, n * 7)).toISOString();
    return n === Math.floor(LOG_LINES / 2)
      ? `${time} writer-2 batch ${90_000 + n} dropped, volume /data has 0 bytes left`
      : `${time} writer-${1 + next(4)} batch ${90_000 + n} stored, ${200 + next(800)} rows, ${1 + next(900)} ms, shard ${next(64)}`;
  });
  return {
    session_id: 'log-review-oversized',
    agent: 'log-reviewer',
    tools: [
      tool('fetch_log', 'The whole log of one service on one day.', {
        service: { type: 'string' },
        day: { type: 'string' },
      }),
    ],
    messages: [
      { role: 'system', content: 'You review logs. Report every batch that was not stored.' },
      { role: 'user', content: 'Was every batch of the writer service stored on 2 April 2026?' },
      ask('log', 'fetch_log', { service: 'writer', day: '2026-04-02' }),
      { role: 'tool', tool_call_id: 'log', name: 'fetch_log', content: lines.join('\n') },
      { role: 'assistant', content: 'Yes, every batch of that day was stored.' },
    ] satisfies Message[],
  };
}

const [, script, folder] = process.argv;
if (script !== undefined && path.resolve(script) === import.meta.filename) {
  if (folder === undefined) {
    process.stderr.write('usage: node examples/generate.ts DIR\n');
    process.exitCode = 2;
  } else {
    mkdirSync(folder, { recursive: true });
    for (const [name, make] of Object.entries(GENERATED)) {
      writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify(make())}\n`);
    }
  }
}
