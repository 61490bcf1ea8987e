import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.ts";
import type { Agent } from "../../src/engine/index.ts";
import { getText, type Task } from "../../src/protocol/index.ts";
import { createServer } from "../../src/server/index.ts";
import { STORE_FACTORIES } from "../support/store-factories.ts";
import { killChild, startChild } from "./child-process.ts";

const CHILD_SCRIPT = "hung-child.ts";
const REASON = "The server stopped the agent, because it showed no progress for 0.3 seconds (maxSilenceMs).";

const readReason = ({ status }: Task): string => `${status.state} ${getText(status.message?.parts ?? [])}`;

const hung: Agent = {
  whileWorking: "queue",
  describe: () => ({ name: "hung", description: "Never returns" }),
  async *execute() {
    yield { status: { state: "TASK_STATE_WORKING" } };
    await new Promise<never>(() => {});
  },
};

describe.each(STORE_FACTORIES)("an agent that never returns, on a $name store", ({ name, openStore }) => {
  it("fails with a reason that streams, blocking senders, and waiting messages receive [E24]", async () => {
    const { store, remove } = await openStore();
    onTestFinished(remove);
    const options = { observer: false, maxSilenceMs: 300, cancelGraceMs: 50 } as const;
    const server = createServer(hung, { ...options, store });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const client = await connect((await server.listen()).url);
    const states: string[] = [];
    let waiting: Promise<string> | undefined;
    for await (const event of client.stream("hi")) {
      const taskId = "task" in event ? event.task.id : undefined;
      if (taskId) waiting = client.send("more", { taskId }).then(String, (error: Error) => error.message);
      if ("statusUpdate" in event) states.push(readReason(event.statusUpdate as unknown as Task));
    }
    expect(states.at(-1)).toBe(`TASK_STATE_FAILED ${REASON}`);
    expect(await waiting).toMatch(/is failed and accepts no more messages/);
    const { task } = (await client.send("blocking")) as { task: Task };
    expect(readReason(task)).toBe(`TASK_STATE_FAILED ${REASON}`);
  });

  it.runIf(name !== "memory")(
    "fails in the process that continues its turn after a kill [E9, E24]",
    async () => {
      const { store, remove } = await openStore();
      onTestFinished(remove);
      const before = await startChild(CHILD_SCRIPT, store);
      const client = await connect(before.url);
      const { task } = (await client.send("hi", { configuration: { returnImmediately: true } })) as {
        task: Task;
      };
      await killChild(before);
      const after = await connect((await startChild(CHILD_SCRIPT, store, "300")).url);
      await expect
        .poll(async () => readReason(await after.tasks.get(task.id)), { timeout: 30_000 })
        .toBe(`TASK_STATE_FAILED ${REASON}`);
    },
  );
});
