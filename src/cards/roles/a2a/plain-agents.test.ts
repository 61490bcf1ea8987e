import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard } from "@a2a-js/sdk";
import {
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent, failed, inputRequired, reply, type AgentGenerator } from "../../../agents/adapters/index.ts";
import { publishToA2aJsEventBus } from "../../../client/publish-to-a2a-js-event-bus.fixture.ts";
import { MESSAGE_CARD_EXTENSION_URI, MESSAGE_CARD_MEDIA_TYPE, PLANNER, SOLVER } from "../../index.ts";
import { flushEventLoopForTest } from "../../../engine/engine.fixture.ts";
import type { AgentEvent } from "../../../engine/index.ts";
import { data, type JsonObject, type Task } from "../../../protocol/index.ts";
import { createServer } from "../../../server/index.ts";
import {
  JANET_DIALOGUE,
  createScriptedPlanner,
  createScriptedSolver,
} from "./planner-solver-dialogue.fixture.ts";
import {
  forwardingTestPlanner,
  type RoleTestbed,
  startRoleTestbed,
  createTestRoleFromFunction,
} from "./role-testbed.fixture.ts";

/** Starts a testbed whose solver is an agent without card support. */
async function startTestbedWithPlainSolver(
  work: AgentGenerator,
  planner = forwardingTestPlanner,
): Promise<RoleTestbed> {
  const server = createServer(
    agent({ name: "Stranger", description: "Knows nothing of cards." }, work, { respondsWith: "either" }),
    {
      store: "memory",
    },
  );
  const { url } = await server.listen();
  onTestFinished(() => server.close({ graceMs: 100 }));
  return await startRoleTestbed({ planner }, { roleTargets: { solver: url } });
}

describe("a client without card support", () => {
  it("sends and receives plain text", async () => {
    const { getClient, recorder } = await startRoleTestbed({
      planner: createScriptedPlanner(JANET_DIALOGUE),
      solver: createScriptedSolver(JANET_DIALOGUE),
    });
    const planner = await getClient(PLANNER);
    const answer = await planner.send("Janet's ducks lay 16 eggs per day...");
    expect(answer).toMatchObject({
      task: {
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ name: "result", parts: [{ text: "18" }] }],
      },
    });
    expect(JSON.stringify(answer)).not.toContain(MESSAGE_CARD_EXTENSION_URI);
    // The role still receives a task card from the controller.
    expect(recorder.cards[0]).toMatchObject({
      dir: "in",
      card: { sender: "controller", recipient: PLANNER },
    });
  });

  it("receives errors as plain text", async () => {
    const { getClient } = await startRoleTestbed({ solver: createScriptedSolver(JANET_DIALOGUE) });
    const answer = await (await getClient(SOLVER)).send("1 + 1");
    expect(answer).toMatchObject({
      task: {
        status: { state: "TASK_STATE_FAILED", message: { parts: [{ text: "Not in the dialogue: 1 + 1" }] } },
      },
    });
  });

  it("receives cards after it requests the extension [J-04, J-05]", async () => {
    const { urls } = await startRoleTestbed({ solver: createScriptedSolver(JANET_DIALOGUE) });
    const { connect } = await import("../../../client/index.ts");
    const solver = await connect(urls[SOLVER] ?? "", { extensions: [MESSAGE_CARD_EXTENSION_URI] });
    const answer = await solver.send(JANET_DIALOGUE.steps[0]?.subtask ?? "");
    expect(answer).toMatchObject({
      task: {
        artifacts: [
          {
            name: "result-card",
            extensions: [MESSAGE_CARD_EXTENSION_URI],
            parts: [{ mediaType: MESSAGE_CARD_MEDIA_TYPE }, { text: "9" }],
          },
        ],
      },
    });
  });
});

describe("a role's task for an agent without card support", () => {
  it("is sent as content with context, and the answer becomes a card on behalf of the agent", async () => {
    const heard: string[] = [];
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      const { content, metadata } = await taskContext.delegate({
        to: SOLVER,
        task: "2 + 2",
        context: { unit: "eggs" },
      });
      return { result: content, status: "completed", metadata: { heard: metadata["written_by"] ?? "" } };
    });
    const { controller, recorder } = await startTestbedWithPlainSolver(async function* ({ text }) {
      heard.push(text);
      yield "It is ";
      yield "4.";
    }, planner);
    const { reply } = await controller.solve({ task: "2 + 2", runId: "r" });
    expect(heard).toEqual(['2 + 2\n\nContext: {"unit":"eggs"}']);
    expect(reply).toMatchObject({ content: "It is 4.", metadata: { heard: PLANNER } });
    const wrapped = recorder.uniqueCards.find(({ sender }) => sender === SOLVER);
    expect(wrapped).toMatchObject({
      recipient: PLANNER,
      message_type: "result",
      metadata: { status: "success", written_by: PLANNER, run_id: "r", tokens: 0, usage: { source: "none" } },
    });
  });

  it.each<[string, AgentGenerator, object]>([
    [
      "a message without a task",
      async function* () {
        yield reply("4");
      },
      { content: "4" },
    ],
    [
      "data",
      async function* () {
        yield data({ sum: 4 });
      },
      { content: '{"sum":4}' },
    ],
    ["nothing at all", async function* () {}, { content: "" }],
    [
      "a text that is too long for a card, truncated between characters",
      async function* () {
        yield reply(`${"x".repeat(79_999)}🦆🦆`);
      },
      { content: "x".repeat(79_999), metadata: { status: "completed" } },
    ],
    [
      "a failure",
      async function* () {
        yield failed("no idea");
      },
      { content: "no idea", metadata: { error_type: "solver_failed" } },
    ],
  ])("can be answered by %s", async (_what, work, expected) => {
    const { controller } = await startTestbedWithPlainSolver(work);
    expect((await controller.solve({ task: "2 + 2" })).reply).toMatchObject(expected);
  });

  it("has the usage that an ADK agent reports on its card", async () => {
    const said = (artifactId: string, text: string, counts: JsonObject): AgentEvent => ({
      artifact: { artifactId, parts: [{ text }], metadata: { adk_usage_metadata: counts } },
    });
    const { controller, recorder } = await startTestbedWithPlainSolver(async function* () {
      yield said("a", "I look it up. ", {
        promptTokenCount: 10,
        candidatesTokenCount: 2,
        totalTokenCount: 12,
      });
      yield said("b", "4", {
        promptTokenCount: 20,
        candidatesTokenCount: 1,
        thoughtsTokenCount: 5,
        cachedContentTokenCount: 8,
      });
      yield said("c", "!", { promptTokenCount: "many" });
    });
    await controller.solve({ task: "2 + 2" });
    const wrapped = recorder.uniqueCards.find(({ sender }) => sender === SOLVER);
    expect(wrapped?.metadata).toMatchObject({
      tokens: 38,
      usage: {
        input_tokens: 30,
        output_tokens: 8,
        cached_input_tokens: 8,
        reasoning_output_tokens: 5,
        source: "reported",
      },
    });
  });

  it("can be answered with a query in plain text", async () => {
    const planner = { ...forwardingTestPlanner, answerQuery: async () => ({ result: "red" }) };
    const { controller } = await startTestbedWithPlainSolver(async function* ({ text, history }) {
      if (history.length === 1) yield inputRequired("Which colour?");
      else yield `so ${text}`;
    }, planner);
    expect((await controller.solve({ task: "Paint." })).reply.content).toBe("so red");
  });

  it("does not share a conversation with earlier tasks", async () => {
    const contexts = new Set<string>();
    const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
      for (const task of ["one", "two"]) await taskContext.delegate({ to: SOLVER, task });
      return { result: "", status: "completed" };
    });
    const { controller } = await startTestbedWithPlainSolver(async function* ({ contextId }) {
      contexts.add(contextId);
      yield "ok";
    }, planner);
    await controller.solve({ task: "2 + 2" });
    expect(contexts.size).toBe(2);
  });
});

describe("an agent of the official SDK", () => {
  /** Answers `4`. The task `wait` runs until it is canceled. */
  async function sdk(): Promise<{ url: string; states: () => string[] }> {
    const states: string[] = [];
    const begun = new Map<string, string>();
    const cancelled = Promise.withResolvers<void>();
    const executor = {
      async execute(
        { taskId, contextId, userMessage }: RequestContext,
        bus: ExecutionEventBus,
      ): Promise<void> {
        const content = userMessage.parts[0]?.content;
        const task: Task = { id: taskId, contextId, status: { state: "TASK_STATE_WORKING" } };
        publishToA2aJsEventBus(bus, { task });
        begun.set(taskId, contextId);
        states.push("working");
        if (content?.$case === "text" && content.value === "wait") return await cancelled.promise;
        publishToA2aJsEventBus(bus, {
          artifactUpdate: { taskId, contextId, artifact: { artifactId: "a", parts: [{ text: "4" }] } },
        });
        publishToA2aJsEventBus(bus, {
          statusUpdate: { taskId, contextId, status: { state: "TASK_STATE_COMPLETED" } },
        });
        states.push("completed");
        bus.finished();
      },
      async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
        const contextId = begun.get(taskId) ?? "";
        publishToA2aJsEventBus(bus, {
          statusUpdate: { taskId, contextId, status: { state: "TASK_STATE_CANCELED" } },
        });
        states.push("canceled");
        cancelled.resolve();
        bus.finished();
      },
    };
    const app = express();
    const http = createHttpServer(app).listen(0, "127.0.0.1");
    await once(http, "listening");
    onTestFinished(() => {
      http.closeAllConnections();
      http.close();
    });
    const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    const card = AgentCard.fromJSON({
      name: "Official",
      description: "Knows nothing of cards.",
      version: "1",
      supportedInterfaces: [{ url: `${url}/jsonrpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      capabilities: { streaming: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [],
    });
    const handler = new DefaultRequestHandler(card, new InMemoryTaskStore(), executor);
    app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: handler }));
    app.use(
      "/jsonrpc",
      jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }),
    );
    return { url, states: () => states };
  }

  it("solves subtasks of a planner and is stopped with it", async () => {
    const { url, states } = await sdk();
    const { controller, clock } = await startRoleTestbed(
      { planner: forwardingTestPlanner },
      { roleTargets: { solver: url } },
    );
    expect((await controller.solve({ task: "2 + 2" })).reply.content).toBe("4");

    const waiting = controller.solve({ task: "wait", deadlineMs: 1000 });
    while (states().at(-1) !== "working") await flushEventLoopForTest(1);
    clock.advance(1000);
    expect((await waiting).reply).toMatchObject({ metadata: { error_type: "timeout" } });
    expect(states()).toEqual(["working", "completed", "working", "canceled"]);
  });
});
