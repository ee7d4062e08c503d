import path from 'node:path';
import { type Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as logs from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type * as z from 'zod';
import { instanceName, STEP_LOGS } from './own-log-groups.ts';

export interface StepLambdaProps {
  /** Folder below `lambdas/`. */
  readonly step: string;
  /** The variables that the step's `index.ts` will ask for. */
  readonly env: z.ZodObject;
  /** What it does, for the console. */
  readonly description: string;
  readonly memoryMb: number;
  readonly timeout: Duration;
  /** Folder of the bundles; the build's by default. */
  readonly bundles?: string;
}

const BUNDLES = path.resolve(import.meta.dirname, '../../dist/lambdas');

/**
 * The function of one step, from the bundle that `npm run build` made, with a log group of its own name. Synthesis
 * fails when a variable of its `env.ts` was not set by a grant.
 */
export class StepLambda extends Construct {
  readonly function: lambda.Function;
  readonly timeout: Duration;

  constructor(scope: Construct, id: string, props: StepLambdaProps) {
    super(scope, id);
    this.timeout = props.timeout;
    const logGroup = new logs.LogGroup(this, 'Logs', {
      logGroupName: `${STEP_LOGS}${instanceName(this)}/${props.step}`,
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // A role of its own instead of AWSLambdaBasicExecutionRole, which may write to every log group.
    const role = new iam.Role(this, 'Role', {
      assumedBy: new iam.ServicePrincipal('lambda.amazonaws.com'),
    });
    logGroup.grantWrite(role);
    this.function = new lambda.Function(this, 'Function', {
      code: lambda.Code.fromAsset(path.join(props.bundles ?? BUNDLES, props.step)),
      handler: 'index.handler',
      runtime: lambda.Runtime.NODEJS_24_X,
      architecture: lambda.Architecture.ARM_64,
      description: props.description,
      memorySize: props.memoryMb,
      timeout: props.timeout,
      logGroup,
      role,
      loggingFormat: lambda.LoggingFormat.JSON,
      // No function of ours sends to what invokes it. If one ever does, AWS ends the chain after about 16 hops.
      recursiveLoop: lambda.RecursiveLoop.TERMINATE,
      // Executions that are running go on with the version that they began with.
      currentVersionOptions: { removalPolicy: RemovalPolicy.RETAIN },
    });
    this.node.addValidation({
      validate: () => {
        const defined = this.environment();
        return Object.keys(props.env.shape)
          .filter((name) => !defined.has(name))
          .map((name) => `step ${props.step} needs the variable ${name}: no grant has set it`);
      },
    });
  }

  private environment(): Set<string> {
    const resource = this.function.node.defaultChild;
    if (!(resource instanceof lambda.CfnFunction)) return new Set();
    const resolved: { variables?: object } | undefined = Stack.of(this).resolve(resource.environment);
    return new Set(Object.keys(resolved?.variables ?? {}));
  }
}
