import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { synthesise } from '../helpers/synthesised.ts';

/** The table of docs/security.md is what the template grants: a new permission is a change of that page. */

const template = synthesise();

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
}

const list = <T>(value: T | T[]): T[] => (Array.isArray(value) ? value : [value]);

/** ARNs as the page writes them. */
function nameOf(resource: unknown): string {
  const text = typeof resource === 'string' ? resource : JSON.stringify(resource);
  const prefix = /Bucket[0-9A-F]{8}","Arn"\]\},"\/([a-z*/]+)"/.exec(text);
  if (prefix?.[1] !== undefined) return prefix[1];
  const known: readonly (readonly [RegExp, string])[] = [
    [/Bucket[0-9A-F]{8}","Arn"\]/, 'the bucket'],
    [/\/index\/by-state/, 'the index of the table'],
    [/Table[0-9A-F]{8}","Arn"\]/, 'the table'],
    [/StepLogs[0-9A-F]{8}","Arn"\]/, 'its log group'],
    [/Function[0-9A-F]{8}","Arn"\]/, 'the steps'],
    [/CurrentVersion[0-9A-F]/, 'the versions of the steps'],
    [/"DiagnosisIngestDeliveries[0-9A-F]{8}/, 'deliveries'],
    [/Timers[0-9A-F]{8}","Arn"\]/, 'timers'],
    [/DeadTimers[0-9A-F]{8}/, 'dead timers'],
    [/DeadDeliveries[0-9A-F]{8}/, 'dead deliveries'],
    [/DeadExecutions[0-9A-F]{8}/, 'dead executions'],
    [/bedrock/, 'the models of the stack'],
    [/:execution:/, 'executions of the state machine'],
    [/StateMachine[0-9A-F]{8}/, 'the state machine'],
    [/^\*$/, 'everything'],
  ];
  return known.find(([pattern]) => pattern.test(text))?.[1] ?? text;
}

function stepOf(policyId: string): string {
  const step = /(?:Workflow|Ingest)(\w+?)Step(?:Role)/.exec(policyId)?.[1];
  if (step === undefined) return 'state machine';
  return step.replace(/(?<=[a-z])[A-Z]/g, (capital) => `-${capital}`).toLowerCase();
}

const grants = Object.entries(template.findResources('AWS::IAM::Policy')).flatMap(([id, policy]) =>
  list<Statement>(policy.Properties.PolicyDocument.Statement).map(({ Action, Resource }) => {
    const actions = list(Action)
      .map((action) => `\`${action}\``)
      .sort()
      .join(' ');
    return {
      step: stepOf(id),
      grant: `${actions} on ${[...new Set(list(Resource).map(nameOf))].sort().join(', ')}`,
    };
  }),
);
const rows = [...Map.groupBy(grants, ({ step }) => step)].map(
  ([step, own]) => `| ${step} | ${[...new Set(own.map(({ grant }) => grant))].sort().join('; ')} |`,
);

it('every permission stands in docs/security.md, and no other', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/security.md'), 'utf8');
  const table = page
    .slice(page.indexOf('<!-- permissions'), page.indexOf('<!-- end of permissions'))
    .split('\n')
    .filter((line) => /^\| [a-z]/.test(line) && !line.startsWith('| step '));
  expect(table.toSorted()).toEqual(rows.toSorted());
});

it('no role has a managed policy, and no permission is for all actions of a service', () => {
  for (const role of Object.values(template.findResources('AWS::IAM::Role')))
    expect(role.Properties.ManagedPolicyArns).toBeUndefined();
  for (const row of rows) expect(row).not.toMatch(/`[a-z0-9]+:\*`|`\*`/);
});

it('no variable of a function holds a secret', () => {
  const names = Object.values(template.findResources('AWS::Lambda::Function')).flatMap((fn) =>
    Object.keys(fn.Properties.Environment?.Variables ?? {}),
  );
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(name).not.toMatch(/KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL/);
});

it('what waits in queues and what is kept in logs is encrypted, TLS only, and ends', () => {
  const queues = Object.values(template.findResources('AWS::SQS::Queue'));
  expect(queues).toHaveLength(Object.keys(template.findResources('AWS::SQS::QueuePolicy')).length);
  for (const { Properties } of queues) expect(Properties.SqsManagedSseEnabled).toBe(true);
  for (const { Properties } of Object.values(template.findResources('AWS::SQS::QueuePolicy')))
    expect(JSON.stringify(Properties)).toContain('"aws:SecureTransport":"false"');
  for (const { Properties } of Object.values(template.findResources('AWS::Logs::LogGroup')))
    expect(Properties.RetentionInDays).toBeLessThanOrEqual(30);
  for (const { Properties } of Object.values(template.findResources('AWS::StepFunctions::StateMachine')))
    expect(Properties.LoggingConfiguration.IncludeExecutionData).toBe(false);
});
