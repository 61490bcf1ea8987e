import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import { estimateJsonSize, type Task } from "../protocol/index.ts";
import {
  alice,
  createEngineFixture,
  createTestChunkEvent,
  createTestSendMessageRequest,
  getRejectionA2AErrorReasonForTest,
  getTestResponseTask,
  inputRequiredTestEvent,
} from "./engine.fixture.ts";

describe("the size limit of a task", () => {
  it("fails a task whose agent exceeds the limit, and keeps the earlier output [E14]", async () => {
    const { engine, agent } = createEngineFixture({ limits: { taskSize: 5000 } });
    const answer = engine.sendMessage(createTestSendMessageRequest("go"), alice);
    const run = await agent.waitForRun(0);
    for (let n = 0; n < 20; n++) run.emit(createTestChunkEvent("x".repeat(500)));
    run.end();
    const task: Task = getTestResponseTask(await answer);
    expect(task.status.state).toBe("TASK_STATE_FAILED");
    expect(task.status.message?.parts).toEqual([
      { text: expect.stringContaining("larger than the limit of 5000 characters") as string },
    ]);
    const output = task.artifacts?.[0]?.parts[0];
    expect(output && "text" in output ? output.text.length : 0).toBeGreaterThan(2000);
    expect(JSON.stringify(task).length).toBeLessThan(6000);
    expect(run.isReturned).toBe(true);
  });

  it("rejects a message that does not fit into its task, and the task continues to wait [E14]", async () => {
    const { engine, agent } = createEngineFixture({ limits: { taskSize: 3000 } });
    const answer = engine.sendMessage(createTestSendMessageRequest("go"), alice);
    (await agent.waitForRun(0)).emit(inputRequiredTestEvent).end();
    const { id } = getTestResponseTask(await answer);
    const long = createTestSendMessageRequest("y".repeat(3000), { taskId: id });
    expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(long, alice))).toBe(
      "PAYLOAD_TOO_LARGE",
    );
    expect((await engine.getTask({ id }, alice)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const short = engine.sendMessage(createTestSendMessageRequest("short", { taskId: id }), alice);
    (await agent.waitForRun(1)).end();
    expect(getTestResponseTask(await short).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("rejects a first message above the limit without creating a task [E14]", async () => {
    const { engine } = createEngineFixture({ limits: { taskSize: 1000 } });
    const long = createTestSendMessageRequest("y".repeat(1000));
    expect(await getRejectionA2AErrorReasonForTest(engine.sendMessage(long, alice))).toBe(
      "PAYLOAD_TOO_LARGE",
    );
    expect(await engine.listTasks({}, alice)).toMatchObject({ tasks: [] });
  });

  it("estimates sizes within a constant factor of the JSON text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const exact = JSON.stringify(value).length;
        const estimate = estimateJsonSize(value);
        // Escaped characters take up to six characters, and numbers up to 25.
        expect(estimate).toBeGreaterThanOrEqual(exact / 7);
        expect(estimate).toBeLessThanOrEqual(exact * 4 + 4);
      }),
    );
  });
});
