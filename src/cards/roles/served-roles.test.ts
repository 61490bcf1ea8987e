import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCardProtocol, defineCardType, getGsm8kSlice, rules, scoreAnswer } from "../index.ts";
import {
  BASELINE_ANSWERER_CARD_ROUTES,
  createBaselineAnswerer,
  createController,
  createPlanner,
  createSolver,
  createOracleModel,
  type Role,
  type ServedRoles,
  serveRoles,
} from "./index.ts";

const samples = getGsm8kSlice();
const model = createOracleModel(samples);

describe("planner and solver on separate servers", () => {
  let served: ServedRoles;
  beforeAll(async () => {
    const planner = { role: createPlanner(), model };
    served = await serveRoles({ roles: { planner, solver: { role: createSolver(), model } } });
  });
  afterAll(() => served.close());

  it("solve all shipped problems in parallel", async () => {
    const controller = createController({ roleTargets: served.urls });
    const solved = await Promise.all(
      samples.map(async ({ id, question, gold }) => {
        const { reply } = await controller.solve({ task: question, dataset: "gsm8k", sampleId: id });
        expect(reply.metadata).toMatchObject({ status: "completed", model: "oracle" });
        return scoreAnswer(reply.content, gold, "number").correct;
      }),
    );
    expect(solved).toEqual(samples.map(() => true));
  });

  it("end at the turn limit with a partial result", async () => {
    const limited = await serveRoles({
      roles: {
        planner: {
          role: createPlanner({ maxTurns: 2 }),
          model: createOracleModel(samples, { combineSteps: false }),
        },
      },
      roleTargets: served.urls,
    });
    const { reply, cards } = await createController({ roleTargets: limited.urls }).solve({
      task: samples[0]?.question ?? "",
      relay: "full",
    });
    await limited.close();
    expect(reply).toMatchObject({ content: "9", metadata: { status: "partial", error_type: "turn_limit" } });
    expect(cards.map(({ message_type, sender }) => `${sender} ${message_type}`)).toEqual([
      "controller task",
      "planner task",
      "solver result",
      "planner result",
    ]);
  });
});

describe("a planner that is stopped over A2A", () => {
  it("returns the partial result with the error type", async () => {
    const stop = new AbortController();
    const solver: Role = {
      name: "solver",
      description: "Solves one subtask and then never ends.",
      async performTask({ task, signal }) {
        if (task.metadata.turn === 1) return { result: "9", status: "success" };
        stop.abort();
        return await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        });
      },
    };
    const served = await serveRoles({ roles: { planner: { role: createPlanner(), model }, solver } });
    const controller = createController({ roleTargets: served.urls });
    const { reply, cards } = await controller.solve({
      task: samples[0]?.question ?? "",
      signal: stop.signal,
      relay: "full",
    });
    await served.close();
    expect(reply).toMatchObject({
      content: "9",
      metadata: { status: "partial", error_type: "cancelled", turn: 2 },
    });
    expect(
      cards.filter(({ message_type }) => message_type === "control").map(({ sender }) => sender),
    ).toEqual(["controller", "planner"]);
  });
});

describe("an answerer on a server", () => {
  it("receives problems directly from the controller", async () => {
    const protocol = createCardProtocol({ routes: BASELINE_ANSWERER_CARD_ROUTES });
    const solver = { role: createBaselineAnswerer({ style: "direct" }), model };
    const served = await serveRoles({ roles: { solver }, protocol });
    const controller = createController({ roleTargets: served.urls, protocol });
    const { reply } = await controller.solve({ task: samples[0]?.question ?? "", to: "solver" });
    await served.close();
    expect(reply).toMatchObject({ content: "Answer: 18", metadata: { status: "completed" } });
  });
});

describe("a card type of a program", () => {
  it("can be sent by a role, and starts work like a task", async () => {
    const verdict = defineCardType("verdict", {
      metadata: { score: rules.required(rules.nonNegativeInteger) },
    });
    const protocol = createCardProtocol({
      types: [verdict],
      roles: ["validator"],
      routes: [
        { from: "planner", to: "validator", types: ["verdict"] },
        { from: "validator", to: "planner", types: ["result"] },
      ],
    });
    const planner: Role = {
      name: "planner",
      description: "Asks for a confirmation",
      performTask: async (context) => {
        const request = { to: "validator", type: "verdict", task: "18 is right", metadata: { score: 7 } };
        const { content } = await context.delegate(request);
        return { result: content, status: "completed" };
      },
    };
    const validator: Role = {
      name: "validator",
      description: "Confirms verdicts",
      performTask: async ({ task: { message_type, content, metadata } }) => ({
        result: `${message_type} ${JSON.stringify(metadata["score"])}: ${content}`,
        status: "success",
      }),
    };
    const roles = await serveRoles({ protocol, roles: { planner, validator } });
    const controller = createController({ protocol, roleTargets: roles.urls });
    const { reply, cards } = await controller.solve({ task: "What is 9 * 2?", relay: "full" });
    await roles.close();
    expect(reply.content).toBe("verdict 7: 18 is right");
    expect(cards.map(({ message_type }) => message_type)).toEqual(["task", "verdict", "result", "result"]);
  });
});
