/**
 * Runs a synchronous action, and measures the CPU time of this thread in milliseconds. Unlike elapsed time, CPU time
 * does not grow when other processes use the cores.
 */
export function measureCpuTime(action: () => void): number {
  const before = process.threadCpuUsage();
  action();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** Returns the smallest CPU time of seven measurements, because other processes disturb the caches. */
export function measureSmallestCpuTime(action: () => void): number {
  return Math.min(...Array.from({ length: 7 }, () => measureCpuTime(action)));
}
