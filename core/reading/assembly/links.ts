import { canonicalJson, sha256Hex } from '../../base/hash.ts';
import type { Message } from '../../session/session.ts';
import { compareTimes } from '../decode/times.ts';

import { blocksOf, isInference, isTool, type Work } from './work.ts';

export interface LooseTrace {
  readonly traceId: string;
  readonly works: readonly Work[];
}

/**
 * Some producers open a trace for every call and name no session. Such traces are one session when their content
 * says so: a call whose history begins with another's whole input and answer goes on from it, and a tool run that
 * an earlier answer asked for (same id, or same name and arguments) belongs to it. Only within one process or
 * service, and to the latest call before it. Returns, for each trace id, the trace id of the session's first trace.
 */
export function linkTraces(traces: readonly LooseTrace[]): Map<string, string> {
  const group = new Map(traces.map((trace) => [trace.traceId, trace.traceId]));
  const find = (id: string): string => {
    let at = id;
    for (let next = group.get(at); next !== undefined && next !== at; next = group.get(at)) at = next;
    return at;
  };
  const earlier = (a: Entry, b: Entry): number =>
    compareTimes(a.work.start, b.work.start) || (a.work.spanId < b.work.spanId ? -1 : 1);

  const entries = traces
    .flatMap((trace) => trace.works.map((work) => ({ traceId: trace.traceId, work })))
    .sort(earlier);
  const first = new Map<string, Entry>();
  for (const entry of entries) if (!first.has(entry.traceId)) first.set(entry.traceId, entry);

  const answered = new Map<string, string>();
  const asked = new Map<string, string>();
  for (const { traceId, work } of entries) {
    const place = placeOf(work);
    let before: string | undefined;
    if (isInference(work)) {
      const hashes = prefixHashes(work.content.input);
      // The longest history that somebody answered: the turn just before.
      for (let n = hashes.length - 1; n >= 0 && before === undefined; n -= 1)
        before = answered.get(`${place} ${hashes[n]}`);
      const history = prefixHashes([...work.content.input, ...work.content.output]).at(-1);
      if (history !== undefined && work.content.output.length > 0 && work.content.input.length > 0)
        answered.set(`${place} ${history}`, traceId);
      for (const block of blocksOf(work.content.output)) {
        if (block.type !== 'tool_use') continue;
        const call = canonicalJson([block.name, block.arguments]);
        asked.set(`${place} ${call}`, traceId);
        if (block.toolCallId !== null) asked.set(`${place} ${block.toolCallId} ${call}`, traceId);
      }
    } else if (isTool(work)) {
      const { name, arguments: args, toolCallId } = work.content.toolCall;
      const call = canonicalJson([name, args]);
      before = asked.get(`${place} ${toolCallId} ${call}`) ?? asked.get(`${place} ${call}`);
    }
    if (before !== undefined && find(before) !== find(traceId)) {
      const [a, b] = [find(before), find(traceId)];
      const [ea, eb] = [first.get(a), first.get(b)];
      const aFirst = ea === undefined || (eb !== undefined && earlier(ea, eb) < 0);
      group.set(aFirst ? b : a, aFirst ? a : b);
    }
  }
  return new Map(traces.map((trace) => [trace.traceId, find(trace.traceId)]));
}

interface Entry {
  readonly traceId: string;
  readonly work: Work;
}

function placeOf(work: Work): string {
  const { resource } = work.raw;
  return String(resource['service.instance.id'] ?? resource['service.name'] ?? '');
}

/** Hash of every beginning of a history, each from the one before, so that the cost stays linear. */
function prefixHashes(messages: readonly Message[]): string[] {
  const out: string[] = [];
  let hash = '';
  for (const message of messages) {
    const said = message.content.map((block) =>
      block.type === 'tool_use' ? [block.toolCallId, block.name, block.arguments] : block,
    );
    hash = sha256Hex(`${hash}${message.role}${canonicalJson(said)}`);
    out.push(hash);
  }
  return out;
}
