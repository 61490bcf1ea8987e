import { createServer } from "node:http";
import { replayResponses, type BenchmarkContext, type RunningSystem } from "../benchmark-context.ts";
import { SCRIPTED_MODEL_REPLY_JOB, SCRIPTED_MODEL_REPLY_TEXT, type BenchmarkJob } from "../benchmark-job.ts";
import { selectStoresBySize } from "../growth/lists.ts";
import { computeMedian } from "../interval.ts";
import type { A2AMethod } from "../load/request-template.ts";
import type { ReportTable } from "../report.ts";
import { listenOnFreePort } from "../servers/baseline.ts";
import { COLLECTOR_URL_VARIABLE, SYSTEM_RECORDED_FOR_BASELINE } from "../systems-under-test.ts";
import {
  CONNECTION_COUNT,
  createGrpcTarget,
  createJobTarget,
  measureThroughputTable,
  TEN_CHUNK_JOB,
  type LoadTarget,
  type RatioColumn,
  type RoundsByLabel,
} from "./throughput.ts";

const RATIOS_TO_FLOORS_AND_A2A_JS: readonly RatioColumn[] = [
  { key: "toFloor", title: "× floor", figure: "rate", to: "floor" },
  { key: "cpuToFloor", title: "cpu × floor", figure: "cpu", to: "floor" },
  {
    key: "cpuToTaskFloor",
    title: "cpu × task-floor",
    figure: "cpu",
    to: (label) =>
      label.startsWith("colloquy")
        ? `task-floor${label.startsWith("colloquy-sqlite") ? "-sqlite" : ""}`
        : undefined,
  },
  { key: "toA2aJs", title: "× a2a-js", figure: "rate", to: "a2a-js" },
];

const SEND_SYSTEMS = [
  "floor",
  "task-floor",
  "task-floor-sqlite",
  "colloquy-memory",
  "colloquy-memory-unmerged",
  "colloquy-sqlite",
  "a2a-js",
];

/** Measures `SendMessage` with ten chunks. */
export async function measureSend(bench: BenchmarkContext): Promise<ReportTable[]> {
  const table = await measureThroughputTable(bench, {
    workload: "send",
    title: `SendMessage, ${TEN_CHUNK_JOB.count} chunks, ${CONNECTION_COUNT} connections`,
    systems: SEND_SYSTEMS,
    async createLoadTargets(_, systems) {
      await bench.recordForBaseline(systems, SYSTEM_RECORDED_FOR_BASELINE, "SendMessage", TEN_CHUNK_JOB);
      return systems.map((system) => createJobTarget(system, "SendMessage"));
    },
    ratios: RATIOS_TO_FLOORS_AND_A2A_JS,
    limits: {
      "colloquy-memory": { toFloor: { min: 0.45 }, cpuToFloor: { max: 2.25 }, toA2aJs: { min: 8 } },
      "colloquy-sqlite": { toFloor: { min: 0.2 }, cpuToFloor: { max: 3.5 }, toA2aJs: { min: 3 } },
    },
  });
  return [table];
}

/** Systems that are measured in A2A 0.3 and in A2A 1.0. */
const V0_3_SYSTEMS = new Set(["colloquy-memory", "colloquy-memory-unmerged"]);
const V0_3_SUFFIX = ", 0.3";

/**
 * Measures `SendStreamingMessage` with ten chunks. The baseline writes the recorded response at once, and event by event.
 * Some servers of Colloquy are also measured with `message/stream` of A2A 0.3 in the same process.
 */
export async function measureStreaming(bench: BenchmarkContext): Promise<ReportTable[]> {
  const method: A2AMethod = "SendStreamingMessage";
  const createTarget = (
    system: RunningSystem,
    suffix: string,
    dialect = system.endpoint.dialect,
  ): LoadTarget => ({
    ...createJobTarget({ ...system, endpoint: { ...system.endpoint, dialect } }, method),
    label: system.name + suffix,
  });
  const table = await measureThroughputTable(bench, {
    workload: "stream",
    title: `${method}, ${TEN_CHUNK_JOB.count} chunks, ${CONNECTION_COUNT} connections`,
    systems: [...SEND_SYSTEMS.slice(0, -1), "colloquy-sqlite-unmerged", "a2a-js"],
    async createLoadTargets(_, systems) {
      await bench.recordForBaseline(systems, SYSTEM_RECORDED_FOR_BASELINE, method, TEN_CHUNK_JOB);
      return systems.flatMap((system) => {
        if (system.name === "floor")
          return [
            createTarget(system, "", "floor-at-once"),
            createTarget(system, ", write per event", "floor"),
          ];
        return V0_3_SYSTEMS.has(system.name)
          ? [createTarget(system, ""), createTarget(system, V0_3_SUFFIX, "0.3")]
          : [createTarget(system, "")];
      });
    },
    ratios: [
      ...RATIOS_TO_FLOORS_AND_A2A_JS,
      {
        key: "cost",
        title: "cost/1.0",
        figure: "time",
        to: (label) => (label.endsWith(V0_3_SUFFIX) ? label.slice(0, -V0_3_SUFFIX.length) : undefined),
      },
    ],
    limits: {
      "colloquy-memory": { toFloor: { min: 0.5 }, toA2aJs: { min: 5 } },
      // Each event is translated once.
      ...Object.fromEntries([...V0_3_SYSTEMS].map((name) => [name + V0_3_SUFFIX, { cost: { max: 1.25 } }])),
    },
  });
  return [table];
}

/** Measures `SendMessage` and `SendStreamingMessage` with ten chunks over gRPC. */
export async function measureGrpc(bench: BenchmarkContext): Promise<ReportTable[]> {
  const tables: ReportTable[] = [];
  for (const operation of ["SendMessage", "SendStreamingMessage"] as const)
    tables.push(
      await measureThroughputTable(bench, {
        workload: "grpc",
        title: `${operation} over gRPC, ${TEN_CHUNK_JOB.count} chunks, ${CONNECTION_COUNT} connections`,
        systems: [
          "floor-grpc",
          "colloquy-grpc-memory",
          "colloquy-grpc-memory-unmerged",
          "colloquy-grpc-sqlite",
          "a2a-js-grpc",
        ],
        async createLoadTargets(findSystem, systems) {
          const targets = systems.map((system) => createGrpcTarget(system, operation));
          const call = { operation, job: TEN_CHUNK_JOB };
          const recorded = findSystem("colloquy-grpc-memory-unmerged");
          await replayResponses(findSystem("floor-grpc"), await bench.recordGrpcResponses(recorded, call));
          return targets;
        },
        ratios: [
          { key: "toFloor", title: "× floor", figure: "rate", to: "floor-grpc" },
          { key: "cpuToFloor", title: "cpu × floor", figure: "cpu", to: "floor-grpc" },
          { key: "toA2aJs", title: "× a2a-js", figure: "rate", to: "a2a-js-grpc" },
        ],
      }),
    );
  return tables;
}

const CONCURRENT_TASK_COUNT = 16;
/** The ADK agent returns its script for every job. */
const ANY_JOB: BenchmarkJob = { kind: "turns", count: 1 };
const A2A_METHODS_BY_RESPONSE_MODE: Record<string, A2AMethod> = {
  whole: "SendMessage",
  streamed: "SendStreamingMessage",
};

/** Returns a function that returns the row of a system with the response mode of another row. */
function findRowWithSameMode(name: string): (label: string) => string {
  return (label) => `${name}, ${label.split(", ")[1]}`;
}

/** Measures one ADK agent with a scripted model behind each server. */
export async function measureAdkThroughput(bench: BenchmarkContext): Promise<ReportTable[]> {
  const table = await measureThroughputTable(bench, {
    workload: "adk",
    title: `ADK agent, scripted model, ${SCRIPTED_MODEL_REPLY_JOB.count} partials, ${CONCURRENT_TASK_COUNT} at once`,
    systems: [
      "adk-floor",
      "colloquy-adk-memory",
      "colloquy-adk-memory-always",
      "colloquy-adk-sqlite",
      "adk-toA2a",
    ],
    connections: CONCURRENT_TASK_COUNT,
    createLoadTargets: (_, systems) =>
      Object.entries(A2A_METHODS_BY_RESPONSE_MODE).flatMap(([mode, method]) =>
        systems.map((system) => ({
          ...createJobTarget(system, method, ANY_JOB, SCRIPTED_MODEL_REPLY_TEXT),
          label: `${system.name}, ${mode}`,
        })),
      ),
    ratios: [
      { key: "toFloor", title: "× adk-floor", figure: "rate", to: findRowWithSameMode("adk-floor") },
      { key: "toRival", title: "× adk-toA2a", figure: "rate", to: findRowWithSameMode("adk-toA2a") },
      {
        key: "cpuToAlways",
        title: "cpu × always",
        figure: "cpu",
        to: findRowWithSameMode("colloquy-adk-memory-always"),
      },
    ],
    limits: {
      "colloquy-adk-memory, whole": { toFloor: { min: 0.75 }, cpuToAlways: { max: 0.5 } },
      "colloquy-adk-memory, streamed": { toFloor: { min: 0.75 } },
      "colloquy-adk-sqlite, whole": { toRival: { min: 1.5 } },
    },
  });
  return [table];
}

/** The untraced counterpart of each traced system, and ADK's own runner with the same traces. */
const UNTRACED = "colloquy-adk-untraced";
const BARE_RUNNERS: Readonly<Record<string, string>> = {
  "colloquy-adk-memory": "adk-floor",
  "colloquy-adk-sampled-10": "adk-floor-sampled-10",
  "colloquy-adk-sampled-100": "adk-floor-sampled-100",
};

/**
 * Measures the CPU time that traces add to an ADK agent: without spans, with the ids of traces only, and with spans for a
 * collector. The collector runs in the benchmark process, and discards what it receives. *own cpu* is the time that traces
 * add behind Colloquy, less the time that they add to ADK's own runner, relative to the time without traces.
 */
export async function measureTelemetry(bench: BenchmarkContext): Promise<ReportTable[]> {
  const collector = createServer((request, response) => {
    request
      .resume()
      .once("end", () => response.writeHead(200, { "content-type": "application/json" }).end("{}"));
  });
  process.env[COLLECTOR_URL_VARIABLE] = await listenOnFreePort(collector);
  try {
    const table = await measureThroughputTable(bench, {
      workload: "telemetry",
      title: `ADK agent with traces, streamed, ${CONCURRENT_TASK_COUNT} at once`,
      systems: [...new Set(Object.values(BARE_RUNNERS)), UNTRACED, ...Object.keys(BARE_RUNNERS)],
      connections: CONCURRENT_TASK_COUNT,
      createLoadTargets: (_, systems) =>
        systems.map((system) =>
          createJobTarget(system, "SendStreamingMessage", ANY_JOB, SCRIPTED_MODEL_REPLY_TEXT),
        ),
      ratios: [
        {
          key: "cpuToUntraced",
          title: "cpu × untraced",
          figure: "cpu",
          to: (label) => (label.startsWith("adk-floor") ? "adk-floor" : UNTRACED),
        },
      ],
      columns: [{ key: "ownCpu", title: "own cpu", format: "ratio" }],
      addCells: computeOwnCpu,
      limits: { "colloquy-adk-sampled-10": { ownCpu: { max: 1.02 } } },
    });
    return [table];
  } finally {
    collector.close();
  }
}

function computeOwnCpu(label: string, rounds: RoundsByLabel): Record<string, number> {
  const bareRunner = BARE_RUNNERS[label];
  if (bareRunner === undefined) return {};
  const cpu = (name: string): number =>
    computeMedian((rounds.get(name) ?? []).map(({ cpuMicros }) => cpuMicros));
  const added = cpu(label) - cpu(UNTRACED);
  const addedToRunner = cpu(bareRunner) - cpu("adk-floor");
  return { ownCpu: 1 + (added - addedToRunner) / cpu(UNTRACED) };
}

/** Measures the CPU time that the traffic record of a server adds to a streamed task. */
export async function measureRecording(bench: BenchmarkContext): Promise<ReportTable[]> {
  const job: BenchmarkJob = { kind: "turns", count: 20 };
  const table = await measureThroughputTable(bench, {
    workload: "record",
    title: `Traffic record, ${job.count} chunks, streamed, ${CONCURRENT_TASK_COUNT} at once`,
    systems: ["colloquy-memory", "colloquy-memory-recorded", "colloquy-memory-recorded-ids"],
    connections: CONCURRENT_TASK_COUNT,
    createLoadTargets: (_, systems) =>
      systems.map((system) => createJobTarget(system, "SendStreamingMessage", job)),
    ratios: [{ key: "cpuToUnrecorded", title: "cpu × unrecorded", figure: "cpu", to: "colloquy-memory" }],
  });
  return [table];
}

/** Measures `SendMessage` with an empty store, and with stores of many tasks. */
export async function measureStoredTasks(bench: BenchmarkContext): Promise<ReportTable[]> {
  const systems = selectStoresBySize(bench.settings).map(({ name }) => name);
  const [empty = "", ...filled] = systems;
  const table = await measureThroughputTable(bench, {
    workload: "stored-tasks",
    title: `SendMessage by number of stored tasks, ${CONNECTION_COUNT} connections`,
    systems,
    createLoadTargets: (_, running) => running.map((system) => createJobTarget(system, "SendMessage")),
    ratios: [
      { key: "timeToEmpty", title: "time × empty", figure: "time", to: empty },
      { key: "cpuToEmpty", title: "cpu × empty", figure: "cpu", to: empty },
    ],
    limits: Object.fromEntries(filled.map((name) => [name, { timeToEmpty: { max: 1.15 } }])),
  });
  return [table];
}
