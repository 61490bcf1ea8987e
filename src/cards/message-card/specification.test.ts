import { describe, expect, it } from "vitest";
import {
  A2ACardProtocol,
  type CardProtocol,
  type CardType,
  CONTROLLER,
  createCardProtocol,
  defineCardType,
  PLANNER,
  SOLVER,
} from "./index.ts";
import { SPECIFICATION_EXAMPLES } from "./specification-examples.fixture.ts";

describe("the card specification", () => {
  it.each(SPECIFICATION_EXAMPLES)("has this $message_type card, which is parsed unchanged", (example) => {
    expect(A2ACardProtocol.parse(example)).toEqual(example);
    expect(A2ACardProtocol.fromJson(JSON.stringify(example))).toEqual(example);
  });

  it.each(["success", "completed", "error", "partial"] as const)("knows results that are %s", (status) => {
    const card = A2ACardProtocol.createResultCard({ from: SOLVER, to: PLANNER, result: "42", status });
    expect(A2ACardProtocol.parse(card).metadata).toMatchObject({ status });
  });

  it("has exactly these routes between its roles", () => {
    const protocol = createCardProtocol();
    const { roles } = protocol;
    const ways = roles.flatMap((sender) =>
      roles.flatMap((recipient) =>
        SPECIFICATION_EXAMPLES.filter(
          (card) => protocol.validate({ ...card, sender, recipient }).length === 0,
        ).map(({ message_type }) => `${sender} → ${recipient}: ${message_type}`),
      ),
    );
    // Routes of its role table, of results that reply to queries, and of its examples, which send a query to
    // the solver.
    expect(ways).toEqual([
      `${CONTROLLER} → ${PLANNER}: task`,
      `${CONTROLLER} → ${PLANNER}: result`,
      `${CONTROLLER} → ${PLANNER}: control`,
      `${PLANNER} → ${CONTROLLER}: result`,
      `${PLANNER} → ${CONTROLLER}: query`,
      `${PLANNER} → ${CONTROLLER}: error`,
      `${PLANNER} → ${SOLVER}: task`,
      `${PLANNER} → ${SOLVER}: result`,
      `${PLANNER} → ${SOLVER}: query`,
      `${PLANNER} → ${SOLVER}: control`,
      `${SOLVER} → ${PLANNER}: result`,
      `${SOLVER} → ${PLANNER}: query`,
      `${SOLVER} → ${PLANNER}: error`,
    ]);
  });
});

describe("a subclass of A2ACardProtocol", () => {
  class ExtendedA2ACardProtocol extends A2ACardProtocol {
    static VALIDATOR = "validator";
    static REVIEWER = "reviewer";
  }

  it("adds the roles of the specification's example", () => {
    expect(ExtendedA2ACardProtocol.roles).toEqual([
      "controller",
      "planner",
      "solver",
      "validator",
      "reviewer",
    ]);
    const card = ExtendedA2ACardProtocol.createTaskCard({
      from: ExtendedA2ACardProtocol.PLANNER,
      to: ExtendedA2ACardProtocol.VALIDATOR,
      task: "Is 18 right?",
    });
    expect(card).toMatchObject({ sender: "planner", recipient: "validator", message_type: "task" });
    expect(ExtendedA2ACardProtocol.parse(card)).toEqual(card);
    expect(ExtendedA2ACardProtocol.fromJson(JSON.stringify(card))).toEqual(card);
  });

  it("keeps the core routes, and leaves the core protocol as it is", () => {
    expect(() => ExtendedA2ACardProtocol.createTaskCard({ from: "solver", to: "planner", task: "" })).toThrow(
      "solver must not send task to planner",
    );
    expect(A2ACardProtocol.roles).toEqual(["controller", "planner", "solver"]);
    expect(() =>
      // @ts-expect-error the core protocol has no validator
      A2ACardProtocol.createTaskCard({ from: "planner", to: "validator", task: "" }),
    ).toThrow("validator is not a role");
  });

  it("can be extended again, with card types and with routes", () => {
    class ReviewProtocol extends ExtendedA2ACardProtocol {
      static AUDITOR = "auditor";
      static override readonly addedTypes = [defineCardType("verdict", { metadata: {} })];
      static override readonly addedRoutes = [{ from: "auditor", to: "planner", types: ["verdict"] }];
    }
    expect(ReviewProtocol.roles).toContain("reviewer");
    const verdict = ReviewProtocol.createCard("verdict", {
      from: ReviewProtocol.AUDITOR,
      to: ReviewProtocol.PLANNER,
      content: "yes",
      metadata: {},
    });
    expect(ReviewProtocol.validate(verdict)).toEqual([]);
    expect(ReviewProtocol.validate({ ...verdict, sender: "reviewer" })).toHaveLength(1);
  });

  it("is a card protocol for every function that accepts one", () => {
    const protocol: CardProtocol<CardType, string> = ExtendedA2ACardProtocol;
    expect(protocol.types.map(({ name }) => name)).toEqual(["task", "result", "query", "control", "error"]);
  });

  it("has methods that work as callbacks", () => {
    // oxlint-disable-next-line unbound-method -- A callback loses its class.
    expect(SPECIFICATION_EXAMPLES.map(A2ACardProtocol.parse)).toEqual(SPECIFICATION_EXAMPLES);
  });
});
