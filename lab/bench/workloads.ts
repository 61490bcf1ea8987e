import type { BenchmarkContext } from "./benchmark-context.ts";
import type { ReportTable } from "./report.ts";

/** A set of measurements with a name on the command line. */
export interface Workload {
  readonly description: string;
  readonly measure: (bench: BenchmarkContext) => Promise<ReportTable[]>;
}

const loadTables = (): Promise<typeof import("./workloads/throughput-tables.ts")> =>
  import("./workloads/throughput-tables.ts");
const loadLists = (): Promise<typeof import("./growth/lists.ts")> => import("./growth/lists.ts");
const loadArtifacts = (): Promise<typeof import("./growth/large-artifacts.ts")> =>
  import("./growth/large-artifacts.ts");

function define(description: string, measure: Workload["measure"]): Workload {
  return { description, measure };
}

/** All workloads by group. Their modules are loaded when they run. */
const WORKLOADS_BY_GROUP: Readonly<Record<string, Readonly<Record<string, Workload>>>> = {
  comparison: {
    send: define("SendMessage", async (bench) => (await loadTables()).measureSend(bench)),
    stream: define("SendStreamingMessage", async (bench) => (await loadTables()).measureStreaming(bench)),
    chunks: define("single streams of up to 8,000 chunks", async (bench) =>
      (await import("./workloads/long-streams.ts")).measureLongStreams(bench),
    ),
    grpc: define("SendMessage and SendStreamingMessage over gRPC", async (bench) =>
      (await loadTables()).measureGrpc(bench),
    ),
    adk: define("an ADK agent with a scripted model", async (bench) =>
      (await loadTables()).measureAdkThroughput(bench),
    ),
    telemetry: define("traces of an ADK agent", async (bench) =>
      (await loadTables()).measureTelemetry(bench),
    ),
    record: define("the traffic record of a server", async (bench) =>
      (await loadTables()).measureRecording(bench),
    ),
    readers: define("memory of idle subscribers", async (bench) =>
      (await import("./workloads/idle-subscribers.ts")).measureIdleSubscribers(bench),
    ),
  },
  growth: {
    "stored-tasks": define("SendMessage by number of stored tasks", async (bench) =>
      (await loadTables()).measureStoredTasks(bench),
    ),
    "list-tasks": define("ListTasks by filter", async (bench) => (await loadLists()).measureListTasks(bench)),
    "list-beside-send": define("SendMessage while other clients list tasks", async (bench) =>
      (await loadLists()).measureListBesideSend(bench),
    ),
    turns: define("SendMessage by number of earlier turns", async (bench) =>
      (await import("./growth/turns.ts")).measureTurns(bench),
    ),
    "artifact-size": define("artifacts of up to 100 MB", async (bench) =>
      (await loadArtifacts()).measureArtifactSizes(bench),
    ),
    "large-pages": define("ListTasks with artifacts of 9.5 MB", async (bench) =>
      (await loadArtifacts()).measureLargePages(bench),
    ),
    postgres: define("the PostgreSQL store without HTTP", async (bench) =>
      (await import("./growth/postgres.ts")).measurePostgres(bench),
    ),
  },
  pages: {
    "report-page": define("load time of the HTML report (Chromium)", async () =>
      (await import("./pages/report-page.ts")).measureReportPage(),
    ),
    "console-page": define("the page of the console with 10,000 events (Chromium)", async () =>
      (await import("./pages/console-page.ts")).measureConsolePage(),
    ),
    "console-lists": define("task lists of the console over a million tasks", async (bench) =>
      (await import("./pages/console-lists.ts")).measureConsoleLists(bench),
    ),
  },
  tools: {
    tap: define("what `colloquy tap` adds to a message, a stream, and a large body", async (bench) =>
      (await import("./tools/tap.ts")).measureTap(bench),
    ),
    reload: define("time from a save to an answer of the new code in `colloquy dev`", async (bench) =>
      (await import("./tools/reload.ts")).measureReloads(bench),
    ),
    "postgres-sizing": define(
      "CPU time and bytes of a task in a node and its PostgreSQL server",
      async (bench) => (await import("./tools/postgres-sizing.ts")).measurePostgresSizing(bench),
    ),
  },
};

/** Returns the workload with a name, in any group. */
export function findWorkload(name: string): Workload | undefined {
  return Object.values(WORKLOADS_BY_GROUP).find((workloads) => workloads[name])?.[name];
}

/** Returns the names of the workloads that the names of workloads and of groups select. */
export function selectWorkloads(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const group = WORKLOADS_BY_GROUP[name];
    if (group) return Object.keys(group);
    if (findWorkload(name)) return [name];
    throw new Error(`the workload ${name} does not exist`);
  });
}

/** Renders the list of all workloads. */
export function describeWorkloads(): string {
  return Object.entries(WORKLOADS_BY_GROUP)
    .map(([group, workloads]) => {
      const lines = Object.entries(workloads).map(
        ([name, { description }]) => `  ${name.padEnd(17)} ${description}`,
      );
      return [`${group}:`, ...lines].join("\n");
    })
    .join("\n");
}
