import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.ts";
import type { Agent } from "../../src/engine/index.ts";
import { getText, isTerminal, type Task } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";
import { PostgresStore } from "../../src/stores/index.ts";
import { createTempFile, startChild } from "../../test/resilience/child-process.ts";
import { findTestDatabase } from "../../test/support/find-test-postgres.ts";

const BLOCK_MS = 20_000;
/** Longest time in milliseconds between the end of the block and the end of the task. */
const MAX_SETTLE_MS = 1000;
const CHILD_SCRIPT = "blocking-child.ts";
const now = { configuration: { returnImmediately: true } };
const { url: database, reason } = await findTestDatabase();

const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms));

/** Reads a task until it has ended. The requests to a blocked server wait. */
async function readUntilEnd(read: () => Promise<Task>): Promise<Task> {
  for (;;) {
    const task = await read();
    if (isTerminal(task.status.state)) return task;
    await wait(10);
  }
}

describe("an agent that blocks the event loop for 20 s", () => {
  it.skipIf(reason).for(["memory", "SQLite", "PostgreSQL"])(
    "is settled within a second after the block: %s [E24]",
    { timeout: 60_000 },
    async (name) => {
      const store = { memory: "memory", SQLite: `sqlite:${await createTempFile()}` }[name] ?? database;
      const { child, url } = await startChild(CHILD_SCRIPT, store, String(BLOCK_MS), "fail", "300");
      const client = await connect(url);
      const { task } = (await client.send("hi", now)) as { task: Task };
      child.send("block");
      const blockedAt = performance.now();
      await wait(BLOCK_MS / 2);
      const settled = await readUntilEnd(() => client.tasks.get(task.id));
      const settleMs = performance.now() - blockedAt - BLOCK_MS;
      console.log(`${name}: ${settled.status.state} after ${Math.round(settleMs)} ms`);
      expect(settled.status.state).toBe("TASK_STATE_FAILED");
      // The lease of the node on PostgreSQL has ended before the limit is checked.
      const expected = name === "PostgreSQL" ? "The task store failed" : "maxSilenceMs";
      expect(getText(settled.status.message?.parts ?? [])).toContain(expected);
      expect(settleMs).toBeLessThan(MAX_SETTLE_MS);
    },
  );

  it.skipIf(reason).for([
    ["fail", "TASK_STATE_FAILED", []],
    ["restart", "TASK_STATE_COMPLETED", ["second attempt"]],
  ] as const)(
    "and has afterRestart: %s is settled by another node during the block, and cannot write late [E9, E21, E24]",
    { timeout: 60_000 },
    async ([afterRestart, state, texts]) => {
      const args = [database, String(BLOCK_MS), afterRestart, "300"];
      const { child, url } = await startChild(CHILD_SCRIPT, ...args);
      const { task } = (await (await connect(url)).send("hi", now)) as { task: Task };
      const blocking: Agent = {
        afterRestart,
        describe: () => ({ name: "blocking", description: "Answers at once" }),
        async *execute() {
          yield { artifact: { artifactId: "a", parts: [{ text: "second attempt" }] } };
        },
      };
      const store = new PostgresStore(database, { leaseMs: 1000 });
      const other = createServer({ blocking }, { store, observer: false });
      onTestFinished(() => other.close({ graceMs: 0 }));
      const client = await connect((await other.listen()).url);
      const read = (): Promise<Task> => client.tasks.get(task.id);
      const aborted = once(child, "message");
      child.send("block");
      const blockedAt = performance.now();
      const settled = await readUntilEnd(read);
      const settleMs = performance.now() - blockedAt;
      console.log(
        `PostgreSQL, other node, ${afterRestart}: ${settled.status.state} after ${Math.round(settleMs)} ms`,
      );
      expect(settled.status.state).toBe(state);
      expect(settled.artifacts?.map(({ parts }) => getText(parts)) ?? []).toEqual(texts);
      expect(settleMs).toBeLessThan(BLOCK_MS);
      // The blocked node learns that it has lost its lease, and its artifact is not stored.
      expect(await aborted).toEqual(["aborted", undefined]);
      await wait(MAX_SETTLE_MS);
      expect(await read()).toEqual(settled);
    },
  );
});
