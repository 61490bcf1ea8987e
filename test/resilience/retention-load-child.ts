/**
 * The server of `retention-load.ts`. It answers the message "stats" of its parent with the sizes of its files
 * and with the durations of the sweeper's steps.
 */
import { statSync } from "node:fs";
import { agent, inputRequired } from "../../src/agents/adapters/index.ts";
import { type TaskDeletionStore, SqliteStore } from "../../src/stores/index.ts";
import type { RetentionOptions } from "../../src/stores/retention/index.ts";
import { createServer } from "../../src/server/index.ts";

/** Answer to the message "stats". Times are in milliseconds, and sizes in bytes. */
export interface RetentionLoadStats {
  readonly fileBytes: number;
  readonly walBytes: number;
  readonly usedBytes: number;
  readonly deletedTasks: number;
  readonly trimmedTasks: number;
  readonly steps: number;
  readonly longestStepMs: number;
  /** CPU time of the step that used the most CPU time. Other processes do not add to the CPU time. */
  readonly longestStepCpuMs: number;
  readonly longestStepName: string;
  readonly sumOfStepsMs: number;
}

const [file = "", retentionJson = "false"] = process.argv.slice(2);
const retention = JSON.parse(retentionJson) as RetentionOptions | false;

const chunk = "The quick brown fox jumps over the lazy dog. ".repeat(5);
const writer = agent({ name: "writer", description: "Writes" }, async function* ({ text }) {
  for (let n = 0; n < 20; n++) yield chunk;
  if (text === "ask") yield inputRequired("More?");
});

const store = new SqliteStore(file);
const steps = { count: 0, longestMs: 0, longestCpuMs: 0, longestName: "", sumMs: 0 };

/** Measures how long a call blocks the event loop. The methods of the store do their work synchronously. */
function withMeasuredSteps(deletionStore: TaskDeletionStore): TaskDeletionStore {
  const measured = Object.entries(deletionStore).map(([name, method]) => [
    name,
    (...args: unknown[]) => {
      const cpuBefore = process.threadCpuUsage();
      const startedAt = performance.now();
      const result: unknown = (method as (...all: unknown[]) => unknown)(...args);
      const ms = performance.now() - startedAt;
      steps.count++;
      steps.sumMs += ms;
      if (ms > steps.longestMs) steps.longestName = name;
      steps.longestMs = Math.max(steps.longestMs, ms);
      const { user, system } = process.threadCpuUsage(cpuBefore);
      steps.longestCpuMs = Math.max(steps.longestCpuMs, (user + system) / 1000);
      return result;
    },
  ]);
  return Object.fromEntries(measured) as TaskDeletionStore;
}

Object.defineProperty(store, "deletionStore", { value: withMeasuredSteps(store.deletionStore) });
const deleted = { tasks: 0, trimmed: 0 };
const server = createServer(
  { writer },
  {
    store,
    retention,
    observer: {
      onSweep: ({ deletedTasks, trimmedTasks }) => {
        deleted.tasks += deletedTasks;
        deleted.trimmed += trimmedTasks;
      },
      onError: ({ where, error }) => console.error(where, error),
    },
  },
);
const { url } = await server.listen();
process.send?.(url);

process.on("message", (message) => {
  if (message === "stats") void sendStats();
  else void server.close().then(() => process.disconnect());
});

async function sendStats(): Promise<void> {
  const size = await store.deletionStore.measureSize();
  const stats: RetentionLoadStats = {
    fileBytes: statSync(file).size,
    walBytes: statSync(`${file}-wal`).size,
    usedBytes: size.usedBytes,
    deletedTasks: deleted.tasks,
    trimmedTasks: deleted.trimmed,
    steps: steps.count,
    longestStepMs: steps.longestMs,
    longestStepCpuMs: steps.longestCpuMs,
    longestStepName: steps.longestName,
    sumOfStepsMs: steps.sumMs,
  };
  process.send?.(stats);
}
