import { offeredTools } from '../conventions/tool-definitions.ts';
import { ancestors } from './duplicates.ts';
import { isInference, type Work } from './work.ts';

/**
 * A list of tools may stand on a span that is neither a model call nor an agent's run: a framework's step, a tool's own
 * span. It then belongs to the nearest of these above, else to the trace's first that has no list.
 */
export function placeOfferedTools(works: readonly Work[]): void {
  const byId = new Map(works.map((work) => [work.spanId, work]));
  for (const work of works) {
    if (work.content.kind !== 'other' && work.content.kind !== 'execute_tool') continue;
    if (work.flags.has('merged-duplicate')) continue;
    const tools = offeredTools(work.raw.attributes);
    if (tools.length === 0) continue;
    const above = [...ancestors(work, byId)].find(holdsTools);
    const holder = above ?? works.find((other) => holdsTools(other) && !hasTools(other));
    if (holder === undefined || hasTools(holder)) continue;
    if (isInference(holder)) holder.content = { ...holder.content, tools };
    else if (holder.content.kind === 'invoke_agent')
      holder.content = { ...holder.content, availableTools: tools };
  }
}

const holdsTools = ({ content }: Work): boolean =>
  content.kind === 'inference' || content.kind === 'invoke_agent';

const hasTools = ({ content }: Work): boolean =>
  content.kind === 'inference'
    ? (content.tools ?? []).length > 0
    : content.kind === 'invoke_agent' && content.availableTools.length > 0;
