import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type CloudFormationClient, DescribeStackResourcesCommand } from '@aws-sdk/client-cloudformation';
import {
  GetFunctionConfigurationCommand,
  type LambdaClient,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda';
import type { Emulator } from './emulator.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** The ordinary CDK CLI on the real app, as a user runs it. */
export async function deploy(emulator: Emulator, settings: object, scratch: string): Promise<void> {
  const cdk = path.join(root, 'node_modules/.bin/cdk');
  const options = { cwd: root, env: emulator.env, maxBuffer: 64 * 1024 * 1024 };
  const output = path.join(scratch, 'cdk.out');
  const context = ['-c', `rootspan=${JSON.stringify(settings)}`, '--output', output];
  await run(cdk, ['bootstrap', 'aws://000000000000/us-east-1', '--output', output], options);
  await run(cdk, ['deploy', '--require-approval', 'never', ...context], options);
}

export interface Deployed {
  readonly table: string;
  readonly bucket: string;
  readonly stateMachineArn: string;
  /** Function name of a step. */
  lambda(step: string): string;
}

export async function describeStack(client: CloudFormationClient): Promise<Deployed> {
  const { StackResources = [] } = await client.send(
    new DescribeStackResourcesCommand({ StackName: 'Rootspan' }),
  );
  const find = (type: string, part = ''): string => {
    const found = StackResources.filter(
      (resource) => resource.ResourceType === type && resource.LogicalResourceId?.includes(part) === true,
    );
    const id = found[0]?.PhysicalResourceId;
    if (id === undefined || found.length !== 1)
      throw new Error(`${found.length} resources of ${type} ${part}, expected one`);
    return id;
  };
  return {
    table: find('AWS::DynamoDB::Table'),
    bucket: find('AWS::S3::Bucket'),
    stateMachineArn: find('AWS::StepFunctions::StateMachine'),
    lambda: (step) => find('AWS::Lambda::Function', step),
  };
}

/** The construct refuses idle times under three minutes, and rightly: only here a clock is in a hurry. */
export async function setEnvironment(
  client: LambdaClient,
  functionName: string,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const now = await client.send(new GetFunctionConfigurationCommand({ FunctionName: functionName }));
  await client.send(
    new UpdateFunctionConfigurationCommand({
      FunctionName: functionName,
      Environment: { Variables: { ...now.Environment?.Variables, ...changes } },
    }),
  );
}
