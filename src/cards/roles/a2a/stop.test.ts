import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { collect } from "../../../client/index.ts";
import { PLANNER, SOLVER, type ControlCard } from "../../index.ts";
import { flushEventLoopForTest } from "../../../engine/engine.fixture.ts";
import { createServer } from "../../../server/index.ts";
import { createController } from "../controller.ts";
import { InMemoryTestCardRecorder } from "./planner-solver-dialogue.fixture.ts";
import { createRoleAgent } from "./role-agent.ts";
import {
  forwardingTestPlanner,
  startRoleTestbed,
  createTestRoleFromFunction,
  createTestRoleBlockedUntilStopped,
} from "./role-testbed.fixture.ts";

const DEADLINE_MS = 60_000;
const formatControlCards = (recorder: InMemoryTestCardRecorder): string[] =>
  recorder.cards
    .filter(({ card }) => card.message_type === "control")
    .map(({ at_role, dir, card }) => `${at_role} ${dir} ${card.sender} → ${card.recipient} ${card.content}`);

describe("an expired deadline", () => {
  it("stops every downstream role with a card and leaves no task open", async () => {
    const solver = createTestRoleBlockedUntilStopped(SOLVER);
    const { controller, clock, recorder, listTasks } = await startRoleTestbed({
      planner: forwardingTestPlanner,
      solver: solver.role,
    });
    const solved = controller.solve({ task: "2 + 2", deadlineMs: DEADLINE_MS, relay: "full" });
    const taskContext = await solver.begun;
    clock.advance(DEADLINE_MS);
    const { reply, cards } = await solved;

    expect(reply).toMatchObject({
      sender: PLANNER,
      message_type: "error",
      metadata: { error_type: "timeout", retryable: true },
    });
    expect(reply.metadata).not.toHaveProperty("written_by");
    const reason = taskContext.signal.reason as ControlCard;
    expect(reason).toMatchObject({ sender: PLANNER, metadata: { parameters: { reason: "timeout" } } });
    expect(formatControlCards(recorder)).toEqual([
      "controller out controller → planner stop",
      "planner in controller → planner stop",
      "planner out planner → solver stop",
      "solver in planner → solver stop",
      ...(cards.length > 0 ? ["controller relayed planner → solver stop"] : []),
    ]);
    for (const name of [PLANNER, SOLVER]) {
      expect((await listTasks(name)).map(({ status }) => status.state)).toEqual(["TASK_STATE_CANCELED"]);
    }
    // Every task has its reply, and the controller has received all cards.
    expect(cards.map(({ sender, message_type }) => `${sender} ${message_type}`)).toEqual([
      "controller task",
      "planner task",
      "controller control",
      "planner control",
      "solver error",
      "planner error",
    ]);
    expect(cards.map(({ metadata }) => metadata.card_id)).toEqual(
      recorder.uniqueCards.map(({ metadata }) => metadata.card_id),
    );
  });

  it("of one subtask is an error card for the planner, which continues", async () => {
    const solver = createTestRoleBlockedUntilStopped(SOLVER);
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      const reply = await taskContext.delegate({ to: SOLVER, task: "slow", deadlineMs: 500 });
      const { error_type: result = "none" } = reply.metadata as { error_type?: string };
      return { result, status: "completed" };
    });
    const { controller, clock, listTasks } = await startRoleTestbed({ planner, solver: solver.role });
    const solved = controller.solve({ task: "2 + 2" });
    await solver.begun;
    clock.advance(500);
    const { reply } = await solved;
    expect(reply).toMatchObject({ message_type: "result", content: "timeout" });
    expect((await listTasks(SOLVER))[0]?.status.state).toBe("TASK_STATE_CANCELED");
    expect((await listTasks(PLANNER))[0]?.status.state).toBe("TASK_STATE_COMPLETED");
  });
});

describe("a role that is stopped", () => {
  const partial = createTestRoleBlockedUntilStopped(SOLVER, async () => ({
    result: "about 4",
    status: "partial",
  }));

  it("returns a partial artifact, and its task is canceled [F-40, E8]", async () => {
    const { getClient, listTasks } = await startRoleTestbed({ solver: partial.role });
    const solver = await getClient(SOLVER);
    const answer = collect(solver.stream("2 + 2"));
    await partial.begun;
    const [running] = await listTasks(SOLVER);
    const canceled = await solver.tasks.cancel(running?.id ?? "");
    expect(canceled.status.state).toBe("TASK_STATE_CANCELED");
    expect(canceled.artifacts?.map(({ parts }) => parts)).toEqual([[{ text: "about 4" }]]);
    expect(await answer).toMatchObject({ task: { artifacts: canceled.artifacts } });
  });

  it("passes its partial result to its requester", async () => {
    const solver = createTestRoleBlockedUntilStopped(SOLVER, async () => ({
      result: "about 4",
      status: "partial",
    }));
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      try {
        await taskContext.delegate({ to: SOLVER, task: "2 + 2" });
        return { error: "was not stopped", errorType: "test" };
      } catch {
        return { result: "perhaps 4", status: "partial" };
      }
    });
    const { controller, recorder, listTasks } = await startRoleTestbed({ planner, solver: solver.role });
    const stop = new AbortController();
    const solved = controller.solve({ task: "2 + 2", signal: stop.signal });
    await solver.begun;
    stop.abort(new Error("the user has left"));
    const { reply } = await solved;
    expect(reply).toMatchObject({ content: "perhaps 4", metadata: { status: "partial" } });
    const [task] = await listTasks(PLANNER);
    expect(task?.status.state).toBe("TASK_STATE_CANCELED");
    expect(task?.artifacts?.[0]).toMatchObject({
      artifactId: reply.metadata.card_id,
      name: "result-card",
    });
    // The planner has recorded the solver's partial result, although it did not wait for it.
    expect(recorder.cardRecordLines).toContain("planner in result");
  });

  it("completes when it has just finished", async () => {
    const solver = createTestRoleBlockedUntilStopped(SOLVER, async () => ({
      result: "4",
      status: "success",
    }));
    const { controller, listTasks } = await startRoleTestbed({
      planner: forwardingTestPlanner,
      solver: solver.role,
    });
    const stop = new AbortController();
    const solved = controller.solve({ task: "2 + 2", signal: stop.signal });
    await solver.begun;
    stop.abort();
    await solved;
    expect((await listTasks(SOLVER))[0]?.status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("is abandoned when it ignores the stop, before its requester gives up", async () => {
    const begun = Promise.withResolvers<void>();
    const deaf = createTestRoleFromFunction(SOLVER, () => {
      begun.resolve();
      return new Promise(() => {});
    });
    const { controller, clock, listTasks } = await startRoleTestbed(
      { planner: forwardingTestPlanner, solver: deaf },
      { graceMs: 1000 },
    );
    const solved = controller.solve({ task: "2 + 2", deadlineMs: DEADLINE_MS });
    await begun.promise;
    clock.advance(DEADLINE_MS);
    // The solver has 0.8 of the half that the planner passes on from its one second.
    while (clock.pendingTimerCount < 6) await flushEventLoopForTest(1);
    clock.advance(400);
    const { reply } = await solved;
    expect(reply).toMatchObject({ sender: PLANNER, metadata: { error_type: "timeout" } });
    for (const name of [PLANNER, SOLVER]) {
      expect((await listTasks(name))[0]?.status).toMatchObject({ state: "TASK_STATE_CANCELED" });
    }
  });

  it("stops all roles that work for it, even without waiting for them", async () => {
    const solver = createTestRoleBlockedUntilStopped(SOLVER);
    const careless = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      void taskContext.delegate({ to: SOLVER, task: "never mind" }).catch(() => {});
      await solver.begun;
      return { result: "done", status: "completed" };
    });
    const { controller, listTasks } = await startRoleTestbed({
      planner: careless,
      solver: solver.role,
    });
    expect((await controller.solve({ task: "2 + 2" })).reply.content).toBe("done");
    while ((await listTasks(SOLVER))[0]?.status.state !== "TASK_STATE_CANCELED")
      await flushEventLoopForTest(1);
  });
});

describe("an agent that does not answer", () => {
  /** Starts a server whose streams begin and then send nothing. It does not answer other requests. */
  async function begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(await text(request)).includes("SendStreamingMessage")) return;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: { task } })}\n\n`);
  }

  it("becomes an error card of the controller after the grace period", async () => {
    const silent = createHttpServer((request, response) => {
      if (request.method === "POST") {
        void begin(request, response);
        return;
      }
      const { port } = silent.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}/`;
      const card = {
        name: "silent",
        description: "Says nothing.",
        version: "1",
        supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
        capabilities: { streaming: true },
        defaultInputModes: ["text/plain"],
        defaultOutputModes: ["text/plain"],
        skills: [],
      };
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(card));
    });
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const { clock, recorder, controller } = await startRoleTestbed(
      { solver: createTestRoleBlockedUntilStopped(SOLVER).role },
      { controller: { roleTargets: { planner: `http://127.0.0.1:${port}` } }, graceMs: 1000 },
    );
    const asked = Promise.withResolvers<string>();
    const onTask = (taskId: string): void => asked.resolve(taskId);
    const solved = controller.solve({ task: "hello?", deadlineMs: DEADLINE_MS, onTaskCreated: onTask });
    expect(await asked.promise).toBe("t");
    clock.advance(DEADLINE_MS);
    while (recorder.cardRecordLines.length < 2) await flushEventLoopForTest(1);
    clock.advance(1000);
    const { reply } = await solved;
    expect(recorder.cardRecordLines).toEqual([
      "controller out task",
      "controller out control",
      "controller in error",
    ]);
    expect(reply).toMatchObject({
      sender: PLANNER,
      recipient: "controller",
      metadata: {
        error_type: "timeout",
        written_by: "controller",
        in_reply_to: recorder.uniqueCards[0]?.metadata.card_id,
      },
    });
  });

  it("is a retryable transport error when no server listens", async () => {
    const recorder = new InMemoryTestCardRecorder();
    const controller = createController({ roleTargets: { planner: "http://127.0.0.1:9" }, recorder });
    const { reply, taskId } = await controller.solve({ task: "hello?" });
    expect(reply).toMatchObject({ metadata: { error_type: "transport_error", retryable: true } });
    expect(taskId).toBeUndefined();
    expect(recorder.cardRecordLines).toEqual(["controller out task", "controller in error"]);
  });

  it("is a permanent transport error when its location is unknown", async () => {
    const { reply } = await createController({}).solve({ task: "hello?" });
    expect(reply.content).toContain(
      'The role planner has no location (known roles: none). Add its URL to "roleTargets".',
    );
    expect(reply.metadata).not.toHaveProperty("retryable");
  });
});

it("a server that closes fails the tasks of its roles as retryable", async () => {
  const planner = createTestRoleBlockedUntilStopped(PLANNER);
  const server = createServer(createRoleAgent(planner.role), { store: "memory" });
  const { url } = await server.listen();
  const solved = createController({ roleTargets: { planner: url } }).solve({ task: "2 + 2" });
  await planner.begun;
  await server.close({ graceMs: 200 });
  expect((await solved).reply).toMatchObject({
    sender: PLANNER,
    metadata: { error_type: "cancelled", retryable: true },
  });
});
