import { describe, expect, it } from "vitest";
import {
  createCardProtocol,
  findCardInMessage,
  PLANNER,
  type QueryCard,
  SOLVER,
  toCardParts,
} from "../../index.ts";
import { flushEventLoopForTest } from "../../../engine/engine.fixture.ts";
import { createServer } from "../../../server/index.ts";
import { MemoryStore } from "../../../stores/index.ts";
import { connect } from "../../../client/index.ts";
import type { Message } from "../../../protocol/index.ts";
import type { TaskContext, Role } from "../role.ts";
import {
  forwardingTestPlanner,
  startRoleTestbed,
  createTestRoleFromFunction,
  formatMessageCardLineForTest,
} from "./role-testbed.fixture.ts";
import { createScriptedModel } from "../models/index.ts";
import { WAITING_STATE_KEY } from "./durable-turn.ts";
import { createRoleAgent } from "./role-agent.ts";

/** A solver that asks for a method and uses the answer. */
const queryingSolver: Role = createTestRoleFromFunction(SOLVER, async (taskContext) => {
  const answer = await taskContext.sendQuery({ query: "Which method?", options: ["A", "B"] });
  const { status, selected } = answer.metadata as { status?: string; selected?: string };
  return { result: `${status} ${selected ?? "-"}: ${answer.content}`, status: "success" };
});

const createAnsweringPlanner = (answer: Role["answerQuery"]): Role => ({
  ...forwardingTestPlanner,
  ...(answer ? { answerQuery: answer } : {}),
});

describe("a query of the solver", () => {
  it("is answered by the planner, and the work continues", async () => {
    const asked: QueryCard[] = [];
    const planner = createAnsweringPlanner(async (query) => {
      asked.push(query);
      return { result: "B is shorter", selected: "B" };
    });
    const { controller, listTasks } = await startRoleTestbed({ planner, solver: queryingSolver });
    const { reply, cards } = await controller.solve({ task: "2 + 2", relay: "full" });
    expect(reply.content).toBe("success B: B is shorter");
    expect(cards.map(formatMessageCardLineForTest)).toEqual([
      "controller → planner task: 2 + 2",
      "planner → solver task: 2 + 2",
      "solver → planner query: Which method?",
      "planner → solver result: B is shorter",
      "solver → planner result: success B: B is shorter",
      "planner → controller result: success B: B is shorter",
    ]);
    expect(asked[0]?.metadata).toMatchObject({
      options: ["A", "B"],
      in_reply_to: cards[1]?.metadata.card_id,
    });
    expect(cards[3]?.metadata).toMatchObject({ in_reply_to: asked[0]?.metadata.card_id, selected: "B" });
    // A single task waited and then continued.
    expect(await listTasks(SOLVER)).toHaveLength(1);
  });

  it("without an answer returns an error, and the solver continues", async () => {
    for (const answer of [
      undefined,
      async () => undefined,
      async () => Promise.reject(new Error("no idea")),
    ]) {
      const { controller } = await startRoleTestbed({
        planner: createAnsweringPlanner(answer),
        solver: queryingSolver,
      });
      const { reply } = await controller.solve({ task: "2 + 2" });
      expect(reply.content).toBe("error -: planner has no answer to this query; continue without one");
    }
  });

  it("can be repeated up to a limit", async () => {
    const curious = createTestRoleFromFunction(SOLVER, async (taskContext): Promise<never> => {
      for (;;) await taskContext.sendQuery({ query: "And now?" });
    });
    const planner = createAnsweringPlanner(async () => ({ result: "Go on." }));
    const { controller, listTasks } = await startRoleTestbed({ planner, solver: curious });
    const { reply } = await controller.solve({ task: "2 + 2" });
    expect(reply.content).toContain("sent a query more than 16 times");
    while ((await listTasks(SOLVER))[0]?.status.state !== "TASK_STATE_CANCELED")
      await flushEventLoopForTest(1);
  });

  it("waits for an earlier query of the same task", async () => {
    const twice = createTestRoleFromFunction(SOLVER, async (taskContext) => {
      const answers = await Promise.all([
        taskContext.sendQuery({ query: "one?" }),
        taskContext.sendQuery({ query: "two?" }),
      ]);
      return { result: answers.map(({ content }) => content).join(), status: "success" };
    });
    const planner = createAnsweringPlanner(async ({ content }) => ({ result: content.toUpperCase() }));
    const { controller } = await startRoleTestbed({ planner, solver: twice });
    expect((await controller.solve({ task: "2 + 2" })).reply.content).toBe("ONE?,TWO?");
  });
});

it("a query of the planner is answered by the controller", async () => {
  const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
    const { content } = await taskContext.sendQuery({ query: "In which unit?" });
    return { result: `4 ${content}`, status: "completed" };
  });
  const { controller } = await startRoleTestbed(
    { planner },
    {
      controller: { answerQuery: (query) => ({ result: query.content === "In which unit?" ? "eggs" : "?" }) },
    },
  );
  expect((await controller.solve({ task: "2 + 2" })).reply.content).toBe("4 eggs");
});

describe("a query to a downstream role", () => {
  const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
    const reply = await taskContext.sendQuery({
      query: "Which way?",
      options: ["left", "right"],
      to: SOLVER,
    });
    return { result: `${reply.message_type} ${reply.content}`, status: "completed" };
  });

  it("is a separate message whose answer is a result", async () => {
    const solver = createTestRoleFromFunction(SOLVER, async () => ({ result: "", status: "success" }), {
      answerQuery: async ({ metadata }) => ({ result: "that one", selected: metadata.options?.[1] ?? "" }),
    });
    const { controller, recorder } = await startRoleTestbed({ planner, solver });
    expect((await controller.solve({ task: "Go." })).reply.content).toBe("result that one");
    const answer = recorder.uniqueCards.find(({ content }) => content === "that one");
    expect(answer?.metadata).toMatchObject({ selected: "right", status: "success" });
  });

  it("gets an error from a role without answerQuery", async () => {
    const solver = createTestRoleFromFunction(SOLVER, async () => ({ result: "", status: "success" }));
    const { controller } = await startRoleTestbed({ planner, solver });
    const { reply } = await controller.solve({ task: "Go." });
    expect(reply.content).toBe("result The solver has no answer to this query");
  });
});

describe("a query to a client without card support", () => {
  it("is plain text, and an answer that equals an option selects it", async () => {
    const { getClient } = await startRoleTestbed({ solver: queryingSolver });
    const solver = await getClient(SOLVER);
    for (const [said, heard] of [
      [" b ", "success B:  b "],
      ["neither", "success -: neither"],
    ] as const) {
      const first = await solver.send("2 + 2");
      const { id = "", status } = "task" in first ? first.task : {};
      expect(status?.state).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(status?.message?.parts).toEqual([{ text: "Which method? (A | B)" }]);
      const last = await solver.send(said, { taskId: id });
      expect(last).toMatchObject({
        task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: heard }] }] },
      });
    }
  });
});

describe("a task that waits for an answer", () => {
  const protocol = createCardProtocol();
  const task = protocol.createTaskCard({ from: PLANNER, to: SOLVER, task: "2 + 2" });
  const say = (
    card: Parameters<typeof toCardParts>[0],
    taskId?: string,
  ): Pick<Message, "parts"> & Partial<Message> => ({
    parts: toCardParts(card),
    messageId: card.metadata.card_id ?? "",
    ...(taskId === undefined ? {} : { taskId }),
  });

  it("keeps waiting after an invalid answer", async () => {
    const { getClient, errors } = await startRoleTestbed({ solver: queryingSolver });
    const solver = await getClient(SOLVER);
    const first = await solver.send(say(task));
    const { id = "", status } = "task" in first ? first.task : {};
    const query = findCardInMessage({ parts: status?.message?.parts ?? [] });
    const wrong = [
      protocol.createResultCard({
        from: PLANNER,
        to: SOLVER,
        result: "B",
        metadata: { in_reply_to: "other" },
      }),
      protocol.createTaskCard({ from: PLANNER, to: SOLVER, task: "another" }),
    ];
    for (const card of wrong) {
      const again = await solver.send(say(card, id));
      expect(again).toMatchObject({ task: { status: { state: "TASK_STATE_INPUT_REQUIRED" } } });
    }
    expect(errors.map(String)).toEqual([
      expect.stringContaining("is not a result that replies to"),
      expect.stringContaining("is not a result that replies to"),
    ]);
    const right = protocol.createResultCard({
      from: PLANNER,
      to: SOLVER,
      result: "B",
      metadata: { in_reply_to: query?.metadata.card_id ?? "", selected: "B" },
    });
    expect(await solver.send(say(right, id))).toMatchObject({
      task: { status: { state: "TASK_STATE_COMPLETED" } },
    });
  });

  it("keeps no work in memory, and is canceled without its role", async () => {
    const contexts: TaskContext[] = [];
    const agent = createRoleAgent(
      createTestRoleFromFunction(SOLVER, async (taskContext) => {
        contexts.push(taskContext);
        await taskContext.sendQuery({ query: "Which?" });
        return { result: "", status: "success" };
      }),
    );
    const server = createServer(agent, { store: "memory" });
    const { url } = await server.listen();
    const solver = await connect(url);
    const first = await solver.send("2 + 2");
    const { id = "", status } = "task" in first ? first.task : {};
    expect(status?.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect((await solver.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
    expect(contexts).toHaveLength(1);
    await server.close();
  });

  it("can be ended by its role, and a later answer gets the outcome", async () => {
    const impatient = createTestRoleFromFunction(SOLVER, async (taskContext) => {
      void taskContext.sendQuery({ query: "Quick, which?" }).catch(() => {});
      await flushEventLoopForTest(10);
      return { result: "never mind", status: "success" };
    });
    const { getClient } = await startRoleTestbed({ solver: impatient });
    const solver = await getClient(SOLVER);
    const first = await solver.send("2 + 2");
    const { id = "", status } = "task" in first ? first.task : {};
    expect(status?.state).toBe("TASK_STATE_INPUT_REQUIRED");
    await flushEventLoopForTest(20);
    expect(await solver.send("B", { taskId: id })).toMatchObject({
      task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "never mind" }] }] },
    });
  });

  it("continues after a restart, without repeating its model calls", async () => {
    const store = new MemoryStore();
    let modelCalls = 0;
    const model = createScriptedModel(() => `thought ${++modelCalls}`);
    const thinkingSolver = createTestRoleFromFunction(SOLVER, async (taskContext) => {
      const input = { kind: "solve", task: taskContext.task } as const;
      const before = await taskContext.callModel({ input, messages: [] });
      const { content } = await taskContext.sendQuery({ query: "Which method?" });
      const after = await taskContext.callModel({ input, messages: [] });
      return { result: `${before.text}, ${content}, ${after.text}`, status: "success" };
    });
    const before = createServer(createRoleAgent(thinkingSolver, { model }), { store });
    const solver = await connect((await before.listen()).url);
    const first = await solver.send(say({ ...task, metadata: { card_id: "before" } }));
    const id = "task" in first ? first.task.id : "";
    await before.close();

    const after = createServer(createRoleAgent(thinkingSolver, { model }), { store });
    const again = await connect((await after.listen()).url);
    const answer = await again.send("B", { taskId: id });
    const { status, artifacts = [], metadata } = "task" in answer ? answer.task : {};
    expect(status?.state).toBe("TASK_STATE_COMPLETED");
    expect(findCardInMessage({ parts: artifacts[0]?.parts ?? [] })).toMatchObject({
      sender: SOLVER,
      recipient: PLANNER,
      content: "thought 1, B, thought 2",
      metadata: { in_reply_to: "before" },
    });
    expect(modelCalls).toBe(2);
    expect(metadata).toEqual({ [WAITING_STATE_KEY]: null });
    await after.close();
  });

  it("keeps waiting after a control card and stops after a stop card", async () => {
    const { getClient, recorder } = await startRoleTestbed({ solver: queryingSolver });
    const solver = await getClient(SOLVER);
    const first = await solver.send(say({ ...task, metadata: { card_id: "controlled" } }));
    const id = "task" in first ? first.task.id : "";
    const budget = protocol.createControlCard({ from: PLANNER, to: SOLVER, action: "budget" });
    expect(await solver.send(say(budget, id))).toMatchObject({
      task: { status: { state: "TASK_STATE_INPUT_REQUIRED" } },
    });
    const stop = protocol.createControlCard({ from: PLANNER, to: SOLVER, action: "stop" });
    expect(await solver.send(say(stop, id))).toMatchObject({
      task: { status: { state: "TASK_STATE_CANCELED" } },
    });
    expect(recorder.cardRecordLines.filter((line) => line.includes("control"))).toEqual([
      "solver in control",
      "solver in control",
    ]);
  });
});
