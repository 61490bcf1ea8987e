import { execFileSync } from "node:child_process";
import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Faults that a library in the server process injects. */
export interface FaultControls {
  /** Environment variables of the server process. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes the next `count` syncs fail with EIO. The value -1 makes every sync fail. */
  failSyncs(count: number): void;
  /** Moves the wall clock of the server process, but not its monotonic clock. */
  setWallClockOffset(seconds: number): void;
  /** Moves the wall clock and the monotonic clock of the server process at the same moment. */
  setClockOffsets(wallSeconds: number, monotonicSeconds: number): void;
}

/** Compiles the library into `folder`. Requires Linux with `gcc`. */
export function compileFaultShim(folder: string): FaultControls {
  const library = join(folder, "fault-shim.so");
  const control = join(folder, "fault-control");
  const source = fileURLToPath(new URL("fault-shim.c", import.meta.url));
  execFileSync("gcc", ["-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"]);
  writeFileSync(control, Buffer.alloc(12));
  const writeControl = (offset: number, ...values: number[]): void => {
    const file = openSync(control, "r+");
    writeSync(file, Int32Array.from(values), 0, 4 * values.length, offset);
    closeSync(file);
  };
  return {
    env: { LD_PRELOAD: library, COLLOQUY_FAULT_CONTROL: control },
    failSyncs: (count) => writeControl(0, count),
    setWallClockOffset: (seconds) => writeControl(4, seconds),
    setClockOffsets: (wallSeconds, monotonicSeconds) => writeControl(4, wallSeconds, monotonicSeconds),
  };
}
