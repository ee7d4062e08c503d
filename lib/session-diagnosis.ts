import { CfnOutput, RemovalPolicy, Stack } from 'aws-cdk-lib';
import type * as logs from 'aws-cdk-lib/aws-logs';
import type * as sns from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import type { AgentConfiguration } from '../core/ports/agent-settings.ts';
import { Ingest, type LogGroupSource } from './ingest/ingest.ts';
import { Monitoring } from './monitoring/monitoring.ts';
import { Results } from './results/results.ts';
import { INSTANCE } from './step/own-log-groups.ts';
import { defaultModel } from './workflow/default-model.ts';
import { Workflow } from './workflow/workflow.ts';

export interface SessionDiagnosisProps {
  /**
   * Model specs that sessions may use; the first is the default. Default: Claude Sonnet 4.6 by the inference profile of the
   * Region's own geography (lib/workflow/default-model.ts); where none is known, a model must be named.
   */
  readonly models?: readonly [string, ...string[]];
  /** Log groups with agent telemetry: names or ARNs of existing ones, e.g. `aws/spans`, or with a filter. Default none. */
  readonly logGroups?: readonly (string | LogGroupSource)[];
  /** Settings by agent: idle time, depth, model, confidence, votes, sampling, redaction. */
  readonly agents?: AgentConfiguration;
  /** Days that sessions and diagnoses are kept. Default 90. */
  readonly retentionDays?: number;
  /** USD a day (UTC) that model calls may cost at list prices; sessions beyond it are diagnosed without a model and say so. Default no limit. */
  readonly dailyBudgetUsd?: number;
  /** Chunks of one session analysed at once. Default 10. */
  readonly chunksAtOnce?: number;
  /**
   * Diagnoses that run at the same time, about; what is due beyond them waits. Each takes one Lambda function at a time, and
   * up to `chunksAtOnce` for a long session. Default 100: a tenth of an account's usual 1,000 functions.
   */
  readonly maxRunning?: number;
  /** What becomes of bucket and table with the stack. Default: they stay. */
  readonly removalPolicy?: RemovalPolicy;
  /** Gets every alarm. Default: alarms are made, and seen in CloudWatch only. */
  readonly alarmTopic?: sns.ITopic;
  /** Folder of the Lambda bundles. Default: what `npm run build` made. */
  readonly bundles?: string;
}

/** Of the construct in our own app, whose names are those of the stack alone. */
const DEFAULT_ID = 'Diagnosis';

/** Rootspan in one account and Region: everything from a log event to a stored diagnosis. */
export class SessionDiagnosis extends Construct {
  readonly results: Results;
  readonly workflow: Workflow;
  readonly ingest: Ingest;
  readonly monitoring: Monitoring;

  constructor(scope: Construct, id: string, props: SessionDiagnosisProps = {}) {
    super(scope, id);
    if (id !== DEFAULT_ID) this.node.setContext(INSTANCE, this.node.path.split('/').slice(1).join('-'));
    this.results = new Results(this, 'Results', {
      retentionDays: props.retentionDays ?? 90,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    const bundles = props.bundles === undefined ? {} : { bundles: props.bundles };
    const agents = props.agents ?? {};
    const models = props.models ?? [defaultModel(Stack.of(this).region)];
    this.workflow = new Workflow(this, 'Workflow', {
      results: this.results,
      models: [...models, ...modelsOf(agents)],
      chunksAtOnce: props.chunksAtOnce ?? 10,
      ...(props.dailyBudgetUsd === undefined ? {} : { dailyBudgetUsd: props.dailyBudgetUsd }),
      ...bundles,
    });
    this.ingest = new Ingest(this, 'Ingest', {
      results: this.results,
      stateMachine: this.workflow.stateMachine,
      logGroups: (props.logGroups ?? []).map((source) =>
        typeof source === 'string' ? { logGroup: source } : source,
      ),
      agents,
      maxRunning: props.maxRunning ?? 100,
      ...bundles,
    });
    this.monitoring = new Monitoring(this, 'Monitoring', {
      watch: [this.results, this.workflow, this.ingest],
      quarantined: this.ingest.quarantined,
      ...(props.alarmTopic === undefined ? {} : { alarmTopic: props.alarmTopic }),
    });
    this.#writeOutputs();
  }

  /** Subscribes a log group, by name, ARN or construct; one that is subscribed already is left as it is. */
  addLogGroup(logGroup: string | logs.ILogGroup, options: Pick<LogGroupSource, 'filterPattern'> = {}): void {
    this.ingest.subscribe({ logGroup, ...options });
  }

  /** What the command line and the runbook ask for, under fixed names. */
  #writeOutputs(): void {
    const { results, workflow, ingest } = this;
    const outputs: Record<string, string> = {
      // As `rootspan list --store` takes it.
      Store: `table:${results.table.tableName}@${results.bucket.bucketName}`,
      StateMachineArn: workflow.stateMachine.stateMachineArn,
      IngestFunction: ingest.ingest.function.functionName,
      DeadExecutionsUrl: workflow.deadExecutions.queueUrl,
      SweepFunction: ingest.sweeper.function.functionName,
      TimersUrl: ingest.timers.queueUrl,
      DeadTimersArn: ingest.deadTimers.queueArn,
      DeadDeliveriesUrl: ingest.deadDeliveries.queueUrl,
    };
    // Those of an instance with another id begin with it, so that a stack may hold several.
    const prefix = this.node.id === DEFAULT_ID ? '' : this.node.id.replace(/[^A-Za-z0-9]/g, '');
    for (const [name, value] of Object.entries(outputs))
      new CfnOutput(this, name, { value }).overrideLogicalId(`${prefix}${name}`);
  }
}

/** An agent's own model needs permission as well. */
function modelsOf(agents: AgentConfiguration): string[] {
  const settings = [agents.default, ...Object.values(agents.agents ?? {})];
  return settings.flatMap((agentSettings) =>
    typeof agentSettings?.model === 'string' ? [agentSettings.model] : [],
  );
}
