import { describe, expect, it } from "vitest";
import { createCardProtocol, PLANNER, SOLVER, toCardParts, type ControlCard } from "../../index.ts";
import { getRejectionA2AErrorReasonForTest } from "../../../engine/engine.fixture.ts";
import {
  startRoleTestbed,
  createTestRoleFromFunction,
  createTestRoleBlockedUntilStopped,
} from "./role-testbed.fixture.ts";

describe("a control card to a running role", () => {
  it("reaches the role without interrupting its stream or its work", async () => {
    const begun = Promise.withResolvers<void>();
    const heard: ControlCard[] = [];
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      begun.resolve();
      await taskContext.waitForControlCard();
      heard.push(...(await taskContext.takeControlCards()));
      await taskContext.waitForControlCard();
      heard.push(...(await taskContext.takeControlCards()));
      return { result: heard.map(({ content }) => content).join(), status: "completed" };
    });
    const { controller, recorder, listTasks } = await startRoleTestbed({ planner });
    const task = Promise.withResolvers<string>();
    const solved = controller.solve({ task: "2 + 2", relay: "full", onTaskCreated: task.resolve });
    const id = await task.promise;
    await begun.promise;
    const sent = await controller.sendControl(id, "pause");
    await controller.sendControl(id, "budget", { tokens: 500 });

    const { reply, cards } = await solved;
    expect(reply.content).toBe("pause,budget");
    expect(heard[0]).toEqual(sent);
    expect(heard[1]?.metadata.parameters).toEqual({ tokens: 500 });
    expect(cards.map(({ message_type }) => message_type)).toEqual(["task", "control", "control", "result"]);
    expect(recorder.cardRecordLines.filter((line) => line.startsWith("planner in"))).toEqual([
      "planner in task",
      "planner in control",
      "planner in control",
    ]);
    const [done] = await listTasks(PLANNER);
    expect(done?.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("stops the role like a cancellation", async () => {
    const planner = createTestRoleBlockedUntilStopped(PLANNER, async () => ({
      result: "half",
      status: "partial",
    }));
    const { controller, listTasks } = await startRoleTestbed({ planner: planner.role });
    const task = Promise.withResolvers<string>();
    const solved = controller.solve({ task: "2 + 2", onTaskCreated: task.resolve });
    const id = await task.promise;
    await planner.begun;
    await controller.sendControl(id, "stop", { reason: "enough" });
    expect((await solved).reply).toMatchObject({ content: "half", metadata: { status: "partial" } });
    expect((await listTasks(PLANNER))[0]?.status.state).toBe("TASK_STATE_CANCELED");
  });

  it("is rejected from other senders and for a finished problem", async () => {
    const solver = createTestRoleBlockedUntilStopped(SOLVER);
    const protocol = createCardProtocol({ routes: [{ from: "controller", to: SOLVER, types: ["control"] }] });
    const { getClient, listTasks, controller } = await startRoleTestbed(
      { solver: solver.role },
      { protocol },
    );
    const agent = await getClient(SOLVER);
    const answer = agent.send("2 + 2");
    await solver.begun;
    const [running] = await listTasks(SOLVER);
    const send = (from: "controller" | "planner", action: string): Promise<unknown> =>
      agent.send(
        { parts: toCardParts(protocol.createControlCard({ from, to: SOLVER, action })) },
        { taskId: running?.id ?? "" },
      );
    expect(await getRejectionA2AErrorReasonForTest(send("controller", "budget"))).toBe("INVALID_PARAMS");
    // A message without a control card is rejected as usual.
    expect(await getRejectionA2AErrorReasonForTest(agent.send("hello?", { taskId: running?.id ?? "" }))).toBe(
      "UNSUPPORTED_OPERATION",
    );
    await send("planner", "stop");
    expect(await answer).toMatchObject({ task: { status: { state: "TASK_STATE_CANCELED" } } });
    await expect(controller.sendControl("gone", "stop")).rejects.toThrow(
      "no active problem with the task gone",
    );
  });
});
