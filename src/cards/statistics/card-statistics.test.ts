import { describe, expect, it } from "vitest";
import { type MessageCard, type CardMetadata } from "../message-card/index.ts";
import {
  computeCardStatistics,
  computeSpecificationFormulaStatistics,
  summarizeRoleSpending,
  computeWilsonInterval,
} from "./index.ts";

const START_MS = Date.UTC(2025, 0, 15, 10, 30);

/** Parses `planner>solver task 820`: sender, recipient, type, and milliseconds since the start. */
function createCard(what: string, metadata: CardMetadata = {}): MessageCard {
  const [edge = "", message_type = "", ms = "0"] = what.split(" ");
  const [sender = "", recipient = ""] = edge.split(">");
  return {
    sender,
    recipient,
    message_type,
    content: "",
    metadata,
    timestamp: new Date(START_MS + Number(ms)).toISOString(),
  };
}

const createUsageMetadata = (input_tokens: number, output_tokens: number): CardMetadata => ({
  usage: { input_tokens, output_tokens, source: "reported" },
});

/** Two solver calls, as in the example of the specification. */
const JANET_CARDS = [
  createCard("controller>planner task 0", { sample_id: "a", card_id: "1" }),
  createCard("planner>solver task 820", {
    sample_id: "a",
    card_id: "2",
    in_reply_to: "1",
    turn: 1,
    duration_ms: 820,
    ...createUsageMetadata(182, 31),
  }),
  createCard("solver>planner result 1290", {
    sample_id: "a",
    in_reply_to: "2",
    turn: 1,
    status: "success",
    duration_ms: 470,
    ...createUsageMetadata(90, 8),
  }),
  createCard("planner>solver task 2010", {
    sample_id: "a",
    card_id: "4",
    in_reply_to: "1",
    turn: 2,
    duration_ms: 720,
    ...createUsageMetadata(230, 31),
  }),
  createCard("solver>planner result 2440", {
    sample_id: "a",
    in_reply_to: "4",
    turn: 2,
    status: "success",
    duration_ms: 430,
    ...createUsageMetadata(92, 9),
  }),
  createCard("planner>controller result 3050", {
    sample_id: "a",
    in_reply_to: "1",
    turn: 3,
    status: "completed",
    duration_ms: 610,
    ...createUsageMetadata(270, 14),
  }),
];

describe("the formulas of the specification", () => {
  it("have the results of the specification", () => {
    const figures = computeSpecificationFormulaStatistics(JANET_CARDS, 1);
    expect({ ...figures.card_types }).toEqual({ task: 3, result: 3 });
    expect(figures).toMatchObject({ avg_turns: 2, overall_completion_rate: 1, solver_success_rate: 2 / 3 });
    // The specification divides by 200 for any number of samples.
    expect(computeSpecificationFormulaStatistics(JANET_CARDS).avg_turns).toBe(0.01);
    expect(computeSpecificationFormulaStatistics([], 1).solver_success_rate).toBeNaN();
  });

  it("have a rate of 69.5 % for 66 successful solver results and 29 planner results", () => {
    const cards = [
      ...Array.from({ length: 66 }, () => createCard("solver>planner result", { status: "success" })),
      ...Array.from({ length: 29 }, () => createCard("planner>controller result", { status: "completed" })),
    ];
    expect(computeSpecificationFormulaStatistics(cards, 30).solver_success_rate).toBeCloseTo(0.695, 3);
    expect(computeCardStatistics(cards, ["a"]).solverSuccess).toEqual(computeWilsonInterval(66, 66));
  });
});

describe("the corrected figures", () => {
  it("are based on the samples of the run, including those without cards", () => {
    const figures = computeCardStatistics(
      [...JANET_CARDS, createCard("solver>planner error", { error_type: "timeout" })],
      ["a", "b"],
    );
    expect(figures).toMatchObject({
      cards: 7,
      samples: 2,
      solverTasks: { count: 2, sum: 2, mean: 1 },
      completion: computeWilsonInterval(1, 2),
    });
    expect({ ...figures.byType }).toEqual({ task: 3, result: 3, error: 1 });
    expect({ ...figures.errorsByType }).toEqual({ timeout: 1 });
  });

  it("count a sample that completes twice once, and do not count a control card as a turn", () => {
    const again = createCard("planner>controller result", { sample_id: "a", status: "completed" });
    const figures = computeCardStatistics(
      [...JANET_CARDS, again, createCard("planner>solver control", { sample_id: "a" })],
      ["a"],
    );
    expect(figures.completion?.value).toBe(1);
    expect(figures.solverTasks?.sum).toBe(2);
  });

  it("count types with the names of object members", () => {
    expect({
      ...computeCardStatistics([createCard("a>b constructor"), createCard("a>b __proto__")], ["a"]).byType,
    }).toMatchObject({
      constructor: 1,
    });
  });
});

describe("spending", () => {
  it("is grouped by role and turn, sorted by time", () => {
    const spending = summarizeRoleSpending(JANET_CARDS);
    expect(spending.map(({ role, turn, ms }) => [role, turn, ms])).toEqual([
      ["planner", 1, 820],
      ["planner", 2, 720],
      ["planner", 3, 610],
      ["solver", 1, 470],
      ["solver", 2, 430],
      ["controller", undefined, 0],
    ]);
    expect(spending[0]).toMatchObject({
      cards: 1,
      input: 182,
      output: 31,
      cached: 0,
      unknownCards: 0,
    });
    expect(spending[0]?.share).toBeCloseTo(820 / 3050, 12);
    expect(spending.at(-1)).toMatchObject({ cards: 1, input: 0, share: 0 });
  });

  it("marks sums without the tokens of some cards", () => {
    const cards = [
      createCard("solver>planner result", { turn: 1, ...createUsageMetadata(10, 2) }),
      createCard("solver>planner result", {
        turn: 1,
        usage: { input_tokens: 5, output_tokens: 1, cached_input_tokens: 4, source: "estimated" },
      }),
      createCard("solver>planner result", {
        turn: 1,
        usage: { input_tokens: 0, output_tokens: 0, source: "none" },
      }),
    ];
    expect(summarizeRoleSpending(cards)).toMatchObject([
      { cards: 3, input: 15, output: 3, cached: 4, unknownCards: 1 },
    ]);
  });
});
