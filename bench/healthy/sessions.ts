import { readSessions } from '../../core/reading/registry.ts';
import type { Session } from '../../core/session/session.ts';
import { HEALTHY } from './conversations.ts';
import { WRITERS } from './writers.ts';

export interface HealthySession {
  readonly kind: string;
  readonly writer: string;
  readonly session: Session;
}

/** Every healthy conversation in every form. */
export function healthySessions(): HealthySession[] {
  return Object.entries(WRITERS).flatMap(([writer, write]) =>
    HEALTHY.map((conversation) => {
      const { kind } = conversation;
      const { sessions } = readSessions({ document: write(conversation), source: `${writer}: ${kind}` });
      const [session] = sessions;
      if (session === undefined || sessions.length > 1)
        throw new Error(`${writer}, ${kind}: ${sessions.length} sessions`);
      return { kind, writer, session };
    }),
  );
}
