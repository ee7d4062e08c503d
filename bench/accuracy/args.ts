import { parseArgs } from 'node:util';
import * as z from 'zod';
import { PROTOCOLS } from '../../core/diagnosis/protocols.ts';
import { DEPTHS } from '../../core/diagnosis/schema.ts';

export const USAGE = `usage: rootspan bench accuracy --dataset agentrx|whowhen|labels --path DIR
  --model SPEC        none (default), bedrock:…, openai:…@…, batch:DIR, replay:DIR
  --depth DEPTH       ${DEPTHS.join(' | ')} (default standard)
  --votes N           votes of the judge (default 1)
  --protocol NAME     ${PROTOCOLS.join(' | ')} (default ${PROTOCOLS[0]})
  --synthesis HOW     one-shot (default) | step-by-step, at depth deep
  --constraints FILE  constraints of your own, asked at every depth
  --confidence WORD   low (default) | medium | high
  --repeats N         diagnose each session N times and measure agreement (default 1)
  --no-assume-failed  do not tell the judge that the labelled runs failed (published figures do)
  --with-reference    give the judge the expected actions where the data has them: another game, labelled so
  --concurrency N     sessions at once (default 4; with batch: all)
  --limit N           only the first N runs of each group, for a look
  --out DIR           results as JSON and SVG (default bench-results)
  --docs FILE         also put the table into this page, e.g. docs/benchmarks.md
  --resume            go on from an interrupted run with the same settings in --out`;

const argsSchema = z.object({
  dataset: z.enum(['agentrx', 'whowhen', 'labels']),
  path: z.string(),
  model: z.string().default('none'),
  depth: z.enum(DEPTHS).default('standard'),
  votes: z.coerce.number().int().min(1).max(25).default(1),
  protocol: z.enum(PROTOCOLS).default(PROTOCOLS[0]),
  synthesis: z.enum(['one-shot', 'step-by-step']).default('one-shot'),
  constraints: z.string().optional(),
  confidence: z.enum(['low', 'medium', 'high']).default('low'),
  repeats: z.coerce.number().int().min(1).max(25).default(1),
  'no-assume-failed': z.boolean().default(false),
  'with-reference': z.boolean().default(false),
  concurrency: z.coerce.number().int().min(1).optional(),
  limit: z.coerce.number().int().min(1).optional(),
  out: z.string().default('bench-results'),
  docs: z.string().optional(),
  resume: z.boolean().default(false),
});
export type AccuracyArgs = z.infer<typeof argsSchema>;

/** The arguments, or what is wrong with them. */
export function readAccuracyArgs(argv: readonly string[]): AccuracyArgs | { readonly wrong: string } {
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    const { values } = parseArgs({
      args: [...argv],
      options: {
        dataset: text,
        path: text,
        model: text,
        depth: text,
        votes: text,
        protocol: text,
        synthesis: text,
        constraints: text,
        confidence: text,
        repeats: text,
        'no-assume-failed': flag,
        'with-reference': flag,
        concurrency: text,
        limit: text,
        out: text,
        docs: text,
        resume: flag,
      },
    });
    const parsed = argsSchema.safeParse(values);
    return parsed.success ? parsed.data : { wrong: z.prettifyError(parsed.error) };
  } catch (error) {
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

/** What was measured, in a few words: names files, sections and marks of pictures. Defaults go without saying. */
export function configurationOf(args: AccuracyArgs): string {
  return [
    args.model,
    args.depth,
    ...(args.votes === 1 ? [] : [`${args.votes} votes`]),
    ...(args.protocol === PROTOCOLS[0] ? [] : [args.protocol]),
    ...(args.synthesis === 'one-shot' ? [] : [args.synthesis]),
    ...(args.constraints === undefined ? [] : [`constraints ${args.constraints}`]),
    ...(args.confidence === 'low' ? [] : [`confidence ${args.confidence}`]),
    ...(args['no-assume-failed'] ? ['not told'] : []),
    ...(args['with-reference'] ? ['with reference'] : []),
    ...(args.limit === undefined ? [] : [`first ${args.limit}`]),
  ].join(', ');
}
