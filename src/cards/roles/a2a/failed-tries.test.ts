import { describe, expect, it } from "vitest";
import { PLANNER, SOLVER } from "../../index.ts";
import { createScriptedModel, type RoleModel, createPlanner, createSolver } from "../index.ts";
import { forwardingTestPlanner, startRoleTestbed, type RoleTestbed } from "./role-testbed.fixture.ts";

const createHttpError = (httpStatus: number, more: object = {}): Error =>
  Object.assign(new Error(`the provider answered ${httpStatus}`), { httpStatus, ...more });

async function startSolver(model: RoleModel): Promise<RoleTestbed> {
  return await startRoleTestbed({
    planner: forwardingTestPlanner,
    solver: { role: createSolver(), model },
  });
}

/** Advances the clock whenever a role waits, and returns the solver's reply to the planner. */
async function solveWithElapsingTime(
  { controller, clock, recorder }: RoleTestbed,
  waits: readonly number[],
): Promise<ReturnType<typeof findSolverReply>> {
  const solved = controller.solve({ task: "9 * 2", sampleId: "s" });
  for (const ms of waits) {
    await expect.poll(() => clock.pendingTimerCount).toBe(1);
    clock.advance(ms - 1);
    expect(clock.pendingTimerCount).toBe(1);
    clock.advance(1);
  }
  await solved;
  return findSolverReply(recorder);
}

function findSolverReply(recorder: RoleTestbed["recorder"]): (typeof recorder.uniqueCards)[number] {
  const card = recorder.uniqueCards.find(({ sender }) => sender === SOLVER);
  if (!card) throw new Error("The solver sent no card.");
  return card;
}

describe("a failed model call", () => {
  it("is repeated after 2 and 4 seconds, and the next card lists each failed try", async () => {
    const testbed = await startSolver(
      createScriptedModel([createHttpError(429), createHttpError(503), "18"]),
    );
    const reply = await solveWithElapsingTime(testbed, [2_000, 4_000]);
    expect(reply).toMatchObject({ message_type: "result", content: "18" });
    expect(reply.metadata.failed_tries).toEqual([
      { reason: "model_error", error: "the provider answered 429", http_status: 429, wait_ms: 2_000 },
      { reason: "model_error", error: "the provider answered 503", http_status: 503, wait_ms: 4_000 },
    ]);
    expect(testbed.recorder.calls).toMatchObject([
      { finish: "error", error: "the provider answered 429", wait_ms: 2_000 },
      { finish: "error", error: "the provider answered 503", wait_ms: 4_000 },
      { finish: "stop" },
    ]);
  });

  it("waits as long as the provider asks", async () => {
    const testbed = await startSolver(
      createScriptedModel([createHttpError(429, { retryAfterMs: 30_000 }), "18"]),
    );
    const reply = await solveWithElapsingTime(testbed, [30_000]);
    expect(reply.metadata.failed_tries).toMatchObject([{ wait_ms: 30_000 }]);
  });

  it("ends with a retryable error after three tries, or if the provider asks for more than a minute", async () => {
    const busy = await startSolver(createScriptedModel([createHttpError(500)]));
    const reply = await solveWithElapsingTime(busy, [2_000, 4_000]);
    expect(reply.metadata).toMatchObject({ error_type: "model_error", retryable: true, http_status: 500 });
    expect(reply.metadata.failed_tries).toHaveLength(2);
    const later = await startSolver(createScriptedModel([createHttpError(429, { retryAfterMs: 60_001 })]));
    expect((await solveWithElapsingTime(later, [])).metadata).toMatchObject({ http_status: 429 });
    expect(later.recorder.calls).toHaveLength(1);
  });

  it.each([
    [400, "The model failed: the provider answered 400"],
    [401, "The model failed: the provider answered 401. To do: set a valid API key for the model."],
    [
      404,
      "The model failed: the provider answered 404. To do: correct the name of the model or the base URL of its server.",
    ],
  ])("with status %i is not repeated, because it would fail again", async (status, content) => {
    const testbed = await startSolver(createScriptedModel([createHttpError(status)]));
    const reply = await solveWithElapsingTime(testbed, []);
    expect(reply).toMatchObject({ content, metadata: { retryable: false, http_status: status } });
    expect(reply.metadata).not.toHaveProperty("failed_tries");
    // A rejected request has no tokens, so their number is not unknown.
    expect(reply.metadata).not.toHaveProperty("usage");
  });

  it("does not delay a stop", async () => {
    const { controller, clock, recorder } = await startSolver(createScriptedModel([createHttpError(429)]));
    const abort = new AbortController();
    const solved = controller.solve({ task: "9 * 2", sampleId: "s", signal: abort.signal });
    await expect.poll(() => recorder.calls).toHaveLength(1);
    abort.abort();
    expect((await solved).reply.metadata).toMatchObject({ error_type: "cancelled" });
    await expect.poll(() => clock.pendingTimerCount).toBe(0);
  });
});

describe("an unusable reply", () => {
  it("of a planner is on the next card, with its reason and its text", async () => {
    const planner = {
      role: createPlanner(),
      model: createScriptedModel([
        { text: "I cannot", finish: "length" },
        '{"action":"call_solver","subtask":"9 * 2"}',
        '{"action":"final_answer","answer":"18"}',
      ]),
    };
    const solver = { role: createSolver(), model: createScriptedModel(["18"]) };
    const { controller, recorder } = await startRoleTestbed({ planner, solver });
    expect((await controller.solve({ task: "9 * 2", sampleId: "s" })).reply.content).toBe("18");
    const task = recorder.uniqueCards.find(
      ({ sender, recipient }) => sender === PLANNER && recipient === SOLVER,
    );
    expect(task?.metadata.failed_tries).toEqual([
      {
        reason: "unusable_reply",
        error: expect.stringContaining("(the model stopped with length)") as string,
        wait_ms: 0,
        text: "I cannot",
      },
    ]);
  });

  it("that is the last one is on the error card", async () => {
    const planner = { role: createPlanner(), model: createScriptedModel(["no", "never"]) };
    const { controller, recorder } = await startRoleTestbed({ planner });
    const { reply } = await controller.solve({ task: "9 * 2", sampleId: "s" });
    expect(reply.metadata).toMatchObject({
      error_type: "invalid_action",
      failed_tries: [{ text: "no" }, { text: "never" }],
    });
    expect(recorder.calls).toHaveLength(2);
  });
});
