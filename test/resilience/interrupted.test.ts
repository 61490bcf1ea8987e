import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.ts";
import { type Task, getText } from "../../src/protocol/index.ts";
import { createTempFolder } from "../store-factories.ts";

const CHILD_SCRIPT = fileURLToPath(new URL("interrupted-child.ts", import.meta.url));

async function startChild(file: string): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(CHILD_SCRIPT, [file]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(child, "message")) as [string];
  return { child, url };
}

it("an ADK agent that is killed while its tool is at work hears of that, and its context goes on", async () => {
  const { folder, remove } = await createTempFolder();
  onTestFinished(remove);
  const file = join(folder, "tasks.db");
  const before = await startChild(file);
  const begun = (await (
    await connect(before.url)
  ).send("dig", { configuration: { returnImmediately: true } })) as {
    task: Task;
  };
  const { contextId, id } = begun.task;
  await once(before.child, "message");
  const exit = once(before.child, "exit");
  before.child.kill("SIGKILL");
  await exit;

  const after = await connect((await startChild(file)).url);
  expect((await after.tasks.get(id)).status.state).toBe("TASK_STATE_FAILED");
  const { task } = (await after.send("What happened?", { contextId })) as { task: Task };
  expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  const told = JSON.parse((task.artifacts ?? []).map(({ parts }) => getText(parts)).join("")) as object[];
  expect(told).toMatchObject([
    { role: "user", text: "dig" },
    { role: "model", text: "I dig." },
    { role: "model", functionCall: { name: "dig" } },
    {
      role: "user",
      functionResponse: {
        name: "dig",
        response: { error: expect.stringContaining("interrupted") as string },
      },
    },
    { role: "user", text: "What happened?" },
  ]);
});
