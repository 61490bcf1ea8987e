/**
 * Shows that the memory store reaches a steady size under a steady load, and that its tasks do not slow down the
 * garbage collector.
 *
 *     node test/resilience/memory-store-heap.ts [--tasks 1000000]
 *
 * Stores tasks of random sizes. A tenth of the tasks wait for input, and half of these continue later, so that the
 * store frees its space in random order. Prints the heap, the buffers, and the CPU time per task. Exits with 1 if
 * the heap or the buffers grow in the second half of the run.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { parseArgs } from "node:util";
import type { LogAppend, TaskScope } from "../../src/engine/index.ts";
import { LogEvent, type TaskEvent, type TaskState } from "../../src/protocol/index.ts";
import { MemoryStore } from "../../src/stores/index.ts";

const { values } = parseArgs({ options: { tasks: { type: "string", default: "1000000" } } });
const taskCount = Number(values.tasks);

const SAMPLES = 10;
const BATCH_SIZE = 32;
/** Growth between the middle and the end of the run that counts as steady. */
const MAX_GROWTH = 1.15;
const MB = 2 ** 20;
const SCOPE: TaskScope = { tenant: "", principal: "", agent: "echo" };
const timestamp = new Date(0).toISOString();

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let randomState = 1;
/** Returns a pseudorandom integer between 0 and `limit` - 1. */
function random(limit: number): number {
  randomState = (Math.imul(randomState, 1_103_515_245) + 12_345) >>> 0;
  return Math.floor((randomState / 2 ** 32) * limit);
}

/** Creates an append that ends or interrupts a task. */
function createAppend(taskId: string, expectedSeq: number, state: TaskState): LogAppend {
  const ids = { taskId, contextId: `context-of-${taskId}` };
  const text = "x".repeat(random(10) === 0 ? random(20_000) : random(1000));
  const message = { messageId: `${taskId}-${expectedSeq}`, role: "ROLE_USER" as const, parts: [{ text }] };
  const first: TaskEvent =
    expectedSeq === 0
      ? {
          task: {
            id: taskId,
            contextId: ids.contextId,
            status: { state: "TASK_STATE_SUBMITTED", timestamp },
            history: [message],
          },
        }
      : { message };
  const events: TaskEvent[] = [
    first,
    { artifactUpdate: { ...ids, artifact: { artifactId: "answer", parts: [{ text }] } } },
    { statusUpdate: { ...ids, status: { state, timestamp } } },
  ];
  return {
    scope: SCOPE,
    ...ids,
    expectedSeq,
    events: events.map((event, at) => LogEvent.create(expectedSeq + 1 + at, event)),
    committedAt: Date.now(),
    status: { state, timestamp },
    messages: [{ messageId: message.messageId, seq: expectedSeq + 1 }],
    epoch: 0,
  };
}

const store = new MemoryStore({ maxBytes: 64 * MB });
const waiting: string[] = [];
const samples: { heap: number; buffers: number }[] = [];
for (let sample = 0; sample < SAMPLES; sample++) {
  const before = process.cpuUsage();
  for (let stored = 0; stored < taskCount / SAMPLES; stored += BATCH_SIZE) {
    const batch: LogAppend[] = [];
    for (let at = 0; at < BATCH_SIZE; at++) {
      const continued = random(20) === 0 ? waiting.splice(random(waiting.length), 1)[0] : undefined;
      if (continued !== undefined) {
        batch.push(createAppend(continued, 3, "TASK_STATE_COMPLETED"));
        continue;
      }
      const taskId = `task-${sample}-${stored + at}`;
      const waits = random(10) === 0;
      if (waits) waiting.push(taskId);
      // Without this limit, the list of this script would grow.
      if (waiting.length > 5000) waiting.shift();
      batch.push(createAppend(taskId, 0, waits ? "TASK_STATE_INPUT_REQUIRED" : "TASK_STATE_COMPLETED"));
    }
    // The store may have evicted a task that continues.
    await store.commit(batch);
  }
  const { user, system } = process.cpuUsage(before);
  collectGarbage();
  const { heapUsed: heap, arrayBuffers: buffers } = process.memoryUsage();
  const { usedBytes } = await store.deletionStore.measureSize();
  samples.push({ heap, buffers });
  console.log(
    `${(((sample + 1) * taskCount) / SAMPLES).toLocaleString("en")} tasks: ` +
      `heap ${(heap / MB).toFixed(1)} MB, buffers ${(buffers / MB).toFixed(1)} MB, ` +
      `store ${(usedBytes / MB).toFixed(1)} MB, ${((user + system) / (taskCount / SAMPLES)).toFixed(1)} µs of CPU per task`,
  );
}
const [middle, last] = [samples[SAMPLES / 2 - 1], samples.at(-1)];
if (!middle || !last) throw new Error("The run has no samples.");
if (last.heap > middle.heap * MAX_GROWTH || last.buffers > middle.buffers * MAX_GROWTH) {
  console.error("The memory store grew in the second half of the run.");
  process.exitCode = 1;
}
