import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FileObjectStore } from '../../adapters/local/file-object-store.ts';
import { DEFAULT_OPTIONS } from '../../core/diagnosis/options.ts';
import { makeTokenCounter } from '../../core/planning/tokens/make-token-counter.ts';
import { putJson } from '../../core/ports/carried.ts';
import { executionName, preparedKey } from '../../core/ports/object-keys.ts';
import { MAX_CHUNKS } from '../../core/ports/workflow.ts';
import { preflight } from '../../core/stages/pipeline.ts';
import { makeAnalyzeChunkHandler } from '../../lambdas/analyze-chunk/handler.ts';
import { FOUND, refundSession } from '../core/stages/a-session.ts';
import { scriptedModel } from '../helpers/scripted-model.ts';
import { definitionOf, type StateLike, synthesise } from '../helpers/synthesised.ts';

/** Limits of the platform that others ran into, each named after its symptom. */

/** Of Step Functions: bytes of a state, and events of an execution's history. */
const STATE_BYTES = 262_144;
const HISTORY_EVENTS = 25_000;

const template = synthesise({ logGroups: ['aws/spans', '/aws/bedrock-agentcore/runtimes/a-DEFAULT'] });
const definition = definitionOf(template);

it('a filter pattern without "$." is rejected, and one in JSON misses text that only contains JSON: no pattern is used', () => {
  const filters = Object.values(template.findResources('AWS::Logs::SubscriptionFilter'));
  expect(filters.map(({ Properties }) => Properties.FilterPattern)).toEqual(['', '']);
});

describe('the Map of chunks', () => {
  const items = definition.States.AnalyzeChunks;
  const item = items?.ItemProcessor?.States ?? {};

  it('has an item for each chunk and nothing else beside it', () => {
    expect(Object.keys(item).sort()).toEqual([
      'AnalyzeChunk',
      'ConfigurationFault',
      'RecordChunkNotAnalyzed',
    ]);
  });

  describe('returned a result with a size exceeding the service limit', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(path.join(os.tmpdir(), 'rootspan-map-'));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    it('each item is small and their sum is over 256 KB: an item returns a reference, whatever it found', async () => {
      const objects = new FileObjectStore(folder);
      const name = executionName('s'.repeat(80), 1_000_000, 'f'.repeat(64));
      const counter = makeTokenCounter();
      const spec = { counter, limits: scriptedModel([]).limits, modelSpec: 'x:y' };
      await putJson(objects, preparedKey(name), preflight(refundSession(), DEFAULT_OPTIONS, spec));
      const [failure] = FOUND.failures;
      const found = { failures: Array(20).fill({ ...failure, why: 'because '.repeat(400) }) };
      const handler = makeAnalyzeChunkHandler({
        objects,
        counter,
        modelFor: async () => scriptedModel([found]),
      });
      const result = await handler({ executionName: name, index: 0 });
      // Both ends of the Map: the list of its items, and the list of their results before it is discarded.
      const given = JSON.stringify(Array.from({ length: MAX_CHUNKS }, (_, index) => index));
      const returned = JSON.stringify({ ...result, state: 'not_analyzed', index: MAX_CHUNKS });
      expect(given.length).toBeLessThan(STATE_BYTES / 10);
      expect(MAX_CHUNKS * (returned.length + 1)).toBeLessThan(STATE_BYTES / 4);
      expect(items?.ResultPath).toBeNull();
    });
  });

  it('25,000 history events are reached in an inline Map: not with the most chunks, each retried as often as it may', () => {
    /** An attempt of a task is scheduled, started and ended; the state around it is entered and left. */
    const eventsOf = ({ Retry = [] }: StateLike): number =>
      2 + 3 * (1 + Retry.reduce((sum, { MaxAttempts = 3 }) => sum + MaxAttempts, 0));
    const tasksOf = (states: Record<string, StateLike>): StateLike[] =>
      Object.values(states).filter(({ Type }) => Type === 'Task');
    const sum = (states: Record<string, StateLike>): number =>
      tasksOf(states).reduce((total, state) => total + eventsOf(state), 0);
    // An iteration begins and ends; an execution begins and ends, and its Map is entered, begun, ended and left.
    const worst = 2 + 4 + sum(definition.States) + MAX_CHUNKS * (2 + sum(item));
    expect(worst).toBeLessThan(HISTORY_EVENTS);
    expect(worst).toBeGreaterThan(HISTORY_EVENTS / 2);
  });
});
