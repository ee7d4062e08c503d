import { canonicalJson, sha256Hex } from '../base/hash.ts';
import { CONFIDENCE } from '../diagnosis/options.ts';
import { cutText, quarantine } from '../diagnosis/quarantine.ts';
import {
  DIAGNOSIS_SCHEMA_VERSION,
  type Diagnosis,
  type RootCause,
  type ValidationEntry,
} from '../diagnosis/schema.ts';
import type { Merged, Prepared } from '../diagnosis/stages.ts';
import { ROOTSPAN_VERSION } from '../diagnosis/version.ts';
import type { Explanation } from '../explanation/root-cause/by-model.ts';
import type { CallRecord } from '../model/call-record.ts';
import { addUsage, NO_USAGE, type Usage } from '../model/port.ts';
import { type Block, sessionSpans } from '../session/session.ts';
import type { Step, Trajectory } from '../trajectory/trajectory.ts';
import { TAXONOMY_VERSION } from '../vocabulary/taxonomy.ts';
import { diagnoseTurns } from './diagnose-turns.ts';
import { byEffect, withEffects } from './effects.ts';
import { faultsOf, fingerprintsOf } from './fingerprint.ts';
import { decideOutcome } from './outcome.ts';
import { withTeamHints } from './team-hints.ts';

const EXCERPT = 400;

export interface DiagnosisParts {
  readonly prepared: Prepared;
  readonly trajectory: Trajectory;
  readonly merged: Merged;
  readonly explanation: Explanation;
  readonly validationLog: readonly ValidationEntry[];
  readonly nowIso: string;
}

/** Puts the parts together. Pure: equal parts give equal diagnoses, and `nowIso` enters nothing but `createdAt`. */
export function buildDiagnosis(parts: DiagnosisParts): Diagnosis {
  const { prepared, trajectory, merged, explanation, validationLog } = parts;
  const { session } = prepared;
  const looked = { ...merged.coverage, gaps: [...merged.coverage.gaps, ...explanation.gaps] };
  const { critical, judged, completion } = explanation;
  const { failures, rootCauses: causes } = inOrderOfEffect(explanation);
  const rootCauses = withTeamHints(failures, causes, prepared.options.constraints ?? []);
  const faults = faultsOf(failures, rootCauses, trajectory, session.agent);
  const { notAnalysed } = prepared;
  const decided = decideOutcome({
    failures,
    criticalStep: critical,
    judged,
    completion,
    looked,
    notAnalysed,
  });
  const calls = [...merged.calls, ...explanation.calls];
  const content = wellFormed({
    schemaVersion: DIAGNOSIS_SCHEMA_VERSION,
    sessionId: session.sessionId,
    format: session.format,
    goal: session.goal ?? trajectory.goal,
    agent: session.agent,
    service: session.service,
    release: session.release ?? null,
    ...timesOf(prepared),
    outcome: decided.outcome,
    outcomeReason: decided.outcomeReason,
    coverage: { state: decided.coverage, ...looked },
    failures: [...failures],
    rootCauses: [...rootCauses],
    criticalStep: critical,
    turns: [...diagnoseTurns(trajectory, { failures, critical, judged, completion, looked, notAnalysed })],
    validationLog: [...validationLog],
    checks: prepared.checks.map(({ findings, ...report }) => ({
      ...report,
      findings: findings.map((finding) => ({ ...finding, evidence: [...finding.evidence] })),
    })),
    quarantined: [
      ...session.unread.map(({ where, reason, count }) =>
        quarantine('read', reason, `${count} × at ${where}`),
      ),
      ...merged.quarantined,
      ...explanation.quarantined,
    ],
    completionStatus: completion,
    recommendations: recommendationsOf(rootCauses),
    faults: [...faults],
    fingerprints: fingerprintsOf(faults),
    suppressed: [],
    feedback: [],
    spans: spansNamed(explanation, validationLog, trajectory),
  } satisfies Partial<Diagnosis>);
  return {
    ...content,
    version: 0,
    diagnosisId: diagnosisIdOf(prepared, calls, content),
    createdAt: parts.nowIso,
    provenance: provenanceOf(prepared, calls),
    usage: usageOf(calls),
  };
}

/** Failures with their effects, the worst first, and their root causes in the same order. */
function inOrderOfEffect({
  failures,
  rootCauses,
  critical,
}: Explanation): Pick<Explanation, 'failures' | 'rootCauses'> {
  const judged = withEffects(failures, rootCauses, critical === null ? [] : [critical]);
  const pairs = byEffect(judged.map((failure, i) => ({ failure, cause: rootCauses[i] })));
  return {
    failures: pairs.map(({ failure }) => failure),
    rootCauses: pairs.flatMap(({ cause }) => cause ?? []),
  };
}

/** Texts are cut to length in many places, perhaps through an emoji; stores and other readers refuse the halves. */
function wellFormed<T>(value: T): T {
  const copy: T = JSON.parse(JSON.stringify(value), (_key, item: unknown) =>
    typeof item === 'string' ? item.toWellFormed() : item,
  );
  return copy;
}

/**
 * Over what went in (session, options, model, prompts by their request hashes) and what came out. Two runs that
 * differ only in time, price or cache have one id; two that say different things never share one.
 */
function diagnosisIdOf(prepared: Prepared, calls: readonly CallRecord[], content: object): string {
  return sha256Hex(
    canonicalJson({
      version: ROOTSPAN_VERSION,
      taxonomyVersion: TAXONOMY_VERSION,
      sessionHash: prepared.sessionHash,
      options: prepared.options,
      model: prepared.modelSpec,
      settings: prepared.plan.settings,
      requests: calls.map(({ requestHash }) => requestHash).sort(),
      content,
    }),
  );
}

function timesOf({ session }: Prepared): Pick<Diagnosis, 'startedAt' | 'endedAt'> {
  const nanos = (values: readonly (string | null)[]): bigint[] =>
    values
      .flatMap((value) => (value !== null && /^\d{1,25}$/u.test(value) ? [BigInt(value)] : []))
      .sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const spans = sessionSpans(session);
  const starts = nanos(spans.map((span) => span.startTimeUnixNano));
  const ends = nanos(spans.map((span) => span.endTimeUnixNano));
  return { startedAt: isoOf(starts[0]), endedAt: isoOf(ends.at(-1) ?? starts.at(-1)) };
}

/** The greatest time that a JavaScript date can hold is 8.64e15 ms. */
function isoOf(nanos: bigint | undefined): string | null {
  if (nanos === undefined) return null;
  const millis = nanos / 1_000_000n;
  return millis > 8_640_000_000_000_000n ? null : new Date(Number(millis)).toISOString();
}

function recommendationsOf(rootCauses: readonly RootCause[]): Diagnosis['recommendations'] {
  const byText = new Map<string, Diagnosis['recommendations'][number]>();
  for (const cause of rootCauses) {
    const key = `${cause.fix_type} ${cause.fix_recommendation.toLowerCase().replace(/\s+/gu, ' ').trim()}`;
    const shared = byText.get(key);
    if (shared === undefined) {
      byText.set(key, {
        fixType: cause.fix_type,
        text: cause.fix_recommendation,
        failureSpanIds: [cause.failure_span_id],
      });
    } else {
      shared.failureSpanIds.push(cause.failure_span_id);
    }
  }
  return [...byText.values()];
}

function provenanceOf(prepared: Prepared, calls: readonly CallRecord[]): Diagnosis['provenance'] {
  const { plan, options } = prepared;
  return {
    rootspanVersion: ROOTSPAN_VERSION,
    model: prepared.modelSpec,
    depth: options.depth,
    confidenceThreshold: CONFIDENCE[options.confidence],
    taxonomyVersion:
      options.taxonomy === undefined
        ? TAXONOMY_VERSION
        : `custom-${sha256Hex(canonicalJson(options.taxonomy)).slice(0, 12)}`,
    sessionHash: prepared.sessionHash,
    chunkPlan: { mode: plan.mode, chunks: plan.chunks.length, settings: { ...plan.settings } },
    calls: calls.map((call) => ({ ...call })),
  };
}

function usageOf(calls: readonly CallRecord[]): Diagnosis['usage'] {
  const byStage: Record<string, Usage> = {};
  let all: Usage = NO_USAGE;
  for (const { purpose, usage } of calls) {
    byStage[purpose] = addUsage(byStage[purpose] ?? NO_USAGE, usage);
    all = addUsage(all, usage);
  }
  return { ...all, durationMs: calls.reduce((sum, { durationMs }) => sum + durationMs, 0), byStage };
}

/** Every span that the diagnosis names, in step order. */
function spansNamed(
  { failures, rootCauses, critical }: Explanation,
  log: readonly ValidationEntry[],
  trajectory: Trajectory,
): Diagnosis['spans'] {
  const ids = new Set([
    ...failures.flatMap(({ span_id, recoveredBy }) => [
      span_id,
      ...(recoveredBy === null ? [] : [recoveredBy]),
    ]),
    ...rootCauses.map(({ location }) => location),
    ...(critical === null
      ? []
      : [
          critical.spanId,
          ...critical.evidence.map(({ spanId }) => spanId),
          ...critical.alternatives.map(({ spanId }) => spanId),
        ]),
    ...log.filter(({ verdict }) => verdict === 'violated').map(({ spanId }) => spanId),
  ]);
  return trajectory.steps
    .filter(({ spanId }) => ids.has(spanId))
    .map((step) => ({
      spanId: step.spanId,
      position: step.position,
      kind: step.kind,
      name: step.span.name,
      agent: step.agent,
      excerpt: cutText(excerptOf(step), EXCERPT),
    }));
}

function excerptOf(step: Step): string {
  return [...step.parts.map(({ block }) => textOf(block)), ...step.span.errors.map(({ message }) => message)]
    .join('\n')
    .trim();
}

function textOf(block: Block): string {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.text;
    case 'tool_use':
      return `${block.name}(${block.argumentsRaw ?? JSON.stringify(block.arguments)})`;
    case 'tool_result':
      return block.content;
    case 'media':
      return `[${block.mediaType}, ${block.byteLength} bytes]`;
  }
}
