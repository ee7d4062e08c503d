import { Stack } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { acknowledge } from '../step/acknowledge.ts';
import type { StepLambda } from '../step/step-lambda.ts';

/** Prefixes of Bedrock's cross-region inference profiles. */
const PROFILE = /^(?:global|us|us-gov|eu|apac|jp|au|ca|sa)\.(?=[a-z0-9-]+\.)/;

/**
 * Allows a step to ask the given models. A `bedrock:` profile needs the profile's ARN and the foundation
 * model's in every Region it may route to; other specs need no permission.
 */
export function giveModels(step: StepLambda, specs: readonly string[]): void {
  const stack = Stack.of(step);
  const resources = [...new Set(specs)].flatMap((spec) => {
    if (spec === 'none' || /^openai:.+@https?:\/\//.test(spec)) return [];
    // `batch:` and `replay:` read a folder locally.
    if (!spec.startsWith('bedrock:'))
      throw new Error(
        `model ${spec}: in an account expected bedrock:<model or profile id>, openai:<model>@<base URL> or none`,
      );
    const id = spec.slice('bedrock:'.length);
    if (!/^[a-z0-9-]+\.[A-Za-z0-9.:_-]+$/.test(id))
      throw new Error(
        `model ${spec}: expected bedrock:<model or system-defined profile id>, e.g. bedrock:global.anthropic.claude-sonnet-4-6`,
      );
    const model = id.replace(PROFILE, '');
    const foundation = (region: string): string =>
      `arn:${stack.partition}:bedrock:${region}::foundation-model/${model}`;
    if (model === id) return [foundation(stack.region)];
    const profile = `arn:${stack.partition}:bedrock:${stack.region}:${stack.account}:inference-profile/${id}`;
    acknowledge(
      step,
      'AwsSolutions-IAM5',
      'The inference profile chooses the Region; the statement names the one model.',
      `Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/${model}`,
    );
    // A global profile also checks the ARN without a Region.
    return [profile, foundation('*'), ...(id.startsWith('global.') ? [foundation('')] : [])];
  });
  if (resources.length > 0)
    step.function.addToRolePolicy(new iam.PolicyStatement({ actions: ['bedrock:InvokeModel'], resources }));
}
