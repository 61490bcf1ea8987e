import type { RequestDialect } from "./load/request-template.ts";
import type { ColloquyServerVariant } from "./servers/colloquy.ts";
import type { StartedSystem } from "./system-process-main.ts";

interface SystemUnderTest {
  readonly dialect: RequestDialect;
  /**
   * Starts the system in its own process. Colloquy's systems run the build in `root`. The import is dynamic, so that the
   * process loads nothing else.
   */
  start(root: string): Promise<StartedSystem>;
}

/** Variable with the URL of the collector, which belongs to the benchmark process. */
export const COLLECTOR_URL_VARIABLE = "COLLOQUY_BENCH_COLLECTOR";
const otlp = process.env[COLLECTOR_URL_VARIABLE] ?? "http://127.0.0.1:4318";

/** All systems under test. */
const SYSTEMS: Readonly<Record<string, SystemUnderTest>> = {
  floor: {
    dialect: "floor",
    start: async () => (await import("./servers/baseline.ts")).startBaselineServer(),
  },
  "floor-grpc": {
    dialect: "floor",
    start: async () => (await import("./servers/baseline.ts")).startGrpcBaselineServer(),
  },
  "task-floor": defineTaskFloor("memory"),
  "task-floor-sqlite": defineTaskFloor("sqlite"),
  "colloquy-memory": defineColloquySystem({ store: "memory" }),
  "colloquy-memory-unmerged": defineColloquySystem({ store: "memory", mergesChunks: false }),
  "colloquy-memory-recorded": defineColloquySystem({ store: "memory", record: "with-bodies" }),
  "colloquy-memory-recorded-ids": defineColloquySystem({ store: "memory", record: "without-bodies" }),
  "colloquy-sqlite": defineColloquySystem({ store: "sqlite" }),
  "colloquy-sqlite-unmerged": defineColloquySystem({ store: "sqlite", mergesChunks: false }),
  "colloquy-sqlite-observed": defineColloquySystem({ store: "sqlite", countsEndedTasks: true }),
  "colloquy-sqlite-100k": defineColloquySystem({ store: "sqlite", storedTaskCount: 100_000 }),
  "colloquy-sqlite-1m": defineColloquySystem({ store: "sqlite", storedTaskCount: 1_000_000 }),
  "colloquy-grpc-memory": defineColloquySystem({ store: "memory", grpc: true }),
  "colloquy-grpc-memory-unmerged": defineColloquySystem({ store: "memory", mergesChunks: false, grpc: true }),
  "colloquy-grpc-sqlite": defineColloquySystem({ store: "sqlite", grpc: true }),
  "colloquy-adk-memory": defineColloquySystem({ store: "memory", agent: "adk" }),
  "colloquy-adk-memory-always": defineColloquySystem({ store: "memory", agent: "adk-always" }),
  "colloquy-adk-sqlite": defineColloquySystem({ store: "sqlite", agent: "adk" }),
  "colloquy-adk-untraced": defineColloquySystem({ store: "memory", agent: "adk", telemetry: false }),
  "colloquy-adk-sampled-10": defineColloquySystem({
    store: "memory",
    agent: "adk",
    telemetry: { otlp, sampleRatio: 0.1 },
  }),
  "colloquy-adk-sampled-100": defineColloquySystem({
    store: "memory",
    agent: "adk",
    telemetry: { otlp, sampleRatio: 1 },
  }),
  "adk-floor": {
    dialect: "floor",
    start: async () => (await import("./servers/adk.ts")).startAdkFloorServer(),
  },
  "adk-floor-sampled-10": defineTracedAdkFloor(0.1),
  "adk-floor-sampled-100": defineTracedAdkFloor(1),
  "adk-toA2a": {
    dialect: "0.3",
    start: async () => (await import("./servers/adk.ts")).startAdkToA2aServer(),
  },
  "a2a-js": {
    dialect: "1.0",
    start: async () => (await import("./servers/a2a-js.ts")).startA2aJsServer(),
  },
  "a2a-js-grpc": {
    dialect: "1.0",
    start: async () => (await import("./servers/a2a-js.ts")).startA2aJsGrpcServer(),
  },
};

/** Returns the system with a name. */
export function requireSystem(name: string): SystemUnderTest {
  const system = SYSTEMS[name];
  if (!system) throw new Error(`the system ${name} does not exist`);
  return system;
}

function defineColloquySystem(variant: ColloquyServerVariant): SystemUnderTest {
  return {
    dialect: "1.0",
    start: async (root) => (await import("./servers/colloquy.ts")).startColloquyServer(variant, root),
  };
}

function defineTaskFloor(store: "memory" | "sqlite"): SystemUnderTest {
  return {
    dialect: "1.0",
    start: async () => (await import("./servers/task-floor.ts")).startTaskFloorServer(store),
  };
}

/** Defines ADK's own runner in a process that sends its spans to the collector with the same packages. */
function defineTracedAdkFloor(sampleRatio: number): SystemUnderTest {
  return {
    dialect: "floor",
    start: async () => {
      const [{ startOtlpExport }, { startAdkFloorServer }] = await Promise.all([
        import("../../src/observe/telemetry/opentelemetry/start-otlp-export.ts"),
        import("./servers/adk.ts"),
      ]);
      startOtlpExport({ url: otlp, serviceName: "adk-floor", sampleRatio, metricIntervalMs: 60_000 });
      return startAdkFloorServer();
    },
  };
}

/** System whose responses the baseline repeats, with one event per chunk. */
export const SYSTEM_RECORDED_FOR_BASELINE = "colloquy-memory-unmerged";

/** Systems whose wrong responses fail the benchmark. */
export const FAULTS_FAIL_BENCHMARK_SYSTEM_PATTERN: RegExp = /^(floor|task-floor|adk-floor|colloquy)/;
