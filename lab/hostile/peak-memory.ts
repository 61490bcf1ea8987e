import { readFileSync, writeFileSync } from "node:fs";

/**
 * Peak of the resident memory of a process, as Linux records it. On other systems, the values are 0, and the attacks
 * check only stalls and responses.
 */
export function readPeakMemoryMiB(processId: number): number {
  try {
    const [, kibibytes = "0"] =
      /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${processId}/status`, "utf8")) ?? [];
    return Number(kibibytes) / 1024;
  } catch {
    return 0;
  }
}

/** Resets the peak to the current size. */
export function resetPeakMemory(processId: number): void {
  try {
    writeFileSync(`/proc/${processId}/clear_refs`, "5");
  } catch {
    // The process has exited, or the system is not Linux.
  }
}
