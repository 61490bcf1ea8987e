import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.ts";
import { type DataPart, type Part, type Task, textOf } from "../../src/protocol/index.ts";
import { freshFolder } from "../stores.ts";

const CHILD = fileURLToPath(new URL("approval-child.ts", import.meta.url));

async function start(file: string, port = "0"): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(CHILD, [file, port]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const [url] = (await once(child, "message")) as [string];
  return { child, url };
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

async function freshFile(): Promise<string> {
  const { folder, remove } = await freshFolder();
  onTestFinished(remove);
  return join(folder, "tasks.db");
}

function taskOf(result: object): Task {
  if (!("task" in result)) throw new Error("not a task");
  return result.task as Task;
}

const said = ({ artifacts = [] }: Task): string => artifacts.map(({ parts }) => textOf(parts)).join("");

/** Approves what the task asks for. */
function approval({ status }: Task, euros: number): Part[] {
  const call = status.message?.parts[0] as DataPart;
  const { id } = call.data as { id: string };
  return [{ data: { id, response: { status: "approved", euros } } }];
}

const AMOUNTS = Array.from({ length: 20 }, (_, n) => n + 1);

describe("the server of an ADK agent that is killed", () => {
  it("while approvals are waited for, goes on with each of them", async () => {
    const file = await freshFile();
    const before = await start(file);
    const remote = await connect(before.url);
    const asked = await Promise.all(AMOUNTS.map(async (euros) => taskOf(await remote.send(`${euros}`))));
    expect(new Set(asked.map(({ status }) => status.state))).toEqual(new Set(["TASK_STATE_INPUT_REQUIRED"]));
    await kill(before.child);

    const after = await connect((await start(file)).url);
    const done = await Promise.all(
      asked.map(async (task, at) =>
        taskOf(await after.send(approval(task, AMOUNTS[at] as number), { taskId: task.id })),
      ),
    );
    for (const [at, task] of done.entries()) {
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(task.contextId).toBe(asked[at]?.contextId);
      expect(said(task)).toMatch(new RegExp(`^Asked\\.${AMOUNTS[at]} euros are on their way`));
    }
  });

  it("while it works on the answer, fails that task, tells who listens, and goes on in its context", async () => {
    const file = await freshFile();
    const before = await start(file);
    const remote = await connect(before.url);
    const asked = taskOf(await remote.send("80"));
    const { id: taskId, contextId } = asked;

    let restarted: Promise<unknown> | undefined;
    let last = "";
    for await (const event of remote.stream(approval(asked, 80), { taskId })) {
      if ("statusUpdate" in event) last = event.statusUpdate.status.state;
      if ("artifactUpdate" in event) {
        restarted ??= kill(before.child).then(() => start(file, new URL(before.url).port));
      }
    }
    await restarted;
    expect(last).toBe("TASK_STATE_FAILED");
    const task = await remote.task.get(taskId);
    expect(textOf(task.status.message?.parts ?? [])).toContain("stopped");
    expect(said(task)).toMatch(/^Asked\.80/);
    expect(said(task)).not.toContain("hears");

    const again = taskOf(await remote.send("81", { contextId }));
    const done = taskOf(await remote.send(approval(again, 81), { taskId: again.id }));
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(said(done)).toContain("81 euros are on their way");
  });
});
