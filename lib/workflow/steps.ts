import { Duration } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { analyzeChunkEnv } from '../../lambdas/analyze-chunk/env.ts';
import { constraintsEnv } from '../../lambdas/constraints/env.ts';
import { mergeEnv } from '../../lambdas/merge/env.ts';
import { preflightEnv } from '../../lambdas/preflight/env.ts';
import { recordFailureEnv } from '../../lambdas/record-failure/env.ts';
import { rootCauseEnv } from '../../lambdas/root-cause/env.ts';
import type { Results } from '../results/results.ts';
import { StepLambda } from '../step/step-lambda.ts';
import { giveModels } from './model-access.ts';

export interface StepsProps {
  readonly results: Results;
  /** Model specs that sessions may use; the first is the default. */
  readonly models: readonly [string, ...string[]];
  /** USD a day (UTC) that model calls may cost; no limit when absent. */
  readonly dailyBudgetUsd?: number;
  readonly bundles?: string;
}

export interface WorkflowSteps {
  readonly preflight: StepLambda;
  readonly analyzeChunk: StepLambda;
  readonly merge: StepLambda;
  readonly constraints: StepLambda;
  readonly rootCause: StepLambda;
  readonly recordFailure: StepLambda;
}

/** An answer may take 5 minutes, and with its repair 10. */
const MODEL_STEP_TIMEOUT = Duration.minutes(15);

/** The functions of the state machine, each with what it may touch and is told in one place. */
export function makeSteps(
  scope: Construct,
  { results, models, dailyBudgetUsd, bundles }: StepsProps,
): WorkflowSteps {
  const shared = bundles === undefined ? {} : { bundles };

  const preflight = new StepLambda(scope, 'PreflightStep', {
    step: 'preflight',
    env: preflightEnv,
    description: 'Loads a session, runs the checks, plans the chunks',
    // A full vCPU for counting tokens, and room for a session of 10,000 spans.
    memoryMb: 2048,
    timeout: Duration.minutes(5),
    ...shared,
  });
  results.giveObjects(preflight, { read: ['sessions', 'constraints'], write: ['executions'] });
  preflight.function.addEnvironment('MODEL_SPECS', JSON.stringify([...new Set(models)]));

  const analyzeChunk = new StepLambda(scope, 'AnalyzeChunkStep', {
    step: 'analyze-chunk',
    env: analyzeChunkEnv,
    description: 'Asks the model about one chunk',
    memoryMb: 1024,
    timeout: MODEL_STEP_TIMEOUT,
    ...shared,
  });
  results.giveObjects(analyzeChunk, { read: ['executions', 'cache'], write: ['executions', 'cache'] });
  giveModels(analyzeChunk, models);
  results.giveBudget(analyzeChunk, dailyBudgetUsd);

  const merge = new StepLambda(scope, 'MergeStep', {
    step: 'merge',
    env: mergeEnv,
    description: 'Joins the results of all chunks',
    memoryMb: 1024,
    timeout: Duration.minutes(2),
    ...shared,
  });
  results.giveObjects(merge, { read: ['executions'], write: ['executions'] });

  const constraints = new StepLambda(scope, 'ConstraintsStep', {
    step: 'constraints',
    env: constraintsEnv,
    description: 'Evaluates constraints, at depth deep with those that a model writes',
    memoryMb: 2048,
    timeout: MODEL_STEP_TIMEOUT,
    ...shared,
  });
  results.giveObjects(constraints, { read: ['executions', 'cache'], write: ['executions', 'cache'] });
  giveModels(constraints, models);
  results.giveBudget(constraints, dailyBudgetUsd);

  const rootCause = new StepLambda(scope, 'RootCauseStep', {
    step: 'root-cause',
    env: rootCauseEnv,
    description: 'Judges the critical step, explains each failure, stores the diagnosis',
    memoryMb: 2048,
    timeout: MODEL_STEP_TIMEOUT,
    ...shared,
  });
  results.giveObjects(rootCause, { read: ['executions', 'cache'], write: ['cache', 'diagnoses'] });
  results.giveTable(rootCause, ['dynamodb:UpdateItem']);
  giveModels(rootCause, models);
  results.giveBudget(rootCause, dailyBudgetUsd);

  const recordFailure = new StepLambda(scope, 'RecordFailureStep', {
    step: 'record-failure',
    env: recordFailureEnv,
    description: 'Writes down what could not be done',
    memoryMb: 1024,
    timeout: Duration.minutes(1),
    ...shared,
  });
  results.giveObjects(recordFailure, { read: ['executions'], write: ['executions'] });
  results.giveTable(recordFailure);

  return { preflight, analyzeChunk, merge, constraints, rootCause, recordFailure };
}
