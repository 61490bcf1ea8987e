import { basename, join } from "node:path";
import type { BenchmarkJob } from "./benchmark-job.ts";
import { CHECKOUT_ROOT } from "./builds.ts";
import { ChildProcessClient } from "./child-process-rpc.ts";
import { getGrpcPath, type GrpcJobRequest } from "./load/grpc.ts";
import type { LoadGeneratorMethods } from "./load/load-generator.ts";
import {
  createJobRequest,
  FLOOR_AT_ONCE_SUFFIX,
  getBaselineServerUrlPath,
  type A2AMethod,
  type ServerEndpoint,
} from "./load/request-template.ts";
import { parseHttpResponse, splitSseFrames } from "./load/responses.ts";
import type { BenchmarkSettings } from "./settings.ts";
import type { RecordedResponse, SystemProcessMethods } from "./system-process-main.ts";
import { requireSystem } from "./systems-under-test.ts";

/** One core runs the system under test with all of its threads, and the other core runs the load generator. */
const SYSTEM_CORE = 1;
const LOAD_GENERATOR_CORE = 0;

/** A system under test that runs in its own process. */
export interface RunningSystem {
  readonly name: string;
  readonly process: ChildProcessClient<SystemProcessMethods>;
  /** Network endpoint of the system. */
  readonly endpoint: ServerEndpoint;
  /** File that the process writes its CPU profile to when it ends. */
  readonly profileFile: string | undefined;
}

/** Settings, load generator, and running systems that the workloads share. */
export class BenchmarkContext {
  readonly settings: BenchmarkSettings;
  /** Logs a line of progress for the user. */
  readonly logProgress: (line: string) => void;
  #loadGenerator: ChildProcessClient<LoadGeneratorMethods> | undefined;

  constructor(settings: BenchmarkSettings, logProgress: (line: string) => void) {
    this.settings = settings;
    this.logProgress = logProgress;
  }

  get loadGenerator(): ChildProcessClient<LoadGeneratorMethods> {
    if (!this.#loadGenerator) throw new Error("the load generator is not running");
    return this.#loadGenerator;
  }

  /** Starts the systems, runs `work`, and stops the systems even when `work` throws. */
  async runWithStartedSystems<T>(
    names: readonly string[],
    work: (systems: readonly RunningSystem[]) => Promise<T>,
    root: string = CHECKOUT_ROOT,
  ): Promise<T> {
    this.#loadGenerator ??= await ChildProcessClient.start<LoadGeneratorMethods>(
      "load generator",
      new URL("./load/load-generator.ts", import.meta.url),
      LOAD_GENERATOR_CORE,
    );
    const systems: RunningSystem[] = [];
    try {
      for (const name of names) systems.push(await this.#startSystem(name, root));
      return await work(systems);
    } finally {
      await Promise.all(systems.map(({ process }) => process.stop()));
    }
  }

  async #startSystem(name: string, root: string): Promise<RunningSystem> {
    const { profileDir } = this.settings;
    const profileName = `${name}-${basename(root)}-${Date.now()}.cpuprofile`;
    const execArgv = profileDir
      ? [
          "--cpu-prof",
          "--cpu-prof-interval=250",
          `--cpu-prof-dir=${profileDir}`,
          `--cpu-prof-name=${profileName}`,
        ]
      : [];
    const client = await ChildProcessClient.start<SystemProcessMethods>(
      name,
      new URL("./system-process-main.ts", import.meta.url),
      SYSTEM_CORE,
      [name, root],
      execArgv,
    );
    const { hostname, port, pathname } = new URL(await client.call("getUrl"));
    const { dialect } = requireSystem(name);
    return {
      name,
      process: client,
      endpoint: { host: hostname, port: Number(port), path: pathname, dialect },
      profileFile: profileDir && join(profileDir, profileName),
    };
  }

  async stopLoadGenerator(): Promise<void> {
    await this.#loadGenerator?.stop();
  }

  /** Sends a job to a system and returns the responses that make the baseline repeat it by event, and at once. */
  async recordResponses(
    system: RunningSystem,
    method: A2AMethod,
    job: BenchmarkJob,
  ): Promise<RecordedResponse[]> {
    const answer = await this.loadGenerator.call("sendOnce", createJobRequest(system.endpoint, method, job));
    const { headers, body } = parseHttpResponse(Buffer.from(answer, "latin1"));
    const contentType = headers["content-type"]?.split(";")[0] ?? "";
    const frames = contentType === "text/event-stream" ? splitSseFrames(body) : [body];
    const path = getBaselineServerUrlPath(method, job);
    return [
      { path, contentType, frames, yieldsBetweenFrames: job.kind === "turns" },
      { path: path + FLOOR_AT_ONCE_SUFFIX, contentType, frames: [body], yieldsBetweenFrames: false },
    ];
  }

  /** Sends a job to a system over gRPC and returns the response that makes the baseline for gRPC repeat it. */
  async recordGrpcResponses(
    { endpoint }: RunningSystem,
    call: Omit<GrpcJobRequest, "endpoint">,
  ): Promise<RecordedResponse[]> {
    const frames = await this.loadGenerator.call("sendOneGrpcCall", { endpoint, ...call });
    const path = getGrpcPath(call.operation);
    return [{ path, contentType: "application/grpc", frames, yieldsBetweenFrames: false }];
  }

  /** Makes the running baseline repeat the response of a running system. */
  async recordForBaseline(
    systems: readonly RunningSystem[],
    recordedSystem: string,
    method: A2AMethod,
    job: BenchmarkJob,
  ): Promise<void> {
    const system = requireRunningSystem(systems, recordedSystem);
    await replayResponses(
      requireRunningSystem(systems, "floor"),
      await this.recordResponses(system, method, job),
    );
  }
}

/** Makes a baseline repeat recorded responses. */
export async function replayResponses(
  baseline: RunningSystem,
  responses: readonly RecordedResponse[],
): Promise<void> {
  for (const response of responses) await baseline.process.call("setRecordedResponse", response);
}

/** Returns the running system with a name. Throws when it is not running. */
export function requireRunningSystem(systems: readonly RunningSystem[], name: string): RunningSystem {
  const system = systems.find((candidate) => candidate.name === name);
  if (!system) throw new Error(`${name} is not running`);
  return system;
}

/** Rotates a list, so that each round starts with a different system. */
export function rotateList<T>(all: readonly T[], by: number): T[] {
  const offset = by % all.length;
  return [...all.slice(offset), ...all.slice(0, offset)];
}
