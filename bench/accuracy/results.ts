import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import { ROOTSPAN_VERSION } from '../../core/diagnosis/version.ts';
import { machineLine } from '../print/docs-section.ts';
import { type AccuracyArgs, configurationOf } from './args.ts';
import { type CostPoint, costPicture, tolerancePicture } from './pictures.ts';
import type { GroupResult } from './run.ts';

const slug = (text: string): string => text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 120);

/** Path of a configuration's files in the result folder, without an ending. */
export function resultStem(args: AccuracyArgs): string {
  return path.join(args.out, `accuracy-${args.dataset}-${slug(configurationOf(args))}`);
}

const resultFileSchema = z.object({
  configuration: z.string(),
  groups: z.array(
    z.object({
      group: z.string(),
      metrics: z
        .object({ within: z.array(z.object({ k: z.number(), rate: z.object({ share: z.number() }) })) })
        .nullable(),
      usage: z.object({ costUsd: z.number().nullable() }),
      runs: z.array(z.object({ predictions: z.array(z.unknown()) })),
    }),
  ),
});

/** The results as JSON with their provenance, and the pictures of every group. */
export function writeResults(
  args: AccuracyArgs,
  settingsHash: string,
  groups: readonly GroupResult[],
  createdAt: string,
): void {
  const stem = resultStem(args);
  const provenance = {
    dataset: args.dataset,
    configuration: configurationOf(args),
    settings: args,
    /** Hash of the settings and of every session: equal hashes measured the same question. */
    settingsHash,
    rootspanVersion: ROOTSPAN_VERSION,
    createdAt,
    machine: machineLine(),
  };
  writeFileSync(`${stem}.json`, `${JSON.stringify({ ...provenance, groups }, null, 1)}\n`);
  for (const group of groups) {
    const tolerance = tolerancePicture(group);
    if (tolerance !== null) writeFileSync(`${stem}-${group.group}-tolerance.svg`, tolerance);
    const cost = costPicture(
      `${group.group}: exact step against cost, every configuration measured`,
      costPoints(args, group.group),
    );
    if (cost === null) continue;
    writeFileSync(path.join(args.out, `accuracy-${args.dataset}-${group.group}-cost.svg`), cost);
  }
}

/** All results of the folder on this data set: the picture compares configurations, so it needs their files. */
function costPoints({ out, dataset }: AccuracyArgs, groupName: string): CostPoint[] {
  return readdirSync(out)
    .filter((file) => file.startsWith(`accuracy-${dataset}-`) && file.endsWith('.json'))
    .sort()
    .flatMap((file) => {
      const text = readFileSync(path.join(out, file), 'utf8');
      const parsed = resultFileSchema.safeParse(JSON.parse(text));
      // Written by another version of this benchmark: no mark of this picture.
      if (!parsed.success) return [];
      const { configuration, groups } = parsed.data;
      const group = groups.find((entry) => entry.group === groupName);
      const exact = group?.metrics?.within.find(({ k }) => k === 0)?.rate.share;
      if (group === undefined || exact === undefined) return [];
      const runs = group.runs.reduce((sum, run) => sum + run.predictions.length, 0);
      const { costUsd } = group.usage;
      return [{ label: configuration, costUsd: costUsd === null ? null : costUsd / runs, accuracy: exact }];
    });
}
