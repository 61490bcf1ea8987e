import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FaultControls } from "./fault-controls.ts";
import type { SmallFileSystem } from "./small-file-system.ts";

export interface FaultEnvironment {
  readonly file: string;
  readonly controls: FaultControls;
  readonly disk: SmallFileSystem;
  readonly server: ChildProcess;
}

/** A fault of the environment. `inject` resolves with a function that ends the fault. */
export interface FaultScenario {
  readonly name: string;
  readonly durationMs: number;
  readonly inject: (environment: FaultEnvironment) => Promise<() => Promise<void>>;
  /** Whether the store must report the fault. */
  readonly storeStates: readonly string[];
  /** Environment variables of the server process. */
  readonly env?: Readonly<Record<string, string>>;
}

const fillDisk: FaultScenario["inject"] = async ({ disk }) => {
  disk.fill();
  return async () => disk.free();
};

const failSyncs =
  (count: number): FaultScenario["inject"] =>
  async ({ controls }) => {
    controls.failSyncs(count);
    return async () => controls.failSyncs(0);
  };

const moveWallClock =
  (seconds: number): FaultScenario["inject"] =>
  async ({ controls }) => {
    controls.setWallClockOffset(seconds);
    return async () => {};
  };

/** Locks the file in another process. */
const lockFile: FaultScenario["inject"] = async ({ file }) => {
  const holder = fork(fileURLToPath(new URL("lock-holder-child.ts", import.meta.url)), [file]);
  await once(holder, "message");
  return async () => {
    holder.kill("SIGKILL");
    await once(holder, "exit");
  };
};

/** Makes the sampler, the span processor, and the observer of the server's program throw. */
const breakTelemetry: FaultScenario["inject"] = async ({ server }) => {
  server.send({ telemetryThrows: true });
  return async () => void server.send({ telemetryThrows: false });
};

export const FAULT_SCENARIOS: readonly FaultScenario[] = [
  { name: "full disk, 5 s", durationMs: 5_000, inject: fillDisk, storeStates: ["full", "healthy"] },
  { name: "full disk, 70 s", durationMs: 70_000, inject: fillDisk, storeStates: ["full", "healthy"] },
  { name: "foreign lock, 30 s", durationMs: 30_000, inject: lockFile, storeStates: ["failing", "healthy"] },
  { name: "one failed sync", durationMs: 1_000, inject: failSyncs(1), storeStates: ["failed", "healthy"] },
  { name: "failed syncs, 5 s", durationMs: 5_000, inject: failSyncs(-1), storeStates: ["failed", "healthy"] },
  { name: "wall clock -1 h", durationMs: 3_000, inject: moveWallClock(-3_600), storeStates: [] },
  { name: "wall clock +1 d", durationMs: 3_000, inject: moveWallClock(86_400), storeStates: [] },
  {
    name: "telemetry and observer that throw, 5 s",
    durationMs: 5_000,
    inject: breakTelemetry,
    storeStates: [],
    env: { FAULT_TELEMETRY: "1" },
  },
];
