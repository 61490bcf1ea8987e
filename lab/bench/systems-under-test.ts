import type { StartedSystem } from "./system-process-main.ts";
import type { RequestDialect } from "./load/request-template.ts";
import type { ColloquyServerVariant } from "./servers/colloquy.ts";

interface SystemUnderTest {
  readonly dialect: RequestDialect;
  /** Starts the system in its own process. The import is dynamic, so that the process loads nothing else. */
  start(): Promise<StartedSystem>;
}

export type SystemName =
  | "floor"
  | "colloquy-memory"
  | "colloquy-memory-unmerged"
  | "colloquy-memory-recorded"
  | "colloquy-memory-recorded-ids"
  | "colloquy-sqlite"
  | "colloquy-sqlite-unmerged"
  | "colloquy-sqlite-observed"
  | "colloquy-sqlite-100k"
  | "colloquy-sqlite-1m"
  | "colloquy-grpc-memory"
  | "colloquy-grpc-memory-unmerged"
  | "colloquy-grpc-sqlite"
  | "a2a-js-grpc"
  | "colloquy-adk-memory"
  | "colloquy-adk-memory-always"
  | "colloquy-adk-sqlite"
  | "colloquy-adk-untraced"
  | "colloquy-adk-sampled-10"
  | "colloquy-adk-sampled-100"
  | "adk-floor-sampled-10"
  | "adk-floor-sampled-100"
  | "a2a-js"
  | "adk-toA2a"
  | "adk-floor";

/** All systems under test. */
export const SYSTEMS_UNDER_TEST: Record<SystemName, SystemUnderTest> = {
  floor: {
    dialect: "floor",
    start: async () => (await import("./servers/baseline.ts")).startBaselineServer(),
  },
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
  "a2a-js-grpc": {
    dialect: "1.0",
    start: async () => (await import("./servers/a2a-js.ts")).startA2aJsGrpcServer(),
  },
  "colloquy-adk-memory": {
    dialect: "1.0",
    start: async () => (await import("./servers/colloquy.ts")).startColloquyAdkServer({ store: "memory" }),
  },
  "colloquy-adk-memory-always": {
    dialect: "1.0",
    start: async () =>
      (await import("./servers/colloquy.ts")).startColloquyAdkServer({ store: "memory" }, "always"),
  },
  "colloquy-adk-sqlite": {
    dialect: "1.0",
    start: async () => (await import("./servers/colloquy.ts")).startColloquyAdkServer({ store: "sqlite" }),
  },
  "colloquy-adk-untraced": defineTracedAdkSystem(false),
  "colloquy-adk-sampled-10": defineTracedAdkSystem({ sampleRatio: 0.1 }),
  "colloquy-adk-sampled-100": defineTracedAdkSystem({ sampleRatio: 1 }),
  "adk-floor-sampled-10": defineTracedAdkFloor(0.1),
  "adk-floor-sampled-100": defineTracedAdkFloor(1),
  "a2a-js": {
    dialect: "1.0",
    start: async () => (await import("./servers/a2a-js.ts")).startA2aJsServer(),
  },
  "adk-toA2a": {
    dialect: "0.3",
    start: async () => (await import("./servers/adk.ts")).startAdkToA2aServer(),
  },
  "adk-floor": {
    dialect: "floor",
    start: async () => (await import("./servers/adk.ts")).startAdkFloorServer(),
  },
};

function defineColloquySystem(variant: ColloquyServerVariant): SystemUnderTest {
  return {
    dialect: "1.0",
    start: async () => (await import("./servers/colloquy.ts")).startColloquyServer(variant),
  };
}

/** Variable with the URL of the collector, which belongs to the benchmark process. */
export const COLLECTOR_URL_VARIABLE = "COLLOQUY_BENCH_COLLECTOR";

/** Defines an ADK agent behind a server that sends its spans to the collector, or that starts no spans. */
function defineTracedAdkSystem(telemetry: { readonly sampleRatio: number } | false): SystemUnderTest {
  return {
    dialect: "1.0",
    start: async () => {
      const otlp = getCollectorUrl();
      const { startColloquyAdkServer } = await import("./servers/colloquy.ts");
      return startColloquyAdkServer({
        store: "memory",
        telemetry: telemetry === false ? false : { ...telemetry, otlp },
      });
    },
  };
}

/** Defines ADK's own runner in a process that sends its spans to the collector with the same packages. */
function defineTracedAdkFloor(sampleRatio: number): SystemUnderTest {
  return {
    dialect: "floor",
    start: async () => {
      const [{ startOtlpExport }, { startAdkFloorServer }] = await Promise.all([
        import("../../src/telemetry/opentelemetry/start-otlp-export.ts"),
        import("./servers/adk.ts"),
      ]);
      startOtlpExport({
        url: getCollectorUrl(),
        serviceName: "adk-floor",
        sampleRatio,
        metricIntervalMs: 60_000,
      });
      return startAdkFloorServer();
    },
  };
}

function getCollectorUrl(): string {
  return process.env[COLLECTOR_URL_VARIABLE] ?? "http://127.0.0.1:4318";
}

/** System whose responses the baseline repeats, with one event per chunk. */
export const SYSTEM_RECORDED_FOR_BASELINE: SystemName = "colloquy-memory-unmerged";

/** Systems whose wrong responses fail the benchmark. */
export const FAULTS_FAIL_BENCHMARK_SYSTEM_PATTERN: RegExp = /^(floor|adk-floor|colloquy)/;

export const SEND_SYSTEMS: readonly SystemName[] = [
  "floor",
  "colloquy-memory",
  "colloquy-memory-unmerged",
  "colloquy-sqlite",
  "a2a-js",
];
export const LONG_STREAM_SYSTEMS: readonly SystemName[] = [
  "floor",
  "colloquy-memory",
  "colloquy-memory-unmerged",
  "colloquy-sqlite",
  "colloquy-sqlite-unmerged",
  "a2a-js",
];
export const STREAM_SYSTEMS: readonly SystemName[] = LONG_STREAM_SYSTEMS;
/** Systems that are also measured in A2A 0.3. */
export const V0_3_STREAM_SYSTEMS: readonly SystemName[] = ["colloquy-memory", "colloquy-memory-unmerged"];
export const ADK_SYSTEMS: readonly SystemName[] = [
  "adk-floor",
  "colloquy-adk-memory",
  "colloquy-adk-memory-always",
  "colloquy-adk-sqlite",
  "adk-toA2a",
];
/**
 * One ADK agent: without spans, with the ids of traces only, and with spans for a collector. ADK's own runner shows
 * what ADK and OpenTelemetry cost without Colloquy.
 */
export const TELEMETRY_SYSTEMS: readonly SystemName[] = [
  "adk-floor",
  "adk-floor-sampled-10",
  "adk-floor-sampled-100",
  "colloquy-adk-untraced",
  "colloquy-adk-memory",
  "colloquy-adk-sampled-10",
  "colloquy-adk-sampled-100",
];
/** One agent: without a traffic record, with a record, and with a record without bodies. */
export const RECORDED_SYSTEMS: readonly SystemName[] = [
  "colloquy-memory",
  "colloquy-memory-recorded",
  "colloquy-memory-recorded-ids",
];
export const SYSTEMS_MEASURED_OVER_GRPC: readonly SystemName[] = [
  "colloquy-grpc-memory",
  "colloquy-grpc-memory-unmerged",
  "colloquy-grpc-sqlite",
  "a2a-js-grpc",
];
export const SUBSCRIBER_SYSTEMS: readonly SystemName[] = [
  "floor",
  "colloquy-memory",
  "colloquy-sqlite",
  "a2a-js",
];
