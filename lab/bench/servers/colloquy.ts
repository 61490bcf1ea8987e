import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type {
  Agent,
  AgentEvent,
  Message,
  Observer,
  Run,
  ServerOptions,
} from "../../../src/entries/colloquy.ts";
import { generateJobChunks, parseJobFromMessageText } from "../benchmark-job.ts";
import { importEntry, SCRATCH_DIR, type AdkModule } from "../builds.ts";
import type { StartedSystem } from "../system-process-main.ts";

/** How the server differs from the default. An absent option is not passed, because an earlier build may not know it. */
export interface ColloquyServerVariant {
  readonly store: "memory" | "sqlite";
  readonly mergesChunks?: false;
  /** Number of finished tasks in the SQLite store at the start. Default: 0. */
  readonly storedTaskCount?: number;
  /** Whether the benchmark can wait for the end of tasks, which costs CPU time for each event. */
  readonly countsEndedTasks?: boolean;
  /** Whether the server is measured over gRPC. */
  readonly grpc?: boolean;
  readonly telemetry?: ServerOptions["telemetry"];
  /** Whether the server writes a traffic record to a file, with or without bodies. Default: no record. */
  readonly record?: "with-bodies" | "without-bodies";
  /** Agent of the server. Default: the agent of the benchmark. */
  readonly agent?: "adk" | "adk-always";
}

/** Larger than every artifact of the benchmark, in characters of JSON. */
const MAX_TASK_SIZE = 256 * 1024 ** 2;

/** Starts a server of the build in `root`, of which it uses only the public entries. */
export async function startColloquyServer(
  {
    store,
    agent,
    mergesChunks,
    grpc,
    storedTaskCount = 0,
    countsEndedTasks,
    telemetry,
    record,
  }: ColloquyServerVariant,
  root: string,
): Promise<StartedSystem> {
  const { createServer } = await importEntry(root);
  const storeFile = store === "memory" ? undefined : createScratchFilePath("tasks.db");
  if (storeFile && storedTaskCount > 0) {
    const { generateStoredTasks } = await import("../growth/generate-stored-tasks.ts");
    generateStoredTasks(storeFile, storedTaskCount);
  }
  const endedTasks = countsEndedTasks ? new EndedTaskCounter() : undefined;
  const server = createServer(
    { bench: agent ? await createAdkAgent(root, agent) : chunkAgent },
    {
      store: !storeFile ? "memory" : `sqlite:${storeFile}`,
      ...(mergesChunks === false && { mergeChunks: false }),
      ...(endedTasks && { observer: endedTasks.observer, limits: { taskSize: MAX_TASK_SIZE } }),
      ...(telemetry !== undefined && { telemetry }),
      ...(record && {
        record: { file: createScratchFilePath("record.jsonl"), bodies: record === "with-bodies" },
      }),
    },
  );
  const address = await server.listen(grpc ? { grpc } : {});
  return {
    url: address.grpc ? `http://127.0.0.1:${address.grpc.port}` : (address.agents[0]?.url ?? ""),
    ...(storeFile && { storeFile }),
    ...(endedTasks && { waitForEndedTasks: (count) => endedTasks.waitForCount(count) }),
  };
}

/** The agent of the benchmark, for Colloquy's engine. */
const chunkAgent: Agent = {
  describe: () => ({ name: "Chunks", description: "Answers in chunks." }),
  async *execute({ message }: Run): AsyncGenerator<AgentEvent> {
    yield { status: { state: "TASK_STATE_WORKING" } };
    const job = parseJobFromMessageText(getFirstText(message));
    let append = false;
    for await (const { text, last } of generateJobChunks(job)) {
      yield { artifact: { artifactId: "answer", parts: [{ text }] }, append, lastChunk: last };
      append = true;
    }
    if (job.kind === "question") yield { status: { state: "TASK_STATE_INPUT_REQUIRED" } };
  },
};

function getFirstText({ parts: [part] }: Message): string {
  return part && "text" in part && typeof part.text === "string" ? part.text : "";
}

async function createAdkAgent(root: string, kind: "adk" | "adk-always"): Promise<Agent> {
  const [{ adkAgent }, { createScriptedAdkAgent }] = await Promise.all([
    importEntry<AdkModule>(root, "colloquy/adk"),
    import("./adk.ts"),
  ]);
  return adkAgent(createScriptedAdkAgent(), { streaming: kind === "adk" ? "by-request" : "always" });
}

function createScratchFilePath(name: string): string {
  mkdirSync(SCRATCH_DIR, { recursive: true });
  const folder = mkdtempSync(join(SCRATCH_DIR, "bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return join(folder, name);
}

const FINAL_STATES = new Set(
  ["COMPLETED", "CANCELED", "FAILED", "REJECTED"].map((name) => `TASK_STATE_${name}`),
);

/** Counts the tasks of a server whose end is committed. */
class EndedTaskCounter {
  readonly observer: Observer = {
    onEvent: ({ event: { event } }) => {
      const status = ("statusUpdate" in event ? event.statusUpdate : "task" in event ? event.task : undefined)
        ?.status;
      if (!status || !FINAL_STATES.has(status.state)) return;
      this.#count++;
      for (const wake of this.#waiting.splice(0)) wake();
    },
  };
  #count = 0;
  readonly #waiting: (() => void)[] = [];

  /** Resolves once `count` tasks have ended since the start of the server. */
  async waitForCount(count: number): Promise<void> {
    while (this.#count < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
