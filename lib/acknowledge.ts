import { CfnResource, Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Answers one finding of cdk-nag, with the reason, where the thing is made. Only the finding named is answered:
 * a new wildcard in the same policy is a new finding.
 */
export function acknowledge(scope: IConstruct, rule: string, reason: string, finding?: string): void {
  const id = finding === undefined ? rule : `${rule}[${finding}]`;
  Validations.of(scope).acknowledge({ id: `AwsSolutions::${id}`, reason });
}

/** As cdk-nag writes an ARN below that of a resource in this stack: `Resource::<LogicalId.Arn>/suffix`. */
export function arnFinding(resource: IConstruct, suffix: string): string {
  const child = resource.node.defaultChild;
  if (!(child instanceof CfnResource)) throw new Error(`${resource.node.path} is no single resource`);
  return `Resource::<${Stack.of(resource).getLogicalId(child)}.Arn>${suffix}`;
}
