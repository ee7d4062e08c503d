/**
 * All log groups of Rootspan itself stand below these prefixes. Ingest drops their records and refuses to subscribe
 * to them: a pipeline that reads its own telemetry never ends.
 */
export const STEP_LOGS = '/rootspan/';
/** Under `/aws/vendedlogs/` CloudWatch needs no resource policy per log group, of which an account has ten. */
export const STATE_MACHINE_LOGS = '/aws/vendedlogs/states/rootspan/';

export const OWN_LOG_GROUPS = [STEP_LOGS, STATE_MACHINE_LOGS];
