import { describe, expect, it } from "vitest";
import { createCardProtocol, PLANNER, SOLVER, toCardParts } from "../../cards/index.ts";
import { reasonOf } from "../../engine/engine.fixture.ts";
import type { ControlCard } from "../../cards/index.ts";
import { house, role, sleeping } from "./house.fixture.ts";

describe("a control card to a role at work", () => {
  it("reaches the role, and neither its stream nor its work notices", async () => {
    const begun = Promise.withResolvers<void>();
    const heard: ControlCard[] = [];
    const planner = role(PLANNER, async (desk) => {
      begun.resolve();
      await desk.controlled();
      heard.push(...desk.controls());
      await desk.controlled();
      heard.push(...desk.controls());
      return { result: heard.map(({ content }) => content).join(), status: "completed" };
    });
    const { controller, memo, tasks } = await house({ planner });
    const task = Promise.withResolvers<string>();
    const solved = controller.solve({ task: "2 + 2", relay: "full", onTask: task.resolve });
    const id = await task.promise;
    await begun.promise;
    const sent = await controller.control(id, "pause");
    await controller.control(id, "budget", { tokens: 500 });

    const { reply, cards } = await solved;
    expect(reply.content).toBe("pause,budget");
    expect(heard[0]).toEqual(sent);
    expect(heard[1]?.metadata.parameters).toEqual({ tokens: 500 });
    expect(cards.map(({ message_type }) => message_type)).toEqual(["task", "control", "control", "result"]);
    expect(memo.lines.filter((line) => line.startsWith("planner in"))).toEqual([
      "planner in task",
      "planner in control",
      "planner in control",
    ]);
    const [done] = await tasks(PLANNER);
    expect(done?.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("stops it, as a cancellation would, when it says so", async () => {
    const planner = sleeping(PLANNER, async () => ({ result: "half", status: "partial" }));
    const { controller, tasks } = await house({ planner: planner.role });
    const task = Promise.withResolvers<string>();
    const solved = controller.solve({ task: "2 + 2", onTask: task.resolve });
    const id = await task.promise;
    await planner.begun;
    await controller.control(id, "stop", { reason: "enough" });
    expect((await solved).reply).toMatchObject({ content: "half", metadata: { status: "partial" } });
    expect((await tasks(PLANNER))[0]?.status.state).toBe("TASK_STATE_CANCELED");
  });

  it("is refused from anybody but who gave the task, and by a problem that is over", async () => {
    const solver = sleeping(SOLVER);
    const protocol = createCardProtocol({ routes: [{ from: "controller", to: SOLVER, types: ["control"] }] });
    const { remote, tasks, controller } = await house({ solver: solver.role }, { protocol });
    const agent = await remote(SOLVER);
    const answer = agent.send("2 + 2");
    await solver.begun;
    const [running] = await tasks(SOLVER);
    const send = (from: "controller" | "planner", action: string): Promise<unknown> =>
      agent.send(
        { parts: toCardParts(protocol.createControlCard({ from, to: SOLVER, action })) },
        { taskId: running?.id ?? "" },
      );
    expect(await reasonOf(send("controller", "budget"))).toBe("INVALID_PARAMS");
    // What is no control card is as unwelcome as ever.
    expect(await reasonOf(agent.send("hello?", { taskId: running?.id ?? "" }))).toBe("UNSUPPORTED_OPERATION");
    await send("planner", "stop");
    expect(await answer).toMatchObject({ task: { status: { state: "TASK_STATE_CANCELED" } } });
    await expect(controller.control("gone", "stop")).rejects.toThrow("No problem with the task gone");
  });
});
