import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.ts";
import type { Agent } from "../../src/engine/index.ts";
import { getText, type Task } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";
import { PostgresStore } from "../../src/stores/index.ts";
import { findTestDatabase } from "../support/find-test-postgres.ts";
import { createTempFile, startChild } from "./child-process.ts";

const CHILD_SCRIPT = "blocking-child.ts";
const now = { configuration: { returnImmediately: true } };
const { url: database, reason } = await findTestDatabase();

const readStatus = ({ status }: Task): string => `${status.state} ${getText(status.message?.parts ?? [])}`;

describe("an agent that blocks the event loop", () => {
  it("fails after it has returned the event loop, and shows no more progress [E24]", async () => {
    const { child, url } = await startChild(
      CHILD_SCRIPT,
      `sqlite:${await createTempFile()}`,
      "2000",
      "fail",
      "300",
    );
    const client = await connect(url);
    const { task } = (await client.send("hi", now)) as { task: Task };
    child.send("block");
    await expect
      .poll(() => client.tasks.get(task.id).then(readStatus), { timeout: 30_000 })
      .toBe(
        "TASK_STATE_FAILED The server stopped the agent, because it showed no progress for 0.3 seconds (maxSilenceMs).",
      );
  });

  it.skipIf(reason).each([
    ["fail", "TASK_STATE_FAILED", []],
    ["restart", "TASK_STATE_COMPLETED", ["second attempt"]],
  ] as const)(
    "and has afterRestart: %s is settled by another node, and cannot write late [E9, E21, E24]",
    async (afterRestart, state, texts) => {
      const { child, url } = await startChild(CHILD_SCRIPT, database, "6000", afterRestart);
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
      await expect.poll(read).toMatchObject({ status: { state: "TASK_STATE_WORKING" } });
      const aborted = once(child, "message");
      child.send("block");
      await expect.poll(read, { timeout: 30_000 }).toMatchObject({ status: { state } });
      const settled = await read();
      expect(settled.artifacts?.map(({ parts }) => getText(parts)) ?? []).toEqual(texts);
      expect(await aborted).toEqual(["aborted", undefined]);
      expect(await read()).toEqual(settled);
    },
  );
});
