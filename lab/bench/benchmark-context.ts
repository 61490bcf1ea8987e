import type { SystemProcessMethods } from "./system-process-main.ts";
import type { BenchmarkJob } from "./benchmark-job.ts";
import {
  FLOOR_AT_ONCE_SUFFIX,
  getBaselineServerUrlPath,
  createJobRequest,
  type ServerEndpoint,
  type A2AMethod,
} from "./load/request-template.ts";
import { parseHttpResponse, splitSseFrames } from "./load/http-response.ts";
import type { LoadGeneratorMethods } from "./load/load-generator.ts";
import { ChildProcessClient } from "./child-process-rpc.ts";
import type { BenchmarkSettings } from "./settings.ts";
import { SYSTEMS_UNDER_TEST, type SystemName } from "./systems-under-test.ts";

/** One core runs the system under test with all of its threads, and the other core runs the load generator. */
const SYSTEM_CORE = 1;
const LOAD_GENERATOR_CORE = 0;

/** A system under test that runs in its own process. */
export interface RunningSystem {
  readonly name: SystemName;
  readonly process: ChildProcessClient<SystemProcessMethods>;
  /** Network endpoint of the system. */
  readonly endpoint: ServerEndpoint;
}

/** Settings, load generator, and running systems that the workloads share. */
export class BenchmarkContext {
  readonly settings: BenchmarkSettings;
  readonly loadGenerator: ChildProcessClient<LoadGeneratorMethods>;
  readonly #logProgress: (line: string) => void;

  private constructor(
    settings: BenchmarkSettings,
    loadGenerator: ChildProcessClient<LoadGeneratorMethods>,
    logProgress: (line: string) => void,
  ) {
    this.settings = settings;
    this.loadGenerator = loadGenerator;
    this.#logProgress = logProgress;
  }

  static async createAndStartLoadGenerator(
    settings: BenchmarkSettings,
    logProgress: (line: string) => void,
  ): Promise<BenchmarkContext> {
    const loadGenerator = await ChildProcessClient.start<LoadGeneratorMethods>(
      "load generator",
      new URL("./load/load-generator.ts", import.meta.url),
      LOAD_GENERATOR_CORE,
    );
    return new BenchmarkContext(settings, loadGenerator, logProgress);
  }

  async stopLoadGenerator(): Promise<void> {
    await this.loadGenerator.stop();
  }

  /** Logs a line of progress for the user. */
  logProgress(line: string): void {
    this.#logProgress(line);
  }

  /** Starts the systems, runs `work`, and stops the systems even when `work` throws. */
  async runWithStartedSystems<T>(
    names: readonly SystemName[],
    work: (systems: readonly RunningSystem[]) => Promise<T>,
  ): Promise<T> {
    const systems: RunningSystem[] = [];
    try {
      for (const name of names) systems.push(await this.#startSystem(name));
      return await work(systems);
    } finally {
      await Promise.all(systems.map(({ process }) => process.stop()));
    }
  }

  async #startSystem(name: SystemName): Promise<RunningSystem> {
    const { profileDir } = this.settings;
    const execArgv = profileDir
      ? ["--cpu-prof", `--cpu-prof-dir=${profileDir}`, `--cpu-prof-name=${name}-${Date.now()}.cpuprofile`]
      : [];
    const client = await ChildProcessClient.start<SystemProcessMethods>(
      name,
      new URL("./system-process-main.ts", import.meta.url),
      SYSTEM_CORE,
      [name],
      execArgv,
    );
    const url = await client.call("getUrl");
    const { hostname, port, pathname } = new URL(url);
    const { dialect } = SYSTEMS_UNDER_TEST[name];
    return {
      name,
      process: client,
      endpoint: { host: hostname, port: Number(port), path: pathname, dialect },
    };
  }

  /** Records the response of a system and makes the baseline repeat it event by event, or at once. */
  async recordResponseForBaselineReplay(
    systems: readonly RunningSystem[],
    recordedSystem: SystemName,
    method: A2AMethod,
    job: BenchmarkJob,
  ): Promise<void> {
    const baseline = requireRunningSystem(systems, "floor");
    const answer = await this.loadGenerator.call(
      "sendOnce",
      createJobRequest(requireRunningSystem(systems, recordedSystem).endpoint, method, job),
    );
    const { headers, body } = parseHttpResponse(Buffer.from(answer, "latin1"));
    const contentType = headers["content-type"]?.split(";")[0] ?? "";
    const isStreamed = contentType === "text/event-stream";
    const path = getBaselineServerUrlPath(method, job);
    const response = { path, contentType, frames: [body], yieldsBetweenFrames: false };
    await baseline.process.call("setRecordedResponse", {
      ...response,
      path: path + FLOOR_AT_ONCE_SUFFIX,
    });
    await baseline.process.call("setRecordedResponse", {
      ...response,
      frames: isStreamed ? splitSseFrames(body) : [body],
      yieldsBetweenFrames: job.kind === "turns",
    });
  }
}

/** Returns the running system with a name. Throws when it is not running. */
export function requireRunningSystem(systems: readonly RunningSystem[], name: SystemName): RunningSystem {
  const system = systems.find((candidate) => candidate.name === name);
  if (!system) throw new Error(`${name} is not running`);
  return system;
}

/** Rotates a list, so that each round starts with a different system. */
export function rotateList<T>(all: readonly T[], by: number): T[] {
  const offset = by % all.length;
  return [...all.slice(offset), ...all.slice(0, offset)];
}
