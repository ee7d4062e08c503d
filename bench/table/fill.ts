import type { DynamoDiagnosisStore } from '../../adapters/aws/dynamo-diagnosis-store.ts';
import { sha256Hex } from '../../core/base/hash.ts';
import { type Diagnosis, diagnosisSchema, type Fault } from '../../core/diagnosis/schema.ts';

const CATEGORIES = [
  'execution-error-category-timeout',
  'execution-error-category-resource-not-found',
  'hallucination-category-hall-usage',
  'task-instruction-category-non-compliance',
];
const AGENTS = 40;
const SITES = 300;
const START = Date.parse('2026-01-01T00:00:00Z');
const USAGE = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: null,
  calls: 0,
};

/** Diagnoses of made-up sessions, a minute apart: 40 agents, half of the sessions failing, at 300 places. */
export async function fillTable(store: DynamoDiagnosisStore, diagnoses: number): Promise<void> {
  for (let n = 0; n < diagnoses; n++) await store.put(made(n));
}

function made(n: number): Diagnosis {
  const sessionId = `session-${n}`;
  const agent = `agent-${n % AGENTS}`;
  const createdAt = new Date(START + n * 60_000).toISOString();
  const failed = n % 2 === 0;
  const category = CATEGORIES[n % CATEGORIES.length] ?? 'other';
  const site = sha256Hex(`${n % SITES}`).slice(0, 16);
  const fault: Fault = {
    spanId: 's1',
    category,
    agent,
    place: `tool tool_${n % SITES}`,
    cause: 'the gateway did not answer within <n> s',
    words: ['answer', 'gatewa'],
    site,
    fingerprint: sha256Hex(site).slice(0, 16),
  };
  return diagnosisSchema.parse({
    schemaVersion: 2,
    sessionId,
    version: 0,
    diagnosisId: sha256Hex(sessionId),
    createdAt,
    format: 'made',
    goal: 'Find out why the order was not sent, and say when it will be.',
    agent,
    service: `service-${n % 10}`,
    release: `1.${Math.floor(n / 10_000)}.0`,
    startedAt: createdAt,
    endedAt: createdAt,
    outcome: failed ? 'FAILED' : 'CLEAN',
    outcomeReason: null,
    coverage: {
      state: 'COMPLETE',
      spansTotal: 20,
      spansAnalysed: 20,
      tokensTotal: 9000,
      tokensAnalysed: 9000,
      gaps: [],
    },
    failures: failed
      ? [
          {
            span_id: 's1',
            category: [category],
            confidence: [0.9],
            evidence: ['the gateway did not answer within 30 s'],
            source: [{ kind: 'model', ref: 'made' }],
            recovered: 'no',
            recoveredBy: null,
            effect: 'goal-lost',
          },
        ]
      : [],
    rootCauses: failed
      ? [
          {
            failure_span_id: 's1',
            location: 's1',
            causality: 'PRIMARY_FAILURE',
            propagation_impact: ['TASK_TERMINATION'],
            failure_detection_timing: 'IMMEDIATELY_AT_OCCURRENCE',
            completion_status: 'COMPLETE_FAILURE',
            root_cause_explanation:
              'The tool calls a gateway that is slower than its limit, and nobody asks again. '.repeat(3),
            fix_type: 'OTHERS',
            fix_recommendation: 'Ask again with a longer limit, and tell the user what happens.',
            source: { kind: 'model', ref: 'made' },
          },
        ]
      : [],
    criticalStep: failed
      ? {
          spanId: 's1',
          position: 7,
          agent,
          category: 'system-failure',
          confidence: 0.9,
          reason: 'Nothing after it could succeed.',
          evidence: [],
          alternatives: [],
          agreement: null,
          judgedBy: 'model',
        }
      : null,
    turns: [],
    validationLog: [],
    checks: [],
    quarantined: [],
    completionStatus: failed ? 'COMPLETE_FAILURE' : 'COMPLETE_SUCCESS',
    recommendations: [],
    provenance: {
      rootspanVersion: '0',
      model: 'made',
      depth: 'standard',
      confidenceThreshold: 0.5,
      taxonomyVersion: '1',
      sessionHash: sha256Hex(sessionId),
      chunkPlan: { mode: 'direct', chunks: 1, settings: {} },
      calls: [],
    },
    usage: { ...USAGE, durationMs: 0, byStage: {} },
    faults: failed ? [fault] : [],
    fingerprints: failed ? [fault.fingerprint] : [],
    spans: [],
  });
}
