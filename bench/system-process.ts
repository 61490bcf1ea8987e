import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { releaseWaitingJobs } from "./job.ts";
import { serveRpc } from "./child-process-rpc.ts";
import { SYSTEMS_UNDER_TEST, type SystemName } from "./systems-under-test.ts";

/** What a server under test offers to the bench. */
export interface StartedSystem {
  /** Where it listens; absent for a subject without a network. */
  readonly url?: string;
  /** The floor only: the bytes that it writes. */
  setRecordedResponse?(response: RecordedResponse): void;
  /** A subject without a network only: does jobs by itself for a while. */
  runDirectly?(options: DirectRunOptions): Promise<DirectRunResult>;
}

export interface DirectRunOptions {
  readonly connections: number;
  /** Not counted. */
  readonly rampUpMs: number;
  readonly durationMs: number;
}

export interface DirectRunResult {
  readonly perSecond: number;
  /** Altogether, with those of the lead. */
  readonly completed: number;
  readonly checked: number;
  readonly faults: readonly string[];
}

/** An answer to be written word for word. */
export interface RecordedResponse {
  readonly path: string;
  readonly contentType: string;
  /** Each is one write. */
  readonly frames: readonly string[];
  /** Gives the event loop a turn before each frame, as the agent does. */
  readonly yieldsBetweenFrames: boolean;
  /** How many frames come at once; the others after `releaseWaitingJobs`. Absent: all. */
  readonly initialFrameCount?: number;
}

export interface ResourceUsage {
  /** User and system time of the process so far. */
  readonly cpuMs: number;
  readonly rss: number;
}

const [, , name = ""] = process.argv;
const startedSystem = await SYSTEMS_UNDER_TEST[name as SystemName].start();

/** What a subject's process does for the bench. */
export type SystemProcessMethods = {
  getUrl(): string | undefined;
  getResourceUsage(): ResourceUsage;
  /** Resident memory with the garbage gone. */
  measureSettledUsage(): Promise<ResourceUsage>;
  releaseWaitingJobs(): void;
  setRecordedResponse(response: RecordedResponse): void;
  runDirectly(options: DirectRunOptions): Promise<DirectRunResult>;
};

serveRpc({
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
  async runDirectly(options) {
    if (!startedSystem.runDirectly) throw new Error(`${name} has a network and is measured through it`);
    return startedSystem.runDirectly(options);
  },
} satisfies SystemProcessMethods);

function readResourceUsage(): ResourceUsage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, rss: process.memoryUsage.rss() };
}
