import { once } from "node:events";
import { expect, it } from "vitest";
import { connect } from "../../src/client/index.ts";
import { type Task, getText } from "../../src/protocol/index.ts";
import { createTempFile, killChild, startChild } from "./child-process.ts";

const CHILD_SCRIPT = "interrupted-child.ts";

it("an ADK agent that is killed during a tool call learns of it, and its context continues", async () => {
  const file = await createTempFile();
  const before = await startChild(CHILD_SCRIPT, file);
  const started = (await (
    await connect(before.url)
  ).send("dig", { configuration: { returnImmediately: true } })) as {
    task: Task;
  };
  const { contextId, id } = started.task;
  await once(before.child, "message");
  await killChild(before);

  const after = await connect((await startChild(CHILD_SCRIPT, file)).url);
  expect((await after.tasks.get(id)).status.state).toBe("TASK_STATE_FAILED");
  const { task } = (await after.send("What happened?", { contextId })) as { task: Task };
  expect(task.status.state).toBe("TASK_STATE_COMPLETED");
  const history = JSON.parse((task.artifacts ?? []).map(({ parts }) => getText(parts)).join("")) as object[];
  expect(history).toMatchObject([
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
