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

/** As cdk-nag writes what deployment gives a resource of this stack: `<LogicalId.Arn>`. */
export function attributeOf(resource: IConstruct, attribute: string): string {
  const child = resource.node.defaultChild;
  if (!(child instanceof CfnResource)) throw new Error(`${resource.node.path} is no single resource`);
  return `<${Stack.of(resource).getLogicalId(child)}.${attribute}>`;
}

/** The finding about everything below an ARN. */
export const arnFinding = (resource: IConstruct, suffix: string): string =>
  `Resource::${attributeOf(resource, 'Arn')}${suffix}`;
