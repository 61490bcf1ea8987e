import { describe, expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/index.ts";
import { type DataPart, type Part, type Task, getText } from "../../src/protocol/index.ts";
import { createTempFile, killChild, startChild } from "./child-process.ts";
import { STORE_FACTORIES } from "../support/store-factories.ts";
import { findTestPort } from "../support/test-ports.ts";

const CHILD_SCRIPT = "approval-child.ts";

function requireTask(result: object): Task {
  if (!("task" in result)) throw new Error("not a task");
  return result.task as Task;
}

const getTaskText = ({ artifacts = [] }: Task): string =>
  artifacts.map(({ parts }) => getText(parts)).join("");

/** Creates the approval for the pending call of a task. */
function createApproval({ status }: Task, euros: number): Part[] {
  const call = status.message?.parts[0] as DataPart;
  const { id } = call.data as { id: string };
  return [{ data: { id, response: { status: "approved", euros } } }];
}

const AMOUNTS = Array.from({ length: 20 }, (_, n) => n + 1);

const DURABLE_STORES = STORE_FACTORIES.filter(({ name }) => name !== "memory");

describe.each(DURABLE_STORES)(
  "the server of an ADK agent on a $name store that is killed",
  ({ openStore }) => {
    it("while waiting for approvals, continues with each of them, and with answers in words", async () => {
      const { store, remove } = await openStore();
      onTestFinished(remove);
      const before = await startChild(CHILD_SCRIPT, store);
      const remote = await connect(before.url);
      const questions = await Promise.all(
        AMOUNTS.map(async (euros) => requireTask(await remote.send(`${euros}`))),
      );
      expect(new Set(questions.map(({ status }) => status.state))).toEqual(
        new Set(["TASK_STATE_INPUT_REQUIRED"]),
      );
      await killChild(before);

      const after = await connect((await startChild(CHILD_SCRIPT, store)).url);
      const done = await Promise.all(
        questions.map(async (task, at) => {
          const euros = AMOUNTS[at] as number;
          const answer = at % 2 === 0 ? createApproval(task, euros) : `${euros}`;
          return requireTask(await after.send(answer, { taskId: task.id }));
        }),
      );
      for (const [at, task] of done.entries()) {
        expect(task.status.state).toBe("TASK_STATE_COMPLETED");
        expect(task.contextId).toBe(questions[at]?.contextId);
        expect(getTaskText(task)).toMatch(new RegExp(`^Asked\\.${AMOUNTS[at]} euros are on their way`));
      }
    });
  },
);

describe("the server of an ADK agent that is killed", () => {
  it("while working on the answer, fails that task, notifies its readers, and continues in its context", async () => {
    const file = await createTempFile();
    const port = String(await findTestPort());
    const before = await startChild(CHILD_SCRIPT, `sqlite:${file}`, port);
    const remote = await connect(before.url, { reconnect: { maxRetries: 300, maxDelayMs: 200 } });
    const question = requireTask(await remote.send("80"));
    const { id, contextId } = question;

    let restarted: Promise<unknown> | undefined;
    let last = "";
    for await (const event of remote.stream(createApproval(question, 80), { taskId: id })) {
      if ("statusUpdate" in event) last = event.statusUpdate.status.state;
      if ("artifactUpdate" in event) {
        restarted ??= killChild(before).then(() => startChild(CHILD_SCRIPT, `sqlite:${file}`, port));
      }
    }
    await restarted;
    expect(last).toBe("TASK_STATE_FAILED");
    const task = await remote.tasks.get(id);
    expect(getText(task.status.message?.parts ?? [])).toContain("stopped");
    expect(getTaskText(task)).toMatch(/^Asked\.80/);
    expect(getTaskText(task)).not.toContain("hears");

    const again = requireTask(await remote.send("81", { contextId }));
    const done = requireTask(await remote.send(createApproval(again, 81), { taskId: again.id }));
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getTaskText(done)).toContain("81 euros are on their way");
  });
});
