/**
 * Runs a synchronous action, and measures the CPU time of this thread in milliseconds. Unlike elapsed time, CPU time
 * does not grow when other processes use the cores.
 */
export function measureCpuTime<T>(action: () => T): { readonly result: T; readonly cpuTimeMs: number } {
  const before = process.threadCpuUsage();
  const result = action();
  const { user, system } = process.threadCpuUsage(before);
  return { result, cpuTimeMs: (user + system) / 1000 };
}
