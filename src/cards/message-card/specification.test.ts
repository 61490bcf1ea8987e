import { describe, expect, it } from "vitest";
import { A2ACardProtocol, CONTROLLER, createCardProtocol, PLANNER, SOLVER } from "./index.ts";

/** Examples of the card specification, unchanged. Their `{...}` stands for an empty context. */
const EXAMPLES = [
  {
    sender: "controller",
    recipient: "planner",
    message_type: "task",
    content: "What is 25 * 17?",
    metadata: { dataset: "gsm8k", context: {} },
    timestamp: "2025-01-15T10:30:00",
  },
  {
    sender: "solver",
    recipient: "planner",
    message_type: "result",
    content: "425",
    metadata: { status: "success", turn: 1, tokens: 120 },
    timestamp: "2025-01-15T10:30:15",
  },
  {
    sender: "planner",
    recipient: "solver",
    message_type: "query",
    content: "어떤 방법을 사용할까요?",
    metadata: { options: ["방법A", "방법B", "방법C"] },
    timestamp: "2025-01-15T10:30:10",
  },
  {
    sender: "controller",
    recipient: "planner",
    message_type: "control",
    content: "stop",
    metadata: { parameters: { reason: "timeout" } },
    timestamp: "2025-01-15T10:35:00",
  },
  {
    sender: "solver",
    recipient: "planner",
    message_type: "error",
    content: "no answer",
    metadata: { error_type: "timeout" },
    timestamp: "2025-01-15T10:35:00",
  },
];

describe("the card specification", () => {
  it.each(EXAMPLES)("has this $message_type card, which is parsed unchanged", (example) => {
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
        EXAMPLES.filter((card) => protocol.validate({ ...card, sender, recipient }).length === 0).map(
          ({ message_type }) => `${sender} → ${recipient}: ${message_type}`,
        ),
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
