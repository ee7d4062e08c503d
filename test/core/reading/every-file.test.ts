import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { noneModel } from '../../../adapters/models/none.ts';
import { DEFAULT_OPTIONS } from '../../../core/diagnosis/options.ts';
import { diagnosisSchema } from '../../../core/diagnosis/schema.ts';
import { SessionInvalidError } from '../../../core/errors/errors.ts';
import { makeTokenCounter } from '../../../core/planning/tokens/make-token-counter.ts';
import { readSessions } from '../../../core/reading/registry.ts';
import { sessionSchema, sessionSpans } from '../../../core/session/session.ts';
import { diagnose } from '../../../core/stages/pipeline.ts';
import { sharedPath } from '../../helpers/shared-data.ts';

const counter = makeTokenCounter();
const clock = { now: () => 0 };

/** Files of the shared folders that carry no session, with the words of their refusal. */
const REFUSED: ReadonlyMap<string, RegExp> = new Map([
  ['magentic_one_ground_truth.json', /AgentRx labels/],
  ['tau_ground_truth.json', /AgentRx labels/],
  ['SOURCES.md', /neither JSON/],
  ['datadog-cloudwatch_log.json', /CloudWatch Logs event without telemetry/],
  ['datadog-cloudwatch_log_lambda_invocation.json', /not-telemetry/],
  ['datadog-step_functions_log.json', /bad-json/],
  ['otelcol-only_control.json', /control message/],
  ['powertools-cloudwatch-base.json', /rootspan ingest/],
  ['powertools-kinesis-stream-cloudwatch-logs.json', /rootspan ingest/],
  ['awslogs-control-message.json', /rootspan ingest/],
  ['awslogs-langchain-runtime-logs.json', /rootspan ingest/],
  ['awslogs-langchain-spans.json', /rootspan ingest/],
  ['awslogs-xray-inprogress-stepfunctions-spans.json', /rootspan ingest/],
]);

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .sort();
}

for (const segments of [['bench', 'dev'], ['samples']]) {
  const folder = sharedPath(...segments);
  describe.skipIf(folder === null)(segments.join('/'), () => {
    it.each(
      folder === null ? [] : filesBelow(folder).map((file) => [path.relative(folder, file), file] as const),
    )('%s ends in diagnoses or is refused by name', async (_name, file) => {
      const read = () => readSessions({ text: readFileSync(file, 'utf8'), source: path.basename(file) });
      const refusal = REFUSED.get(path.basename(file));
      if (refusal !== undefined) {
        expect(read).toThrow(SessionInvalidError);
        expect(read).toThrow(refusal);
        return;
      }
      const { sessions } = read();
      expect(sessions.length).toBeGreaterThan(0);
      for (const session of sessions) {
        expect(sessionSchema.safeParse(session).error).toBeUndefined();
        const ids = sessionSpans(session).map((span) => span.spanId);
        expect(ids.length).toBeGreaterThan(0);
        expect(new Set(ids).size).toBe(ids.length);
        const diagnosis = await diagnose(session, DEFAULT_OPTIONS, { model: noneModel, counter, clock });
        expect(diagnosisSchema.safeParse(diagnosis).error).toBeUndefined();
        // Without a model nothing may read as clean.
        expect(diagnosis.coverage.state).not.toBe('COMPLETE');
        expect(diagnosis.outcome).toBe(diagnosis.criticalStep === null ? 'UNKNOWN' : 'FAILED');
      }
    });
  });
}
