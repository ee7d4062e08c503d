import { Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';

/** Context that each `SessionDiagnosis` sets for what is in it. */
export const INSTANCE = 'rootspan:instance';

/**
 * What tells one deployment from another in the same account and Region: the stack's name, and the construct's where an app
 * of its own gave it another id than ours has. Depends on nothing else in the stack.
 */
export function instanceName(scope: Construct): string {
  const id: unknown = scope.node.tryGetContext(INSTANCE);
  const { stackName } = Stack.of(scope);
  return typeof id === 'string' ? `${stackName}-${id}` : stackName;
}

/**
 * All log groups of Rootspan itself stand below these prefixes. Ingest drops their records and refuses to subscribe
 * to them: a pipeline that reads its own telemetry never ends.
 */
export const STEP_LOGS = '/rootspan/';
/** Under `/aws/vendedlogs/` CloudWatch needs no resource policy per log group, of which an account has ten. */
export const STATE_MACHINE_LOGS = '/aws/vendedlogs/states/rootspan/';

export const OWN_LOG_GROUPS = [STEP_LOGS, STATE_MACHINE_LOGS];
