import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { isJsonObject, type JsonValue } from '../../core/base/json.ts';
import { limitsOf, UNNAMED_MODEL } from '../../core/model/capabilities.ts';
import { type Model, type ModelRequest, NO_USAGE } from '../../core/model/port.ts';

const made: string[] = [];
// Registered while the file is collected: from inside a running test it would do nothing.
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** Writes files into a folder of its own that is removed after the tests. */
export function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'rootspan-bench-'));
  made.push(folder);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

/** A text that no session says by itself, long enough for the leak guard. */
export const canary = (where: string): string => `canary-zq81-${where}-must-never-be-seen`;

const call = (id: string, name: string, args: object) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

/** A tau-bench run of our own, every answer field a canary. */
export function tauRun(taskId: number): Record<string, unknown> {
  return {
    task_id: taskId,
    trial: 1,
    reward: canary('reward'),
    reward_info: { note: canary('reward-info') },
    records: { log: [canary('records')] },
    info: {
      task: {
        instruction: 'You want to return the lamp.',
        actions: [{ name: 'return_item', kwargs: { reason: canary('actions') } }],
        outputs: [canary('outputs')],
      },
      reward_info: { actions: [canary('info-reward-info')] },
    },
    traj: [
      { role: 'system', content: 'You are a shop assistant.' },
      { role: 'user', content: 'I want to return the lamp.' },
      { role: 'assistant', content: null, tool_calls: [call('c1', 'find_order', { item: 'lamp' })] },
      { role: 'tool', tool_call_id: 'c1', name: 'find_order', content: `{"order": "W${taskId}"}` },
      { role: 'assistant', content: 'Done, it is returned.' },
    ],
  };
}

export function tauLabel(taskId: number): Record<string, unknown> {
  return {
    trajectory_id: taskId,
    failures: [
      {
        failure_id: 1,
        step_number: 3,
        step_reason: canary('step-reason'),
        failure_category: 'Instruction Adherence Failure',
        category_reason: canary('category-reason'),
        failed_agent: 'Assistant',
      },
      {
        failure_id: 2,
        step_number: 5,
        failure_category: 'Invention of new information',
        failed_agent: 'Assistant',
      },
    ],
    root_cause: { failure_id: '2', reason_for_root_cause: canary('root-reason') },
    failure_summary: canary('summary'),
  };
}

export function whoWhenRecord(step = '1'): Record<string, unknown> {
  return {
    is_correct: canary('is-correct'),
    is_corrected: canary('is-corrected'),
    question: 'How many rivers cross the town?',
    level: canary('level'),
    ground_truth: canary('ground-truth'),
    labels: [canary('labels')],
    mistake_agent: canary('mistake-agent'),
    mistake_step: step,
    mistake_reason: canary('mistake-reason'),
    mistake_type: canary('mistake-type'),
    history: [
      { role: 'user', name: 'Geo_Expert', content: 'Let us count the rivers.' },
      { role: 'assistant', name: 'Map_Expert', content: 'I assume there are three.' },
      {
        role: 'user',
        name: 'Computer_terminal',
        content: 'exitcode: 1 (execution failed)\nNameError: rivers',
      },
    ],
    system_prompt: { Geo_Expert: 'You know rivers.', Map_Expert: 'You know maps.' },
  };
}

/** A model that answers any schema with the least that fits it, so that every stage gets to ask. */
export function leastModel(): { model: Model; requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    requests,
    model: {
      spec: 'least',
      limits: limitsOf(UNNAMED_MODEL),
      async ask(request) {
        requests.push(request);
        return {
          text: JSON.stringify(least(request.answer.schema)),
          usage: { ...NO_USAGE, inputTokens: 100, calls: 1 },
          model: 'least',
          outputMode: 'text',
          requestHash: 'f'.repeat(64),
          cached: false,
          durationMs: 0,
        };
      },
    },
  };
}

function least(schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return null;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'object': {
      const properties = isJsonObject(schema.properties) ? schema.properties : {};
      return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, least(value)]));
    }
    case 'array':
      return Number(schema.minItems ?? 0) > 0 ? [least(schema.items)] : [];
    case 'string':
      return 'x';
    case 'boolean':
      return false;
    default:
      return 0;
  }
}
