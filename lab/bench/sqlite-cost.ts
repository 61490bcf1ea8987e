/**
 * Measures what the SQLite store does for a short task and for a batch of chunks, without a server:
 * `npm run bench -- sqlite`. The number of statements, B-trees, and pages is the same in every run. The CPU time is not.
 *
 *   node lab/bench/sqlite-cost.ts [--against FOLDER] [--windows NUMBER]
 *
 * `--against` measures another checkout in the same process, in alternating windows.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { StatementSync, type DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import type { LogAppend } from "../../src/engine/index.ts";
import { LogEvent, type TaskEvent, type TaskState } from "../../src/protocol/index.ts";
import type { SqliteStore } from "../../src/stores/index.ts";
import {
  countLoggedPages,
  emptyTestLog,
  PAGES_OUTSIDE_TREES,
} from "../../src/stores/sqlite/logged-pages.fixture.ts";
import { CHECKOUT_ROOT, SCRATCH_DIR } from "./builds.ts";

/** Number of tasks whose appends are one commit, as with 16 concurrent requests. */
const BATCH_SIZE = 16;
const COUNTED_BATCHES = 16;
const CHUNKS = 10;
const SCOPE = { tenant: "", principal: "", agent: "bench" };

type WorkloadName = "task" | "chunks";

/** Creates the appends of `BATCH_SIZE` tasks. The ids and times are the same in every run. */
class AppendSource {
  #count = 0;

  /** Returns the commits of tasks with one turn: the start, and the answer with the end. */
  createShortTasks(): LogAppend[][] {
    const tasks = Array.from({ length: BATCH_SIZE }, () => this.#createTask());
    return [
      tasks.map(({ start }) => start),
      tasks.map(({ start }) => createAppend(start, [createChunk(start, CHUNKS), createEnd(start)], false)),
    ];
  }

  /** Returns one commit of merged chunks for each running task of `starts`. */
  createChunkBatch(starts: readonly LogAppend[], round: number): LogAppend[] {
    return starts.map((start) =>
      createAppend({ ...start, expectedSeq: round }, [createChunk(start, CHUNKS)]),
    );
  }

  createRunningTasks(): LogAppend[] {
    return Array.from({ length: BATCH_SIZE }, () => this.#createTask().start);
  }

  #createTask(): { start: LogAppend } {
    const number = this.#count++;
    const taskId = createTestId(number, "0");
    const contextId = createTestId(number, "1");
    const messageId = createUnorderedId(number);
    const message = { messageId, role: "ROLE_USER" as const, parts: [{ text: "Count to ten." }] };
    const status = createStatus("TASK_STATE_SUBMITTED", number);
    const base = { scope: SCOPE, taskId, contextId, expectedSeq: 0, committedAt: 0, epoch: 0, messages: [] };
    const task = { ...base, status: createStatus("TASK_STATE_WORKING", number), events: [] };
    const events: TaskEvent[] = [
      { task: { id: taskId, contextId, status, history: [message] } },
      { statusUpdate: { taskId, contextId, status: task.status } },
    ];
    return { start: { ...createAppend(task, events, true), messages: [{ messageId, seq: 1 }] } };
  }
}

/** Creates the append after `start`. */
function createAppend(
  { scope, taskId, contextId, epoch, ...start }: LogAppend,
  events: readonly TaskEvent[],
  hasRunningTurn?: boolean,
): LogAppend {
  const expectedSeq = start.events.length + start.expectedSeq;
  const end = events.at(-1);
  const status = end && "statusUpdate" in end ? end.statusUpdate.status : start.status;
  return {
    scope,
    taskId,
    contextId,
    epoch,
    expectedSeq,
    committedAt: Date.parse(status.timestamp ?? ""),
    messages: [],
    events: events.map((event, at) => LogEvent.create(expectedSeq + 1 + at, event)),
    status: { state: status.state, timestamp: status.timestamp ?? "" },
    ...(hasRunningTurn !== undefined && { hasRunningTurn }),
  };
}

function createChunk({ taskId, contextId }: LogAppend, chunks: number): TaskEvent {
  const artifact = { artifactId: "answer", parts: [{ text: "a chunk of text ".repeat(chunks) }] };
  return { artifactUpdate: { taskId, contextId, artifact, append: true } };
}

function createEnd({ taskId, contextId, status }: LogAppend): TaskEvent {
  const timestamp = new Date(Date.parse(status.timestamp) + 2).toISOString();
  return { statusUpdate: { taskId, contextId, status: { state: "TASK_STATE_COMPLETED", timestamp } } };
}

function createStatus(state: TaskState, number: number): { state: TaskState; timestamp: string } {
  return { state, timestamp: new Date(Date.UTC(2026, 0, 1) + number).toISOString() };
}

/** Returns an id in the order of time, as the engine creates ids. */
function createTestId(number: number, kind: string): string {
  return `01a222cd-${(number >> 16).toString(16).padStart(4, "0")}-7${(number & 0xffff).toString(16).padStart(6, "0")}-${kind.repeat(4)}-fb56afb56afb`;
}

/** Returns a message id of a client, which has no order. */
function createUnorderedId(number: number): string {
  const mixed = Math.imul(number + 1, 0x9e37_79b1) >>> 0;
  return `${mixed.toString(16).padStart(8, "0")}-4f7b-4c4e-9d0c-${number.toString(16).padStart(12, "0")}`;
}

/** A store in a file of its own, and the commits of one workload. */
class MeasuredStore {
  readonly #source = new AppendSource();
  readonly #store: SqliteStore;
  #running: { starts: LogAppend[]; round: number } | undefined;

  private constructor(store: SqliteStore) {
    this.#store = store;
  }

  static async open(root: string): Promise<MeasuredStore> {
    const stores = (await import(
      join(root, "src/stores/index.ts")
    )) as typeof import("../../src/stores/index.ts");
    mkdirSync(SCRATCH_DIR, { recursive: true });
    const folder = mkdtempSync(join(SCRATCH_DIR, "sqlite-cost-"));
    process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
    const store = new stores.SqliteStore(join(folder, "tasks.db"));
    await store.open();
    return new MeasuredStore(store);
  }

  get db(): DatabaseSync {
    return this.#store.getDatabase();
  }

  /** Commits one batch of short tasks, or one batch of chunks. */
  async run(workload: WorkloadName): Promise<void> {
    if (workload === "task") for (const batch of this.#source.createShortTasks()) await this.#commit(batch);
    else await this.#commit(await this.#createChunkBatch());
  }

  async #createChunkBatch(): Promise<LogAppend[]> {
    if (!this.#running || this.#running.round > 100) {
      const starts = this.#source.createRunningTasks();
      await this.#commit(starts);
      this.#running = { starts, round: 0 };
    }
    const { starts, round } = this.#running;
    this.#running.round++;
    return this.#source.createChunkBatch(starts, round);
  }

  async #commit(batch: readonly LogAppend[]): Promise<void> {
    const refusals = await this.#store.commit(batch, { agentsAtWork: true });
    if (refusals.some((refusal) => refusal !== undefined)) throw new Error(`refused: ${refusals.join()}`);
  }
}

/** Counts the statements that run while `work` runs. */
async function countStatements(work: () => Promise<void>): Promise<number> {
  let count = 0;
  const prototype = StatementSync.prototype as unknown as Record<string, (...values: unknown[]) => unknown>;
  const originals = new Map<string, (...values: unknown[]) => unknown>();
  for (const name of ["run", "get", "all", "iterate"]) {
    const original = prototype[name] as (...values: unknown[]) => unknown;
    originals.set(name, original);
    prototype[name] = function (...values: unknown[]): unknown {
      count++;
      return original.apply(this, values);
    };
  }
  try {
    await work();
  } finally {
    for (const [name, original] of originals) prototype[name] = original;
  }
  return count;
}

function perUnit(count: number): string {
  return (count / COUNTED_BATCHES / BATCH_SIZE).toFixed(2);
}

async function printCounts(workload: WorkloadName): Promise<void> {
  const store = await MeasuredStore.open(CHECKOUT_ROOT);
  for (let batch = 0; batch < COUNTED_BATCHES; batch++) await store.run(workload);
  emptyTestLog(store.db);
  const statements = await countStatements(async () => {
    for (let batch = 0; batch < COUNTED_BATCHES; batch++) await store.run(workload);
  });
  const pages = countLoggedPages(store.db);
  const total = [...pages.values()].reduce((sum, count) => sum + count, 0);
  const trees = [...pages.keys()].filter((name) => name !== PAGES_OUTSIDE_TREES).length;
  console.log(`${workload}: ${perUnit(statements)} statements, ${trees} B-trees, ${perUnit(total)} pages`);
  for (const [tree, count] of [...pages].toSorted(([, a], [, b]) => b - a))
    console.log(`  ${perUnit(count).padStart(6)}  ${tree}`);
}

/** Prints the median CPU time per task or per batch of chunks, and the median of the ratios of adjacent windows. */
async function printCpuTimes(
  workload: WorkloadName,
  roots: readonly string[],
  windows: number,
): Promise<void> {
  const stores: MeasuredStore[] = [];
  for (const root of roots) stores.push(await MeasuredStore.open(root));
  const times = stores.map((): number[] => []);
  for (let window = -20; window < windows; window++)
    for (const [at, store] of window % 2 ? [...stores.entries()] : [...stores.entries()].toReversed()) {
      const before = process.threadCpuUsage();
      for (let batch = 0; batch < 4; batch++) await store.run(workload);
      const { user, system } = process.threadCpuUsage(before);
      if (window >= 0) times[at]?.push((user + system) / 4 / BATCH_SIZE);
    }
  const [own = [], other] = times;
  const ratio = other && findMedian(own.map((time, at) => time / (other[at] ?? NaN)));
  console.log(
    `${workload}: ${findMedian(own).toFixed(1)} µs of CPU time${other && ratio ? `, ${findMedian(other).toFixed(1)} µs before, ratio ${ratio.toFixed(3)}` : ""}`,
  );
}

function findMedian(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

const { values } = parseArgs({
  options: { against: { type: "string" }, windows: { type: "string", default: "300" } },
});
for (const workload of ["task", "chunks"] as const) {
  await printCounts(workload);
  await printCpuTimes(
    workload,
    [CHECKOUT_ROOT, ...(values.against ? [values.against] : [])],
    Number(values.windows),
  );
}
process.exit();
