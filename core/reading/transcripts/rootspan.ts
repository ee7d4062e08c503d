import * as z from 'zod';
import { isJsonObject } from '../../base/json.ts';
import { SessionInvalidError } from '../../errors/errors.ts';
import { sessionSchema } from '../../session/session.ts';
import type { TranscriptFormat } from '../decode/format.ts';

/** Our own normal form, as `rootspan` stores and exports it. Camel case and `kind` tell it from Strands' JSON. */
export const rootspan: TranscriptFormat = {
  id: 'rootspan',
  title: 'Rootspan session (normal form)',
  knownBy: '{sessionId, format, traces: [{traceId, spans: [{kind, spanId}]}]}',
  from: '`readSessions` of the library as JSON, and the frozen sessions of a store (`sessions/` of the bucket or folder)',
  checkedOn: 'this version',

  recognise(document) {
    if (!isJsonObject(document) || !Array.isArray(document.traces)) return { match: 'no' };
    return typeof document.sessionId === 'string' && typeof document.format === 'string'
      ? { match: 'yes', sure: 1 }
      : { match: 'no' };
  },

  read(document, source) {
    const parsed = sessionSchema.safeParse(document);
    if (!parsed.success) {
      throw new SessionInvalidError(
        `${source}: this looks like a Rootspan session but does not fit its schema: ${z.prettifyError(parsed.error)}`,
        { cause: parsed.error },
      );
    }
    return { sessions: [parsed.data], unread: [] };
  },
};
