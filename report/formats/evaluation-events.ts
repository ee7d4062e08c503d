import type { Diagnosis } from '../../core/diagnosis/schema.ts';
import { ROOTSPAN_VERSION } from '../../core/diagnosis/version.ts';

/**
 * `gen_ai.evaluation.result` events of the OpenTelemetry semantic conventions, as one OTLP/JSON logs request: the outcome
 * of the session, and each failure at its span. Ids of spans that are no OpenTelemetry ids stand in `rootspan.span.id` only.
 */
export function toEvaluationEvents(diagnosis: Diagnosis) {
  const { criticalStep, failures } = diagnosis;
  const at = `${BigInt(Date.parse(diagnosis.createdAt)) * 1_000_000n}`;
  const event = (
    name: string,
    label: string,
    explanation: string,
    spanId: string | null,
    score?: number,
  ) => ({
    timeUnixNano: at,
    observedTimeUnixNano: at,
    eventName: 'gen_ai.evaluation.result',
    ...(spanId !== null && /^[0-9a-f]{16}$/u.test(spanId) ? { spanId } : {}),
    attributes: [
      text('gen_ai.evaluation.name', name),
      text('gen_ai.evaluation.score.label', label),
      ...(score === undefined
        ? []
        : [{ key: 'gen_ai.evaluation.score.value', value: { doubleValue: score } }]),
      text('gen_ai.evaluation.explanation', explanation),
      text('gen_ai.conversation.id', diagnosis.sessionId),
      ...(spanId === null ? [] : [text('rootspan.span.id', spanId)]),
    ],
  });
  const outcome = event(
    'rootspan.outcome',
    diagnosis.outcome,
    criticalStep?.reason ?? diagnosis.outcomeReason ?? '',
    criticalStep?.spanId ?? null,
  );
  const found = failures.flatMap((failure) =>
    failure.category.map((category, index) =>
      event(
        'rootspan.failure',
        category,
        failure.evidence[index] ?? '',
        failure.span_id,
        failure.confidence[index],
      ),
    ),
  );
  const service = diagnosis.service ?? diagnosis.agent ?? 'unknown_service';
  return {
    resourceLogs: [
      {
        resource: { attributes: [text('service.name', service)] },
        scopeLogs: [
          { scope: { name: 'rootspan', version: ROOTSPAN_VERSION }, logRecords: [outcome, ...found] },
        ],
      },
    ],
  };
}

const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
