import { Stack, Token } from 'aws-cdk-lib';
import * as iam from 'aws-cdk-lib/aws-iam';
import { acknowledge } from '../step/acknowledge.ts';
import type { StepLambda } from '../step/step-lambda.ts';

/** Prefixes of Bedrock's cross-region inference profiles. */
const PROFILE = /^(?:global|us|us-gov|eu|apac|jp|au|ca|sa)\.(?=[a-z0-9-]+\.)/;

const MODEL_ID = /^[a-z0-9-]+\.[A-Za-z0-9.:_-]+$/;

/** What Bedrock can be asked by ARN. */
const MODEL_ARN =
  /^arn:(aws[a-z-]*):bedrock:([a-z0-9-]+):(\d{12})?:(foundation-model|inference-profile|application-inference-profile|provisioned-model)\/([A-Za-z0-9.:_-]+)$/;

/**
 * Allows a step to ask the given models, and no others. A `bedrock:` profile needs the profile's ARN and the foundation
 * model's in every Region it may route to; other specs need no permission. Throws, naming the spec, for what cannot be
 * asked from this account and Region.
 */
export function giveModels(step: StepLambda, specs: readonly string[]): void {
  for (const spec of new Set(specs)) {
    if (spec === 'none' || /^openai:.+@https?:\/\//.test(spec)) continue;
    // `batch:` and `replay:` read a folder locally.
    if (!spec.startsWith('bedrock:'))
      throw new Error(
        `model ${spec}: in an account expected bedrock:<model or profile id or ARN>, openai:<model>@<base URL> or none`,
      );
    const id = spec.slice('bedrock:'.length);
    if (id.startsWith('arn:')) giveArn(step, spec, id);
    else if (MODEL_ID.test(id)) giveId(step, id);
    else
      throw new Error(
        `model ${spec}: expected bedrock:<model or inference profile id, or its ARN>, e.g. bedrock:eu.anthropic.claude-sonnet-4-6`,
      );
  }
}

function giveId(step: StepLambda, id: string): void {
  const stack = Stack.of(step);
  const model = id.replace(PROFILE, '');
  const foundation = (region: string): string =>
    `arn:${stack.partition}:bedrock:${region}::foundation-model/${model}`;
  if (model === id) {
    allow(step, [foundation(stack.region)]);
    return;
  }
  acknowledge(
    step,
    'AwsSolutions-IAM5',
    'The inference profile chooses the Region; the statement names the one model.',
    `Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/${model}`,
  );
  allow(step, [
    `arn:${stack.partition}:bedrock:${stack.region}:${stack.account}:inference-profile/${id}`,
    foundation('*'),
    // A global profile also checks the ARN without a Region.
    ...(id.startsWith('global.') ? [foundation('')] : []),
  ]);
}

function giveArn(step: StepLambda, spec: string, arn: string): void {
  const stack = Stack.of(step);
  const [, , region = '', account = '', kind = '', id = ''] = MODEL_ARN.exec(arn) ?? [];
  if (kind === '')
    throw new Error(
      `model ${spec}: expected bedrock:<ARN> of a foundation model, an inference profile, an application inference profile or provisioned throughput`,
    );
  const isForeign = (ours: string, its: string): boolean =>
    its !== '' && !Token.isUnresolved(ours) && ours !== its;
  if (isForeign(stack.account, account) || isForeign(stack.region, region))
    throw new Error(
      `model ${spec} belongs to account ${account || '(none)'} in ${region}, this stack to ${stack.account} in ${stack.region}: ` +
        'Bedrock is asked in the own account and Region; make a profile there',
    );
  if (kind === 'inference-profile' && PROFILE.test(id)) {
    giveId(step, id);
    return;
  }
  allow(step, [arn]);
  if (kind !== 'application-inference-profile') return;
  // Which models the profile routes to is known to Bedrock alone: they are allowed by way of this profile only.
  const anyModel = `arn:${stack.partition}:bedrock:*::foundation-model/*`;
  acknowledge(
    step,
    'AwsSolutions-IAM5',
    'Only by way of the one application inference profile that the condition names.',
    'Resource::arn:<AWS::Partition>:bedrock:*::foundation-model/*',
  );
  allow(step, [anyModel], { StringEquals: { 'bedrock:InferenceProfileArn': arn } });
}

function allow(
  step: StepLambda,
  resources: readonly string[],
  conditions?: { readonly StringEquals: Readonly<Record<string, string>> },
): void {
  step.function.addToRolePolicy(
    new iam.PolicyStatement({
      actions: ['bedrock:InvokeModel'],
      resources: [...resources],
      ...(conditions === undefined ? {} : { conditions }),
    }),
  );
}
