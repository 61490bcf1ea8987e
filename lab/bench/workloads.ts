import type { BenchmarkContext } from "./benchmark-context.ts";
import type { ReportTable } from "./report.ts";

/** A set of measurements with a name on the command line. */
export interface Workload {
  /** Name of the set of workloads that contains this workload. */
  readonly group: "comparison" | "growth" | "pages" | "tools";
  readonly description: string;
  readonly measure: (bench: BenchmarkContext) => Promise<ReportTable[]>;
}

const loadTables = (): Promise<typeof import("./workloads/throughput-tables.ts")> =>
  import("./workloads/throughput-tables.ts");
const loadLists = (): Promise<typeof import("./growth/lists.ts")> => import("./growth/lists.ts");
const loadArtifacts = (): Promise<typeof import("./growth/large-artifacts.ts")> =>
  import("./growth/large-artifacts.ts");

/** All workloads. Their modules are loaded when they run. */
export const WORKLOADS: Readonly<Record<string, Workload>> = {
  send: {
    group: "comparison",
    description: "SendMessage",
    measure: async (bench) => (await loadTables()).measureSend(bench),
  },
  stream: {
    group: "comparison",
    description: "SendStreamingMessage",
    measure: async (bench) => (await loadTables()).measureStreaming(bench),
  },
  chunks: {
    group: "comparison",
    description: "single streams of up to 8,000 chunks",
    measure: async (bench) => (await import("./workloads/long-streams.ts")).measureLongStreams(bench),
  },
  grpc: {
    group: "comparison",
    description: "SendMessage and SendStreamingMessage over gRPC",
    measure: async (bench) => (await loadTables()).measureGrpc(bench),
  },
  adk: {
    group: "comparison",
    description: "an ADK agent with a scripted model",
    measure: async (bench) => (await loadTables()).measureAdkThroughput(bench),
  },
  telemetry: {
    group: "comparison",
    description: "traces of an ADK agent",
    measure: async (bench) => (await loadTables()).measureTelemetry(bench),
  },
  record: {
    group: "comparison",
    description: "the traffic record of a server",
    measure: async (bench) => (await loadTables()).measureRecording(bench),
  },
  readers: {
    group: "comparison",
    description: "memory of idle subscribers",
    measure: async (bench) => (await import("./workloads/idle-subscribers.ts")).measureIdleSubscribers(bench),
  },
  "stored-tasks": {
    group: "growth",
    description: "SendMessage by number of stored tasks",
    measure: async (bench) => (await loadTables()).measureStoredTasks(bench),
  },
  "list-tasks": {
    group: "growth",
    description: "ListTasks by filter",
    measure: async (bench) => (await loadLists()).measureListTasks(bench),
  },
  "list-beside-send": {
    group: "growth",
    description: "SendMessage while other clients list tasks",
    measure: async (bench) => (await loadLists()).measureListBesideSend(bench),
  },
  turns: {
    group: "growth",
    description: "SendMessage by number of earlier turns",
    measure: async (bench) => (await import("./growth/turns.ts")).measureTurns(bench),
  },
  "artifact-size": {
    group: "growth",
    description: "artifacts of up to 100 MB",
    measure: async (bench) => (await loadArtifacts()).measureArtifactSizes(bench),
  },
  "large-pages": {
    group: "growth",
    description: "ListTasks with artifacts of 9.5 MB",
    measure: async (bench) => (await loadArtifacts()).measureLargePages(bench),
  },
  postgres: {
    group: "growth",
    description: "the PostgreSQL store without HTTP",
    measure: async (bench) => (await import("./growth/postgres.ts")).measurePostgres(bench),
  },
  "report-page": {
    group: "pages",
    description: "load time of the HTML report (Chromium)",
    measure: async () => (await import("./pages/report-page.ts")).measureReportPage(),
  },
  "console-page": {
    group: "pages",
    description: "the page of the console with 10,000 events (Chromium)",
    measure: async () => (await import("./pages/console-page.ts")).measureConsolePage(),
  },
  "console-lists": {
    group: "pages",
    description: "task lists of the console over a million tasks",
    measure: async (bench) => (await import("./pages/console-lists.ts")).measureConsoleLists(bench),
  },
  tap: {
    group: "tools",
    description: "what `colloquy tap` adds to a message, a stream, and a large body",
    measure: async (bench) => (await import("./tools/tap.ts")).measureTap(bench),
  },
  reload: {
    group: "tools",
    description: "time from a save to an answer of the new code in `colloquy dev`",
    measure: async (bench) => (await import("./tools/reload.ts")).measureReloads(bench),
  },
  "postgres-sizing": {
    group: "tools",
    description: "CPU time and bytes of a task in a node and its PostgreSQL server",
    measure: async (bench) => (await import("./tools/postgres-sizing.ts")).measurePostgresSizing(bench),
  },
};

const GROUPS = ["comparison", "growth", "pages", "tools"] as const;

/** Lists the names of the workloads of a group. */
function listGroup(group: Workload["group"]): string[] {
  return Object.keys(WORKLOADS).filter((name) => WORKLOADS[name]?.group === group);
}

/** Returns the workloads that the names of workloads and of groups select. */
export function selectWorkloads(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const group = GROUPS.find((candidate) => candidate === name);
    if (group) return listGroup(group);
    if (WORKLOADS[name]) return [name];
    throw new Error(`the workload ${name} does not exist`);
  });
}

/** Renders the list of all workloads. */
export function describeWorkloads(): string {
  return GROUPS.map((group) =>
    [
      `${group}:`,
      ...listGroup(group).map((name) => `  ${name.padEnd(17)} ${WORKLOADS[name]?.description}`),
    ].join("\n"),
  ).join("\n");
}
