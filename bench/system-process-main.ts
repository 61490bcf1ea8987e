import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { releaseWaitingJobs } from "./benchmark-job.ts";
import { serveParentProcessCalls } from "./child-process-rpc.ts";
import { SYSTEMS_UNDER_TEST, type SystemName } from "./systems-under-test.ts";

/** A started system under test. */
export interface StartedSystem {
  /** URL of the server. */
  readonly url: string;
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
  readonly rss: number;
}

const [, , name = ""] = process.argv;
const startedSystem = await SYSTEMS_UNDER_TEST[name as SystemName].start();

/** Methods that the process of a system offers to the benchmark. */
export type SystemProcessMethods = {
  getUrl(): string;
  getResourceUsage(): ResourceUsage;
  /** Measures the resource usage after garbage collection. */
  measureSettledUsage(): Promise<ResourceUsage>;
  releaseWaitingJobs(): void;
  setRecordedResponse(response: RecordedResponse): void;
};

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
  releaseWaitingJobs,
  setRecordedResponse: (response) => startedSystem.setRecordedResponse?.(response),
} satisfies SystemProcessMethods);

function readResourceUsage(): ResourceUsage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rss: process.memoryUsage.rss() };
}
