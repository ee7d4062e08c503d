import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Coverage } from '../../diagnosis/schema.ts';
import type { CallRecord } from '../../model/call-record.ts';
import { aliasOfSpans, outline } from '../../planning/show-chunk.ts';
import { writeDecided, writeEvidence, writeFailures } from '../critical-step/handed-evidence.ts';
import { readCriticalSteps } from '../critical-step/read-critical-steps.ts';
import { type Asked, askExplanation } from './ask-explanation.ts';
import type { ExplainInput } from './explain-input.ts';
import { combinePrompt } from './prompt-v2.ts';

type Answered = Extract<Asked, { ok: true }>;

export interface Combined {
  readonly answer: Answered;
  readonly calls: readonly CallRecord[];
  readonly gaps: Coverage['gaps'];
}

/** Characters of each span in the outline, tried from most to least. */
const EXCERPTS = [240, 100, 40] as const;

/**
 * Makes one answer of those for several windows by a further call. When that call fails, the answers are joined by
 * rule (the earliest critical step stands, all causes are kept) and the gap is named.
 */
export async function combineWindows(
  input: ExplainInput,
  windows: readonly Answered[],
  limitTokens: number,
): Promise<Combined> {
  const aliasOf = aliasOfSpans(input.trajectory);
  const aliases = new Map([...aliasOf].map(([id, alias]) => [alias, id]));
  const handed = {
    windows: windows.map(({ value }) => JSON.stringify(value)),
    failures: writeFailures(input.failures, aliasOf),
    evidence: writeEvidence(input.failures, input.checks, input.validationLog, aliasOf),
    decided: writeDecided(input.decided, aliasOf),
    assumeFailed: input.options.assumeFailed,
  };
  for (const characters of EXCERPTS) {
    const text = outline(input.trajectory, characters);
    const user = combinePrompt({ ...handed, outline: text });
    const tokens = user.reduce((sum, part) => sum + input.counter.count(part.text), 0);
    if (tokens > limitTokens) continue;
    // Quotes come from the windows' own texts, which the readers saw.
    const shown = { text: windows.map((window) => window.shown.text).join('\n'), aliases, names: aliases };
    const answer = await askExplanation(input, user, shown, input.failures.length, 'root-cause-merge');
    if (answer.ok) return { answer, calls: answer.calls, gaps: [] };
    if (!answer.overflow) return { ...joinByRule(input, windows, answer.reason), calls: answer.calls };
  }
  return joinByRule(input, windows, 'context-overflow: the outline of the session does not fit the model');
}

function joinByRule(input: ExplainInput, windows: readonly Answered[], reason: string): Combined {
  const [first] = windows;
  if (first === undefined) throw new RangeError('no windows to join');
  const aliases = new Map(windows.flatMap(({ shown }) => [...shown.aliases]));
  const { names } = first.shown;
  const shown = { text: windows.map((window) => window.shown.text).join('\n'), aliases, names };
  const place = ({ value }: Answered): number => {
    const { critical } = readCriticalSteps(value.criticalSteps, {
      trajectory: input.trajectory,
      aliases,
      names,
      isQuoted: () => true,
    });
    return input.trajectory.stepBySpan.get(critical?.spanId ?? '')?.index ?? Number.MAX_SAFE_INTEGER;
  };
  const list = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);
  const value: JsonObject = {
    criticalSteps: [...windows]
      .sort((a, b) => place(a) - place(b))
      .flatMap((window) => list(window.value.criticalSteps).slice(0, 1)),
    rootCauses: windows.flatMap((window) => list(window.value.rootCauses)),
    completion: windows.at(-1)?.value.completion ?? 'UNKNOWN',
  };
  return {
    answer: { ok: true, value, requestHash: first.requestHash, shown, calls: [] },
    calls: [],
    gaps: [
      {
        what: 'one judgement over all windows (the earliest critical step of the windows stands)',
        reason,
        spanIds: [],
      },
    ],
  };
}
