import type { Session } from '../session/session.ts';
import { toTrajectory } from './to-trajectory.ts';
import type { Trajectory } from './trajectory.ts';

const known = new WeakMap<Session, Trajectory>();

/** The trajectory of a session, laid out once for all stages that run in one process. Sessions are never changed. */
export function trajectoryOf(session: Session): Trajectory {
  const cached = known.get(session);
  if (cached !== undefined) return cached;
  const trajectory = toTrajectory(session);
  known.set(session, trajectory);
  return trajectory;
}
