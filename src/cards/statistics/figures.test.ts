import { describe, expect, it } from "vitest";
import type { Card, CardMetadata } from "../card/index.ts";
import { timeOf } from "../card/index.ts";
import { figuresOf, latencyOf, seedEfficiency, seedFigures, spendingOf, wilson } from "./index.ts";

const START = Date.UTC(2025, 0, 15, 10, 30);

/** `planner>solver task 820`: from, to, type, and the milliseconds since the beginning. */
function card(what: string, metadata: CardMetadata = {}): Card {
  const [edge = "", message_type = "", ms = "0"] = what.split(" ");
  const [sender = "", recipient = ""] = edge.split(">");
  return {
    sender,
    recipient,
    message_type,
    content: "",
    metadata,
    timestamp: new Date(START + Number(ms)).toISOString(),
  };
}

const usage = (input_tokens: number, output_tokens: number): CardMetadata => ({
  usage: { input_tokens, output_tokens, source: "reported" },
});

/** Two solver calls, as in the seed's Janet. */
const JANET = [
  card("controller>planner task 0", { sample_id: "a", card_id: "1" }),
  card("planner>solver task 820", {
    sample_id: "a",
    card_id: "2",
    in_reply_to: "1",
    turn: 1,
    duration_ms: 820,
    ...usage(182, 31),
  }),
  card("solver>planner result 1290", {
    sample_id: "a",
    in_reply_to: "2",
    turn: 1,
    status: "success",
    duration_ms: 470,
    ...usage(90, 8),
  }),
  card("planner>solver task 2010", {
    sample_id: "a",
    card_id: "4",
    in_reply_to: "1",
    turn: 2,
    duration_ms: 720,
    ...usage(230, 31),
  }),
  card("solver>planner result 2440", {
    sample_id: "a",
    in_reply_to: "4",
    turn: 2,
    status: "success",
    duration_ms: 430,
    ...usage(92, 9),
  }),
  card("planner>controller result 3050", {
    sample_id: "a",
    in_reply_to: "1",
    turn: 3,
    status: "completed",
    duration_ms: 610,
    ...usage(270, 14),
  }),
];

describe("the seed's formulas", () => {
  it("count what the seed counts", () => {
    const figures = seedFigures(JANET, 1);
    expect({ ...figures.card_types }).toEqual({ task: 3, result: 3 });
    expect(figures).toMatchObject({ avg_turns: 2, overall_completion_rate: 1, solver_success_rate: 2 / 3 });
    // The seed divides by 200, whatever there is.
    expect(seedFigures(JANET).avg_turns).toBe(0.01);
    expect(seedFigures([], 1).solver_success_rate).toBeNaN();
  });

  it("say 69.5 % of 66 solver results that all succeeded, with 29 of the planner beside them", () => {
    const cards = [
      ...Array.from({ length: 66 }, () => card("solver>planner result", { status: "success" })),
      ...Array.from({ length: 29 }, () => card("planner>controller result", { status: "completed" })),
    ];
    expect(seedFigures(cards, 30).solver_success_rate).toBeCloseTo(0.695, 3);
    expect(figuresOf(cards, ["a"]).solverSuccess).toEqual(wilson(66, 66));
  });

  it("have an efficiency", () => {
    expect(seedEfficiency(0.98, 310)).toBeCloseTo(3.161, 3);
  });
});

describe("the corrected figures", () => {
  it("go by the samples of the run, also those that left no card", () => {
    const figures = figuresOf(
      [...JANET, card("solver>planner error", { error_type: "timeout" })],
      ["a", "b"],
    );
    expect(figures).toMatchObject({
      cards: 7,
      samples: 2,
      solverTasks: { count: 2, sum: 2, mean: 1 },
      completion: wilson(1, 2),
    });
    expect({ ...figures.byType }).toEqual({ task: 3, result: 3, error: 1 });
    expect({ ...figures.byEdge }).toEqual({
      "controller → planner": 1,
      "planner → solver": 2,
      "solver → planner": 3,
      "planner → controller": 1,
    });
    expect({ ...figures.errorsByType }).toEqual({ timeout: 1 });
  });

  it("count a sample that completes twice once, and a control that is no task not as a turn", () => {
    const again = card("planner>controller result", { sample_id: "a", status: "completed" });
    const figures = figuresOf([...JANET, again, card("planner>solver control", { sample_id: "a" })], ["a"]);
    expect(figures.completion?.value).toBe(1);
    expect(figures.solverTasks?.sum).toBe(2);
  });

  it("count types that are called as what every object has", () => {
    expect({ ...figuresOf([card("a>b constructor"), card("a>b __proto__")], ["a"]).byType }).toMatchObject({
      constructor: 1,
    });
  });
});

describe("what was spent", () => {
  it("is told by role and turn, where most time went first", () => {
    const spending = spendingOf(JANET);
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
      estimated: 0,
      silent: 0,
    });
    expect(spending[0]?.share).toBeCloseTo(820 / 3050, 12);
    expect(spending.at(-1)).toMatchObject({ cards: 1, input: 0, silent: 1, share: 0 });
  });

  it("tells estimates and silence apart from what was reported", () => {
    const cards = [
      card("solver>planner result", { turn: 1, ...usage(10, 2) }),
      card("solver>planner result", {
        turn: 1,
        usage: { input_tokens: 5, output_tokens: 1, cached_input_tokens: 4, source: "estimated" },
      }),
      card("solver>planner result", {
        turn: 1,
        usage: { input_tokens: 0, output_tokens: 0, source: "none" },
      }),
    ];
    expect(spendingOf(cards)).toMatchObject([
      { cards: 3, input: 15, output: 3, cached: 4, estimated: 6, silent: 1 },
    ]);
  });
});

describe("latency", () => {
  it("is how long each role waited for the replies of another", () => {
    expect(latencyOf(JANET, timeOf)).toEqual([
      { edge: "planner → solver", replies: 2, p50: 450, p95: 468, inverted: 0 },
      { edge: "controller → planner", replies: 1, p50: 3050, p95: 3050, inverted: 0 },
    ]);
  });

  it("keeps clocks that disagree out of the percentiles, and says so", () => {
    const cards = [
      card("planner>solver task 500", { card_id: "1" }),
      card("solver>planner result 400", { in_reply_to: "1" }),
      card("solver>planner error 700", { in_reply_to: "1" }),
      card("solver>planner result 900", { in_reply_to: "unknown" }),
    ];
    expect(latencyOf(cards, timeOf)).toEqual([
      { edge: "planner → solver", replies: 2, p50: 200, p95: 200, inverted: 1 },
    ]);
  });
});
