import { jsonrepair } from 'jsonrepair';
import type { JsonValue } from '../../contracts/json.ts';
import { cleanJson } from '../clean-json.ts';

/** Beyond this a repair is not tried: it is for slips of a model, not for files. Characters. */
const REPAIR_LIMIT = 200_000;
/** Producers have been seen to encode twice; three levels cover them with one to spare. */
const MAX_LEVELS = 3;

export interface ReadArguments {
  readonly value: JsonValue;
  /** The producer's text, when the value is not simply its JSON. */
  readonly raw?: string;
  /** True when the text was not JSON and had to be mended, or could not be. */
  readonly repaired: boolean;
}

/**
 * Arguments of a tool call, which most producers record as JSON text. Text encoded more than once is decoded with
 * its raw form kept; text that is not JSON (raw control characters, cut ends, Python quoting) is mended if it can be
 * and stays text otherwise, flagged either way. An absent or empty text means a call without arguments.
 */
export function readArguments(recorded: JsonValue | undefined): ReadArguments {
  if (recorded === undefined || recorded === null) return { value: {}, repaired: false };
  if (typeof recorded !== 'string') return { value: recorded, repaired: false };
  if (recorded.trim() === '') return { value: {}, repaired: false };
  let value: JsonValue = recorded;
  let levels = 0;
  while (typeof value === 'string' && levels < MAX_LEVELS && /^\s*["{[]/.test(value)) {
    const parsed = parseOnce(value);
    if (parsed === undefined) return mend(recorded, value);
    value = parsed;
    levels += 1;
  }
  if (levels === 0) {
    const parsed = parseOnce(recorded);
    return parsed === undefined ? mend(recorded, recorded) : { value: parsed, repaired: false };
  }
  return levels === 1 ? { value, repaired: false } : { value, raw: recorded, repaired: false };
}

function parseOnce(text: string): JsonValue | undefined {
  try {
    return cleanJson(JSON.parse(text), 'tool arguments').value;
  } catch {
    return undefined;
  }
}

function mend(recorded: string, text: string): ReadArguments {
  if (text.length <= REPAIR_LIMIT && /^\s*[{[]/.test(text)) {
    try {
      return {
        value: cleanJson(JSON.parse(jsonrepair(text)), 'tool arguments').value,
        raw: recorded,
        repaired: true,
      };
    } catch {
      // Kept as text below, flagged.
    }
  }
  return { value: recorded, raw: recorded, repaired: true };
}
