import type { Session } from '../session/model.ts';
import { toTrajectory } from '../session/to-trajectory.ts';
import type { Trajectory } from '../session/trajectory.ts';

const known = new WeakMap<Session, Trajectory>();

/** The trajectory of a session, laid out once for all stages that run in one process. Sessions are never changed. */
export function trajectoryOf(session: Session): Trajectory {
  const held = known.get(session);
  if (held !== undefined) return held;
  const trajectory = toTrajectory(session);
  known.set(session, trajectory);
  return trajectory;
}
