import { describe, expect, expectTypeOf, it } from "vitest";
import { createGsm8kExampleCards, createCardProtocolWithNumberedIds } from "./message-card.fixture.ts";
import {
  A2ACardProtocol,
  CONTROLLER,
  createCardProtocol,
  defineCardType,
  PLANNER,
  type ResultCard,
  rules,
  SOLVER,
  type TaskCard,
} from "./index.ts";

const ends = { from: CONTROLLER, to: PLANNER } as const;

describe("the cards of the specification", () => {
  it("are created by the factories of the specification", () => {
    const before = Date.now();
    const task = A2ACardProtocol.createTaskCard({
      from: A2ACardProtocol.CONTROLLER,
      to: A2ACardProtocol.PLANNER,
      task: "Solve this problem",
      context: { dataset: "gsm8k" },
    });
    expect(task).toMatchObject({
      sender: "controller",
      recipient: "planner",
      message_type: "task",
      content: "Solve this problem",
      metadata: { context: { dataset: "gsm8k" }, card_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(Date.parse(task.timestamp)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(task.timestamp)).toBeLessThanOrEqual(Date.now());
  });

  it("have the text in content and everything else in metadata", () => {
    const protocol = createCardProtocolWithNumberedIds();
    const metadata = { run_id: "r" };
    expect(
      protocol.createResultCard({ from: SOLVER, to: PLANNER, result: "42", metadata: { tokens: 150 } }),
    ).toEqual({
      sender: "solver",
      recipient: "planner",
      message_type: "result",
      content: "42",
      metadata: { card_id: "c1", tokens: 150, status: "success" },
      timestamp: "2025-01-15T10:30:01.000Z",
    });
    const options = ["방법A", "방법B", "방법C"];
    expect(
      protocol.createQueryCard({
        from: PLANNER,
        to: SOLVER,
        query: "어떤 방법을 사용할까요?",
        options,
        metadata,
      }),
    ).toMatchObject({
      message_type: "query",
      content: "어떤 방법을 사용할까요?",
      metadata: { card_id: "c2", run_id: "r", options },
    });
    const parameters = { reason: "timeout" };
    expect(protocol.createControlCard({ ...ends, action: "stop", parameters })).toMatchObject({
      message_type: "control",
      content: "stop",
      metadata: { parameters },
    });
    expect(
      protocol.createErrorCard({ from: SOLVER, to: PLANNER, error: "no answer", errorType: "timeout" }),
    ).toMatchObject({ message_type: "error", content: "no answer", metadata: { error_type: "timeout" } });
  });

  it("have the ID that was passed", () => {
    expect(
      createCardProtocolWithNumberedIds().createTaskCard({ ...ends, task: "", metadata: { card_id: "mine" } })
        .metadata.card_id,
    ).toBe("mine");
  });

  it("are parsed by the protocol with their own types", () => {
    const protocol = createCardProtocolWithNumberedIds();
    for (const card of createGsm8kExampleCards(protocol)) {
      const read = protocol.parse(card);
      expect(read).toEqual(card);
      expect(protocol.fromJson(JSON.stringify(card))).toEqual(card);
      if (read.message_type === "result") expectTypeOf(read).toEqualTypeOf<ResultCard>();
      if (read.message_type === "task") expectTypeOf(read).toEqualTypeOf<TaskCard>();
    }
  });
});

describe("a protocol rejects", () => {
  const protocol = createCardProtocolWithNumberedIds();
  const task = protocol.createTaskCard({ ...ends, task: "Solve" });
  const result = protocol.createResultCard({ from: SOLVER, to: PLANNER, result: "9" });
  const complaints = (json: unknown): string[] =>
    protocol.validate(json).map(({ field, description }) => `${field} ${description}`);

  it("none of its own cards", () => {
    expect(createGsm8kExampleCards(protocol).flatMap((card) => protocol.validate(card))).toEqual([]);
  });

  it("an unknown role", () => {
    expect(complaints({ ...task, recipient: "solver_agent" })).toEqual([
      "recipient solver_agent is not a role; the roles are controller, planner, solver",
    ]);
    // @ts-expect-error and the compiler does, too
    expect(() => protocol.createTaskCard({ from: "controller", to: "solver_agent", task: "" })).toThrow(
      "solver_agent is not a role",
    );
  });

  it("an unknown type", () => {
    expect(complaints({ ...task, message_type: "haiku" })).toEqual([
      "message_type haiku is not a card type; the types are task, result, query, control, error",
    ]);
  });

  it("a card on an unknown route", () => {
    expect(complaints({ ...task, sender: "solver" })).toEqual([
      expect.stringContaining("solver must not send task to planner (allowed: result, query, error)"),
    ]);
    expect(complaints({ ...task, recipient: "solver" })).toEqual([
      expect.stringContaining("(allowed: nothing); add a route"),
    ]);
  });

  it("invalid metadata of a type", () => {
    expect(complaints({ ...result, metadata: null })).toEqual(["metadata.status is required"]);
    expect(complaints({ ...result, metadata: { status: "fine", selected: [1] } })).toEqual([
      `metadata.status must be one of success, completed, error, partial, not "fine"`,
      "metadata.selected[0] must be a string, not 1",
    ]);
    expect(complaints({ ...task, metadata: { context: "gsm8k", forced: 1 } })).toEqual([
      `metadata.context must be an object, not "gsm8k"`,
      "metadata.forced must be true or false, not 1",
    ]);
    expect(complaints({ ...result, message_type: "error", metadata: { retryable: "no" } })).toEqual([
      "metadata.error_type is required",
      `metadata.retryable must be true or false, not "no"`,
    ]);
  });

  it("data that cannot be sent", () => {
    expect(() => protocol.createTaskCard({ ...ends, task: "\ud83d" })).toThrow(
      "content: contains half a character",
    );
    expect(() =>
      protocol.createErrorCard({ from: SOLVER, to: PLANNER, error: "", errorType: "a b" }),
    ).toThrow("metadata.error_type: must be 1 to 128");
  });
});

describe("a protocol with additional types and roles", () => {
  const VALIDATOR = "validator";
  const REVIEWER = "reviewer";
  const verdict = defineCardType("verdict", {
    metadata: { approved: rules.required(rules.boolean), reasons: rules.list(rules.string) },
    symbol: "✓ [VERDICT]",
    isTerminal: true,
  });
  const protocol = createCardProtocol({
    types: [verdict],
    roles: [VALIDATOR, REVIEWER],
    routes: [
      { from: PLANNER, to: VALIDATOR, types: ["task"] },
      { from: VALIDATOR, to: PLANNER, types: ["verdict", "error"] },
      { from: REVIEWER, to: CONTROLLER, types: ["verdict"] },
    ],
  });

  it("creates and parses their cards, and the compiler knows their metadata", () => {
    protocol.createTaskCard({ from: PLANNER, to: VALIDATOR, task: "Is 18 right?" });
    const card = protocol.createCard("verdict", {
      from: VALIDATOR,
      to: PLANNER,
      content: "It is",
      metadata: { approved: true, reasons: ["16 - 3 - 4 = 9"] },
    });
    expectTypeOf(card.metadata.approved).toEqualTypeOf<boolean>();
    const read = protocol.parse(card);
    expect(read).toEqual(card);
    if (read.message_type === "verdict") expectTypeOf(read.metadata.reasons).toExtend<string[] | undefined>();
  });

  it("rejects cards that violate their rules", () => {
    expect(() =>
      protocol.createCard("verdict", {
        from: REVIEWER,
        to: CONTROLLER,
        content: "",
        // @ts-expect-error a verdict is approved or not
        metadata: { approved: "yes" },
      }),
    ).toThrow("metadata.approved: must be true or false");
    expect(() => protocol.createTaskCard({ from: REVIEWER, to: PLANNER, task: "" })).toThrow(
      "reviewer must not send task to planner",
    );
    createCardProtocol({
      // @ts-expect-error there is no such type
      routes: [{ from: "planner", to: "solver", types: ["poem"] }],
    });
  });

  it("does not change the three core roles", () => {
    expect(protocol.roles).toEqual(["controller", "planner", "solver", "validator", "reviewer"]);
    expect(A2ACardProtocol.roles).toEqual(["controller", "planner", "solver"]);
  });

  it("rejects duplicate types", () => {
    expect(() => createCardProtocol({ types: [defineCardType("task", { metadata: {} })] })).toThrow(
      "The card type task is defined twice",
    );
  });
});
