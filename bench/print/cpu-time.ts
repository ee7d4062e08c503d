/**
 * CPU time (user and system) of this process rather than wall time: on a busy machine walls are mostly the
 * neighbours'. It counts all threads, so the collector's and the compiler's work is in it.
 */
export async function cpuTimed<T>(work: () => T | Promise<T>): Promise<{ result: T; seconds: number }> {
  const start = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(start);
  return { result, seconds: (user + system) / 1e6 };
}
