import { spawnSync } from "node:child_process";

let cachedResult: boolean | undefined;

/** Returns true if the program `taskset` can pin processes to the cores 0 and 1. */
export function canPinProcesses(): boolean {
  return (cachedResult ??= ["0", "1"].every(
    (core) => spawnSync("taskset", ["-c", core, "true"], { stdio: "ignore" }).status === 0,
  ));
}
