import { describe, expect, it } from "vitest";
import { connect } from "../../../client/index.ts";
import {
  MESSAGE_CARD_EXTENSION_URI,
  MESSAGE_CARD_MEDIA_TYPE,
  createCardProtocol,
  defineCardType,
  findCardInMessage,
  PLANNER,
  SOLVER,
  toCardParts,
} from "../../index.ts";
import { A2AError, type Part, type SendMessageResponse } from "../../../protocol/index.ts";
import { createController } from "../controller.ts";
import { createScriptedModel } from "../models/index.ts";
import {
  forwardingTestPlanner,
  startRoleTestbed,
  createTestRoleFromFunction,
} from "./role-testbed.fixture.ts";
import { createRoleAgent } from "./role-agent.ts";

const protocol = createCardProtocol();
const succeedingSolver = createTestRoleFromFunction(SOLVER, async () => ({ result: "4", status: "success" }));

function getStatusCard(answer: SendMessageResponse): unknown {
  return "task" in answer ? findCardInMessage({ parts: answer.task.status.message?.parts ?? [] }) : undefined;
}

describe("a role rejects with an error card that states the reason", () => {
  const task = protocol.createTaskCard({
    from: PLANNER,
    to: SOLVER,
    task: "2 + 2",
    metadata: { card_id: "c" },
  });
  const cases: readonly (readonly [string, readonly Part[], string])[] = [
    [
      "a card for another role",
      toCardParts({ ...task, sender: "controller", recipient: PLANNER }),
      "this agent is the solver",
    ],
    [
      "a card without a route",
      toCardParts({ ...task, sender: "controller" }),
      "controller must not send task to solver",
    ],
    ["an unknown role", toCardParts({ ...task, sender: "boss" }), "boss is not a role"],
    [
      "a reply without a task",
      toCardParts(protocol.createResultCard({ from: PLANNER, to: SOLVER, result: "4" })),
      "result cannot start a task",
    ],
    [
      "an invalid card",
      [{ data: { sender: "planner" }, mediaType: MESSAGE_CARD_MEDIA_TYPE }],
      "recipient: is required",
    ],
    ["two cards at once", [...toCardParts(task), ...toCardParts(task)], "more than one card"],
  ];

  it.each(cases)("%s", async (_what, parts, why) => {
    const { urls, recorder } = await startRoleTestbed({ solver: succeedingSolver });
    const solver = await connect(urls[SOLVER] ?? "", { extensions: [MESSAGE_CARD_EXTENSION_URI] });
    const answer = await solver.send(parts);
    expect(answer).toMatchObject({ task: { status: { state: "TASK_STATE_REJECTED" } } });
    expect(getStatusCard(answer)).toMatchObject({
      sender: SOLVER,
      message_type: "error",
      content: expect.stringContaining(why) as string,
      metadata: { error_type: "protocol_violation" },
    });
    expect(recorder.cardRecordLines.at(-1)).toBe("solver out error");
  });

  it("a problem that was forwarded too often", async () => {
    const looping = createCardProtocol({
      roles: ["left", "right"],
      routes: [
        { from: "controller", to: "left", types: ["task"] },
        { from: "left", to: "right", types: ["task", "result", "error"] },
        { from: "right", to: "left", types: ["task", "result", "error"] },
        { from: "left", to: "controller", types: ["result", "error"] },
      ],
    });
    const pass = (name: string, to: string): ReturnType<typeof createTestRoleFromFunction> =>
      createTestRoleFromFunction(name, async (taskContext) => {
        const reply = await taskContext.delegate({ to, task: taskContext.task.content });
        return reply.message_type === "error"
          ? { error: reply.content, errorType: reply.metadata.error_type }
          : { result: reply.content, status: "success" };
      });
    const { controller, recorder } = await startRoleTestbed(
      { left: pass("left", "right"), right: pass("right", "left") },
      { protocol: looping },
    );
    const { reply } = await controller.solve({ task: "round and round", to: "left" });
    expect(reply).toMatchObject({ metadata: { error_type: "protocol_violation" } });
    expect(reply.content).toContain("forwarded 9 times, which indicates a loop; at most 8 are allowed");
    expect(recorder.uniqueCards.filter(({ message_type }) => message_type === "task")).toHaveLength(9);
  });
});

describe("an invalid reply of a role", () => {
  it("is rejected by its requester", async () => {
    const other = createCardProtocol({
      routes: [
        { from: "controller", to: SOLVER, types: ["task"] },
        { from: SOLVER, to: "controller", types: ["result"] },
      ],
    });
    // The solver accepts tasks from the controller, but the controller's protocol has no route back.
    const { urls } = await startRoleTestbed({ solver: succeedingSolver }, { protocol: other });
    const narrow = createCardProtocol({ routes: [{ from: "controller", to: SOLVER, types: ["task"] }] });
    const controller = createController({ roleTargets: urls, protocol: narrow });
    const { reply } = await controller.solve({ task: "2 + 2", to: SOLVER });
    expect(reply).toMatchObject({
      sender: SOLVER,
      metadata: { error_type: "protocol_violation", written_by: "controller" },
    });
  });

  it("is an error of the role when it does not form a valid card", async () => {
    const wordy = createTestRoleFromFunction(SOLVER, async () => ({
      result: "x".repeat(300_000),
      status: "success",
    }));
    const { controller } = await startRoleTestbed({ planner: forwardingTestPlanner, solver: wordy });
    const { reply } = await controller.solve({ task: "2 + 2" });
    expect(reply).toMatchObject({ metadata: { error_type: "protocol_violation" } });
    expect(reply.content).toContain("The answer does not form a valid card");
  });
});

describe("an exception inside a role", () => {
  it.each([
    [new A2AError("INTERNAL", "The calculator is broken."), "The calculator is broken."],
    [new Error("password: 1234"), "The solver failed; its server log contains the cause"],
  ])("is reported without internals", async (thrown, text) => {
    const broken = createTestRoleFromFunction(SOLVER, () => Promise.reject(thrown));
    const { controller, errors } = await startRoleTestbed({ planner: forwardingTestPlanner, solver: broken });
    const { reply } = await controller.solve({ task: "2 + 2" });
    expect(reply).toMatchObject({
      message_type: "error",
      content: text,
      metadata: { error_type: "role_failed" },
    });
    expect(errors).toEqual([thrown]);
  });

  it("is a retryable model error when the model failed", async () => {
    const thinking = createTestRoleFromFunction(SOLVER, async (taskContext) => {
      const step = { kind: "solve", task: taskContext.task } as const;
      await taskContext.callModel({ input: step, messages: [] });
      return { result: "", status: "success" };
    });
    const solver = { role: thinking, model: createScriptedModel([new Error("429 slow down")]) };
    const { controller, recorder } = await startRoleTestbed({ planner: forwardingTestPlanner, solver });
    const { reply } = await controller.solve({ task: "2 + 2", sampleId: "s" });
    expect(reply).toMatchObject({
      content: "The model failed: 429 slow down",
      metadata: { error_type: "model_error" },
    });
    expect(recorder.calls).toMatchObject([
      {
        role: SOLVER,
        sample_id: "s",
        turn: 1,
        finish: "error",
        error: "429 slow down",
        usage: { source: "none" },
      },
    ]);
    const failed = recorder.uniqueCards.find(({ sender }) => sender === SOLVER);
    expect(recorder.calls[0]?.card_id).toBe(failed?.metadata.card_id);
    expect(failed?.metadata).toMatchObject({ retryable: true });
    // Without a response of the provider, the number of counted tokens is unknown.
    expect(failed?.metadata.usage).toEqual({ input_tokens: 0, output_tokens: 0, source: "none" });
  });
});

describe("an error whose text does not fit on a card", () => {
  // The first text is truncated within a character, and the second one starts with half a character.
  it.each([`${"x".repeat(499)}🦆`, "\ud83e"])("is reported nevertheless, %#", async (words) => {
    const thinking = createTestRoleFromFunction(SOLVER, async (taskContext) => {
      await taskContext.callModel({ input: { kind: "solve", task: taskContext.task }, messages: [] });
      return { result: "", status: "success" };
    });
    const solver = { role: thinking, model: createScriptedModel([new Error(words)]) };
    const { controller } = await startRoleTestbed({ planner: forwardingTestPlanner, solver });
    const { reply } = await controller.solve({ task: "2 + 2" });
    expect(reply.metadata).toMatchObject({ error_type: "model_error" });
    expect(reply.content).toMatch(/^The model failed: /);
    expect(reply.content.isWellFormed()).toBe(true);
  });

  it("is reported for transport failures, too", async () => {
    const { controller } = await startRoleTestbed(
      { planner: forwardingTestPlanner },
      { roleTargets: { solver: () => Promise.reject(new Error(`\ud83e${"x".repeat(300_000)}`)) } },
    );
    const { reply } = await controller.solve({ task: "2 + 2" });
    expect(reply.metadata).toMatchObject({ error_type: "transport_error" });
  });
});

describe("the agent card of a role", () => {
  it("lists the role and the card types that it accepts and emits [A-12]", () => {
    const { capabilities } = createRoleAgent(succeedingSolver).describe() as {
      capabilities: { extensions: unknown[] };
    };
    expect(capabilities.extensions).toEqual([
      {
        uri: MESSAGE_CARD_EXTENSION_URI,
        description: "Speaks in task, result, query, control and error cards",
        params: {
          role: SOLVER,
          accepts: ["task", "query", "control", "result"],
          emits: ["result", "query", "error"],
          relay: ["none", "full"],
          media_type: MESSAGE_CARD_MEDIA_TYPE,
        },
      },
    ]);
  });

  it("can require the extension, which rejects plain text [H-04]", async () => {
    const { urls, controller } = await startRoleTestbed({
      planner: { role: forwardingTestPlanner, requireCards: true },
      solver: succeedingSolver,
    });
    await expect(connect(urls[PLANNER] ?? "")).rejects.toMatchObject({
      reason: "EXTENSION_SUPPORT_REQUIRED",
    });
    const bare = await fetch(urls[PLANNER] ?? "", {
      method: "POST",
      headers: { "a2a-version": "1.0", "content-type": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "2 + 2" }] } },
      }),
    });
    expect(JSON.stringify(await bare.json())).toContain("EXTENSION_SUPPORT_REQUIRED");
    expect((await controller.solve({ task: "2 + 2" })).reply.content).toBe("4");
  });

  it("requires a role that the protocol defines", () => {
    expect(() => createRoleAgent({ ...succeedingSolver, name: "validator" })).toThrow(
      'createCardProtocol({ roles: ["validator"] })',
    );
  });
});

it("custom roles and card types work the same way", async () => {
  const verdict = defineCardType("verdict", { metadata: {}, isTerminal: true });
  const own = createCardProtocol({
    types: [verdict],
    roles: ["validator"],
    routes: [
      { from: PLANNER, to: "validator", types: ["task"] },
      { from: "validator", to: PLANNER, types: ["verdict", "error"] },
    ],
  });
  const planner = createTestRoleFromFunction(PLANNER, async (taskContext) => {
    const tasks = ["Is 4 right?", "Is 5 right?"];
    const replies = await Promise.all(tasks.map((task) => taskContext.delegate({ to: "validator", task })));
    const texts = replies.map(({ message_type, content }) => `${message_type}: ${content}`);
    return { result: texts.join("; "), status: "completed" };
  });
  const validator = createTestRoleFromFunction("validator", async ({ task }) => ({
    result: "yes",
    status: "success",
    type: task.content.includes("4") ? "verdict" : "task",
  }));
  const { controller } = await startRoleTestbed({ planner, validator }, { protocol: own });
  expect((await controller.solve({ task: "2 + 2" })).reply.content).toBe(
    "verdict: yes; error: The answer does not form a valid card: type: task does not end a task",
  );
});
