import { describe, expect, it } from "vitest";
import { createCardProtocol, PLANNER, SOLVER, toCardParts } from "../../index.ts";
import { getRejectionA2AErrorReasonForTest } from "../../../engine/engine.fixture.ts";
import { startRoleTestbed, createTestRoleBlockedUntilStopped } from "./role-testbed.fixture.ts";

describe("a control card to a running role", () => {
  it("stops the role like a cancellation, and is rejected from other senders", async () => {
    const solver = createTestRoleBlockedUntilStopped(SOLVER, async () => ({
      result: "half",
      status: "partial",
    }));
    const protocol = createCardProtocol({ routes: [{ from: "controller", to: SOLVER, types: ["control"] }] });
    const { getClient, listTasks, recorder } = await startRoleTestbed({ solver: solver.role }, { protocol });
    const agent = await getClient(SOLVER);
    const answer = agent.send("2 + 2");
    await solver.begun;
    const [running] = await listTasks(SOLVER);
    const send = (from: "controller" | "planner", action: string): Promise<unknown> =>
      agent.send(
        { parts: toCardParts(protocol.createControlCard({ from, to: SOLVER, action })) },
        { taskId: running?.id ?? "" },
      );
    expect(await getRejectionA2AErrorReasonForTest(send("controller", "stop"))).toBe("INVALID_PARAMS");
    // A message without a control card is rejected as usual.
    expect(await getRejectionA2AErrorReasonForTest(agent.send("hello?", { taskId: running?.id ?? "" }))).toBe(
      "UNSUPPORTED_OPERATION",
    );
    expect((await solver.begun).signal.aborted).toBe(false);
    await send(PLANNER, "faster");
    expect((await solver.begun).signal.aborted).toBe(false);
    await send(PLANNER, "stop");
    expect(await answer).toMatchObject({
      task: { status: { state: "TASK_STATE_CANCELED" }, artifacts: [{ parts: [{ text: "half" }] }] },
    });
    expect(recorder.cardRecordLines.filter((line) => line.includes("control"))).toEqual([
      "solver in control",
      "solver in control",
    ]);
  });
});
