import { describe, expect, it } from "vitest";
import { type CardTokenUsage, createCardProtocol, PLANNER, SOLVER } from "../../index.ts";
import type { RoleModel } from "../role-model.ts";
import { startRoleTestbed, createTestRoleFromFunction } from "./role-testbed.fixture.ts";

const createReportedUsage = (input_tokens: number, output_tokens: number): CardTokenUsage => ({
  input_tokens,
  output_tokens,
  source: "reported",
});

/** A model that needs 100 ms and 10 input tokens per call. */
function createCountingModel(
  advance: (ms: number) => void,
  usage: (call: number) => CardTokenUsage | undefined,
): RoleModel {
  let calls = 0;
  return {
    id: "counting",
    evidenceKind: "simulated",
    async complete() {
      advance(100);
      const spent = usage(++calls);
      return { text: `thought ${calls}`, finish: "stop", ...(spent ? { usage: spent } : {}) };
    },
  };
}

describe("the token usage of a role", () => {
  it("is on the next card, and on one card only for parallel tasks", async () => {
    const clock = { advance: (_ms: number): void => {} };
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      const plan = {
        kind: "plan",
        task: taskContext.task,
        findings: [],
        turn: 1,
        maxTurns: 3,
      } as const;
      await taskContext.callModel({ input: plan, messages: [] });
      await taskContext.callModel({ input: { ...plan, rejectionReason: "again" }, messages: [] });
      await Promise.all(["one", "two"].map((task) => taskContext.delegate({ to: SOLVER, task, turn: 1 })));
      await taskContext.callModel({ input: { ...plan, turn: 2 }, messages: [] });
      return { result: "done", status: "completed", metadata: { turn: 2 } };
    });
    const model = createCountingModel(
      (ms) => clock.advance(ms),
      (call) => (call === 2 ? undefined : createReportedUsage(10, call)),
    );
    const solver = createTestRoleFromFunction(SOLVER, async () => ({ result: "ok", status: "success" }));
    const open = await startRoleTestbed({ planner: { role: planner, model }, solver });
    clock.advance = (ms) => open.clock.advance(ms);
    await open.controller.solve({ task: "2 + 2", runId: "r", sampleId: "s" });

    const sent = open.recorder.cards.filter(({ at_role, dir }) => at_role === PLANNER && dir === "out");
    const [first, second, last] = sent.map(({ card }) => card.metadata);
    expect(first).toMatchObject({
      tokens: 11,
      usage: { ...createReportedUsage(10, 1), source: "none" },
      model: "counting",
      duration_ms: 200,
    });
    expect(second).not.toHaveProperty("usage");
    expect(second).not.toHaveProperty("tokens");
    expect(last).toMatchObject({ tokens: 13, usage: createReportedUsage(10, 3), duration_ms: 100, turn: 2 });
    expect(
      open.recorder.calls.map(({ prompt: _prompt, reply: _reply, task_id: _taskId, ...call }) => call),
    ).toEqual([
      {
        run_id: "r",
        sample_id: "s",
        role: PLANNER,
        turn: 1,
        card_id: first?.card_id,
        model: "counting",
        usage: createReportedUsage(10, 1),
        duration_ms: 100,
        finish: "stop",
      },
      {
        run_id: "r",
        sample_id: "s",
        role: PLANNER,
        turn: 1,
        card_id: first?.card_id,
        model: "counting",
        usage: { input_tokens: 0, output_tokens: 0, source: "none" },
        duration_ms: 100,
        finish: "stop",
      },
      {
        run_id: "r",
        sample_id: "s",
        role: PLANNER,
        turn: 2,
        card_id: last?.card_id,
        model: "counting",
        usage: createReportedUsage(10, 3),
        duration_ms: 100,
        finish: "stop",
      },
    ]);
  });

  it("is not on stop cards or on cards on behalf of other roles", async () => {
    const thought = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    const planner = createTestRoleFromFunction(
      PLANNER,
      async (taskContext) => {
        const lost = taskContext.delegate({ to: SOLVER, task: "slow", deadlineMs: 500 });
        await asked.promise;
        await taskContext.callModel({ input: { kind: "solve", task: taskContext.task }, messages: [] });
        thought.resolve();
        await lost;
        return { result: "", status: "completed" };
      },
      {
        async answerQuery(_query, taskContext) {
          await taskContext.callModel({ input: { kind: "solve", task }, messages: [] });
          return { result: "yes" };
        },
      },
    );
    const solver = createTestRoleFromFunction(SOLVER, async (taskContext) => {
      await taskContext.sendQuery({ query: "Really?" });
      asked.resolve();
      await new Promise<void>((resolve) => taskContext.signal.addEventListener("abort", () => resolve()));
      throw taskContext.signal.reason;
    });
    const task = createCardProtocol().createTaskCard({ from: "controller", to: PLANNER, task: "" });
    const model = createCountingModel(
      () => {},
      (call) => createReportedUsage(call, call),
    );
    const { controller, clock, recorder } = await startRoleTestbed({
      planner: { role: planner, model },
      solver,
    });
    const solved = controller.solve({ task: "2 + 2" });
    await thought.promise;
    clock.advance(500);
    const { reply } = await solved;
    const answer = recorder.uniqueCards.find(({ content }) => content === "yes");
    expect(recorder.calls.map(({ card_id, usage }) => [card_id, usage])).toEqual([
      [answer?.metadata.card_id, answer?.metadata.usage],
      [reply.metadata.card_id, reply.metadata.usage],
    ]);
    expect(recorder.uniqueCards.filter(({ metadata }) => metadata.usage)).toHaveLength(2);
    expect(recorder.cardRecordLines).toContain("planner out control");
  });

  it("requires a model", async () => {
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      await taskContext.callModel({ input: { kind: "solve", task: taskContext.task }, messages: [] });
      return { result: "", status: "completed" };
    });
    const { controller, errors } = await startRoleTestbed({ planner });
    await controller.solve({ task: "2 + 2" });
    expect(String(errors[0])).toContain('The planner has no model. Set the option "model".');
  });
});

describe("a role execution", () => {
  it("rejects calls after its work is over", async () => {
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      setImmediate(() => void taskContext.delegate({ to: SOLVER, task: "late" }).catch(late.resolve));
      return { result: "done", status: "completed" };
    });
    const late = Promise.withResolvers<unknown>();
    const { controller, recorder } = await startRoleTestbed({ planner });
    await controller.solve({ task: "2 + 2" });
    expect(String(await late.promise)).toContain("The work is over");
    expect(recorder.uniqueCards).toHaveLength(2);
  });

  it("copies run, sample, and dataset of the task to its cards", async () => {
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      await taskContext.delegate({
        to: SOLVER,
        task: "one",
        forced: true,
        attempt: 2,
        metadata: { note: "mine" },
      });
      return { result: "done", status: "completed" };
    });
    const solver = createTestRoleFromFunction(SOLVER, async () => ({ result: "ok", status: "success" }));
    const { controller, recorder } = await startRoleTestbed({ planner, solver });
    await controller.solve({ task: "2 + 2", runId: "r", sampleId: "s", dataset: "d" });
    const [problem, subtask] = recorder.uniqueCards;
    expect(subtask?.metadata).toMatchObject({
      run_id: "r",
      sample_id: "s",
      dataset: "d",
      forced: true,
      attempt: 2,
      note: "mine",
      in_reply_to: problem?.metadata.card_id,
    });
  });
});
