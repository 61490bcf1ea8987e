import { statSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { releaseWaitingJobs } from "./benchmark-job.ts";
import { CHECKOUT_ROOT } from "./builds.ts";
import { serveParentProcessCalls } from "./child-process-rpc.ts";
import { requireSystem } from "./systems-under-test.ts";

/** A started system under test. */
export interface StartedSystem {
  /** URL of the server. */
  readonly url: string;
  /** File of the SQLite store, if the system has one. */
  readonly storeFile?: string;
  /** Resolves once `count` tasks have ended since the start. */
  waitForEndedTasks?(count: number): Promise<void>;
  /** Sets the response that the baseline writes. Only the baseline has this method. */
  setRecordedResponse?(response: RecordedResponse): void;
}

/** A recorded response that the baseline repeats. */
export interface RecordedResponse {
  readonly path: string;
  readonly contentType: string;
  /** Frames of the body. Each frame is one write. */
  readonly frames: readonly string[];
  /** Whether the server returns to the event loop before each frame, as the agent does. */
  readonly yieldsBetweenFrames: boolean;
  /**
   * Number of frames that are written immediately. The others follow after `releaseWaitingJobs`. Default: all
   * frames.
   */
  readonly initialFrameCount?: number;
}

export interface ResourceUsage {
  /** User and system CPU time of the process in milliseconds. */
  readonly cpuMs: number;
  /** CPU time in milliseconds of the thread that runs the event loop. Other load on the machine has no effect. */
  readonly loopMs: number;
  readonly rss: number;
}

const [, , name = "", root = CHECKOUT_ROOT] = process.argv;
const startedSystem = await requireSystem(name).start(root);

/** Methods that the process of a system offers to the benchmark. */
export type SystemProcessMethods = {
  getUrl(): string;
  getResourceUsage(): ResourceUsage;
  /** Measures the resource usage after garbage collection. */
  measureSettledUsage(): Promise<ResourceUsage>;
  /** Starts to measure the longest time in milliseconds for which the event loop stalls. */
  startStallMeasurement(): void;
  endStallMeasurement(): number;
  waitForEndedTasks(count: number): Promise<void>;
  /** Measures the size in bytes of the SQLite file after a checkpoint. */
  measureStoreBytes(): Promise<number>;
  releaseWaitingJobs(): void;
  setRecordedResponse(response: RecordedResponse): void;
};

const stallHistogram = monitorEventLoopDelay({ resolution: 1 });

serveParentProcessCalls({
  getUrl: () => startedSystem.url,
  getResourceUsage: readResourceUsage,
  async measureSettledUsage() {
    setFlagsFromString("--expose-gc");
    const gc = runInNewContext("gc") as () => void;
    for (let round = 0; round < 3; round++) {
      gc();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return readResourceUsage();
  },
  startStallMeasurement: () => {
    stallHistogram.reset();
    stallHistogram.enable();
  },
  endStallMeasurement: () => {
    stallHistogram.disable();
    return stallHistogram.max / 1e6;
  },
  waitForEndedTasks: async (count) => startedSystem.waitForEndedTasks?.(count),
  measureStoreBytes: () => measureCheckpointedStoreBytes(startedSystem.storeFile ?? ""),
  releaseWaitingJobs,
  setRecordedResponse: (response) => startedSystem.setRecordedResponse?.(response),
} satisfies SystemProcessMethods);

function readResourceUsage(): ResourceUsage {
  const { user, system } = process.cpuUsage();
  const loop = process.threadCpuUsage();
  return {
    cpuMs: (user + system) / 1000,
    loopMs: (loop.user + loop.system) / 1000,
    rss: process.memoryUsage.rss(),
  };
}

/** Returns the size in bytes of a SQLite file after all pages of its write-ahead log are in the file. */
async function measureCheckpointedStoreBytes(storeFile: string): Promise<number> {
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(storeFile);
  try {
    while (db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.["busy"] !== 0) await pause(50);
    return statSync(storeFile).size;
  } finally {
    db.close();
  }
}
