import { RemovalPolicy } from 'aws-cdk-lib';
import * as z from 'zod';
import { agentConfigurationSchema } from '../core/ports/agent-settings.ts';
import type { SessionDiagnosisProps } from './session-diagnosis.ts';

const settingsSchema = z.strictObject({
  models: z.tuple([z.string()], z.string()).optional(),
  logGroups: z
    .array(
      z.union([z.string(), z.strictObject({ logGroup: z.string(), filterPattern: z.string().optional() })]),
    )
    .optional(),
  agents: agentConfigurationSchema.optional(),
  retentionDays: z.number().int().positive().max(3650).optional(),
  dailyBudgetUsd: z.number().positive().optional(),
  chunksAtOnce: z.number().int().min(1).max(40).optional(),
  maxRunning: z.number().int().min(1).max(1000).optional(),
  /** Deletes bucket and table with the stack: for trials. */
  throwaway: z.boolean().optional(),
});

/**
 * What an account sets without writing code: the object under `rootspan` in the context of `cdk.json`, or its JSON
 * text on the command line (`cdk deploy -c rootspan='{"logGroups":["aws/spans"]}'`).
 */
export function readSettings(context: unknown): SessionDiagnosisProps {
  if (context === undefined) return {};
  let stated = context;
  if (typeof context === 'string') {
    try {
      stated = JSON.parse(context);
    } catch (cause) {
      throw new Error('context `rootspan`: expected an object, or its JSON text with -c', { cause });
    }
  }
  const parsed = settingsSchema.safeParse(stated);
  if (!parsed.success) throw new Error(`context \`rootspan\`: ${z.prettifyError(parsed.error)}`);
  const { throwaway, logGroups, ...settings } = parsed.data;
  return {
    ...withoutUndefined(settings),
    ...(logGroups === undefined
      ? {}
      : {
          logGroups: logGroups.map((source) =>
            typeof source === 'string' ? source : withoutUndefined(source),
          ),
        }),
    ...(throwaway === true ? { removalPolicy: RemovalPolicy.DESTROY } : {}),
  };
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
