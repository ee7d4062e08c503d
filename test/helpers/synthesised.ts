import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { SessionDiagnosis, type SessionDiagnosisProps } from '../../lib/session-diagnosis.ts';

const made: string[] = [];
// The benchmark synthesises too, so this cannot wait for a test to finish.
process.once('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

function scratch(prefix: string): string {
  const folder = mkdtempSync(path.join(os.tmpdir(), prefix));
  made.push(folder);
  return folder;
}

/** A folder with a bundle for each step that does nothing, so that no build is needed. */
export function emptyBundles(): string {
  const bundles = scratch('rootspan-bundles-');
  for (const step of readdirSync(path.resolve(import.meta.dirname, '../../lambdas'))) {
    mkdirSync(path.join(bundles, step));
    writeFileSync(path.join(bundles, step, 'index.mjs'), 'export const handler = async () => {};\n');
  }
  return bundles;
}

/** A stack without a Region must name its model. */
export const MODEL = 'bedrock:us.anthropic.claude-sonnet-4-6';

/** The stack as `cdk synth` makes it. */
export function synthesise(props: SessionDiagnosisProps = {}): Template {
  const bundles = emptyBundles();
  const app = new App({
    context: { 'aws:cdk:bundling-stacks': [] },
    outdir: scratch('rootspan-synth-'),
  });
  const stack = new Stack(app, 'Rootspan');
  new SessionDiagnosis(stack, 'Diagnosis', { bundles, models: [MODEL], ...props });
  return Template.fromStack(stack);
}

/** The state machine's definition, with the parts that only deployment knows written out as example ARNs. */
export function definitionOf(template: Template): { StartAt: string; States: Record<string, StateLike> } {
  const [machine] = Object.values(template.findResources('AWS::StepFunctions::StateMachine'));
  const text: unknown = machine?.Properties.DefinitionString;
  return JSON.parse(flatten(text));
}

export interface StateLike {
  Type: string;
  Next?: string;
  End?: boolean;
  Resource?: string;
  Retry?: { ErrorEquals: string[]; MaxAttempts?: number }[];
  Catch?: { ErrorEquals: string[]; Next: string }[];
  ItemProcessor?: { States: Record<string, StateLike> };
  [field: string]: unknown;
}

function flatten(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) throw new Error(`cannot write out ${String(value)}`);
  if ('Fn::Join' in value && Array.isArray(value['Fn::Join'])) {
    const [separator, parts]: unknown[] = value['Fn::Join'];
    if (typeof separator === 'string' && Array.isArray(parts)) return parts.map(flatten).join(separator);
  }
  if ('Ref' in value) {
    if (value.Ref === 'AWS::Partition') return 'aws';
    // A version of a function: its ARN with the number.
    const versioned = /^(.+)CurrentVersion[0-9A-F]/i.exec(String(value.Ref));
    if (versioned !== null) return `arn:aws:lambda:eu-west-1:123456789012:function:${versioned[1]}:1`;
    return `https://sqs.eu-west-1.amazonaws.com/123456789012/${String(value.Ref)}`;
  }
  if ('Fn::GetAtt' in value && Array.isArray(value['Fn::GetAtt']))
    return `arn:aws:lambda:eu-west-1:123456789012:function:${String(value['Fn::GetAtt'][0])}`;
  throw new Error(`cannot write out ${JSON.stringify(value)}`);
}
