import { RemovalPolicy } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { Results } from './results/results.ts';
import { Workflow } from './workflow/workflow.ts';

export interface SessionDiagnosisProps {
  /** Model specs that sessions may use; the first is the default. Default: `bedrock:global.anthropic.claude-sonnet-4-6`. */
  readonly models?: readonly [string, ...string[]];
  /** Days that sessions and diagnoses are kept. Default 90. */
  readonly retentionDays?: number;
  /** Chunks of one session analysed at once. Default 10. */
  readonly chunksAtOnce?: number;
  /** What becomes of bucket and table with the stack. Default: they stay. */
  readonly removalPolicy?: RemovalPolicy;
  /** Folder of the Lambda bundles. Default: what `npm run build` made. */
  readonly bundles?: string;
}

/** Rootspan in one account and Region: everything from a session to its stored diagnosis. */
export class SessionDiagnosis extends Construct {
  readonly results: Results;
  readonly workflow: Workflow;

  constructor(scope: Construct, id: string, props: SessionDiagnosisProps = {}) {
    super(scope, id);
    this.results = new Results(this, 'Results', {
      retentionDays: props.retentionDays ?? 90,
      removalPolicy: props.removalPolicy ?? RemovalPolicy.RETAIN,
    });
    this.workflow = new Workflow(this, 'Workflow', {
      results: this.results,
      models: props.models ?? ['bedrock:global.anthropic.claude-sonnet-4-6'],
      chunksAtOnce: props.chunksAtOnce ?? 10,
      ...(props.bundles === undefined ? {} : { bundles: props.bundles }),
    });
  }
}
