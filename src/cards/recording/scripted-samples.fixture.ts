import { type CardMetadata, CONTROLLER, PLANNER, SOLVER } from "../message-card/index.ts";

/** A card of a script and the behavior of its sender. */
export interface ScriptedCard {
  readonly from: string;
  readonly to: string;
  /** Card type. Default: `task`. */
  readonly type?: string;
  readonly content: string;
  /**
   * Name by which other steps refer to this step. The `card_id` is `<sample>.<name>`. Default: the position,
   * starting at 1.
   */
  readonly name?: string;
  /** Name of the step that this card replies to or results from. */
  readonly inReplyTo?: string;
  /** Names of the steps that must arrive before the sender starts. Default: the previous step. */
  readonly waitsFor?: readonly string[];
  /** Time in milliseconds that the sender works on the card after that. Default: 0. */
  readonly workMs?: number;
  /** Transport time in milliseconds. Default: 1. */
  readonly travelMs?: number;
  /**
   * Tokens of the model call for the card: input, output, and cached input. Without tokens, there is no call.
   */
  readonly tokens?: readonly [input: number, output: number, cached?: number];
  readonly metadata?: CardMetadata;
}

/** A problem and the cards that are exchanged about it. */
export interface ScriptedSample {
  readonly id: string;
  readonly steps: readonly ScriptedCard[];
  readonly gold: string;
  /** Predicted answer. Default: the gold answer. */
  readonly predicted?: string;
  readonly turns?: number;
  /** Start in milliseconds after the start of the run. Default: the end of the previous problem. */
  readonly startMs?: number;
  /** Whether the problem is scored. Default: `true`. */
  readonly isScored?: boolean;
  readonly measures?: Readonly<Record<string, number>>;
}

type ScriptedCardOverrides = Partial<ScriptedCard>;
type ScriptedWorkTimeAndTokens = readonly [workMs: number, input: number, output: number, cached?: number];

function toScriptedWorkTimeAndTokenFields(
  cost: ScriptedWorkTimeAndTokens | undefined,
): ScriptedCardOverrides {
  if (!cost) return {};
  const [workMs, ...tokens] = cost;
  return { workMs, tokens };
}

/** The task of the controller, with the name `q`. */
function createScriptedControllerTask(content: string, metadata: CardMetadata = {}): ScriptedCard {
  return { from: CONTROLLER, to: PLANNER, name: "q", content, metadata };
}

/** A task of the planner for the solver. */
function createScriptedSolverTask(
  name: string,
  turn: number,
  content: string,
  cost?: ScriptedWorkTimeAndTokens,
  { metadata, ...more }: ScriptedCardOverrides = {},
): ScriptedCard {
  const task = { from: PLANNER, to: SOLVER, name, inReplyTo: "q", content };
  return { ...task, ...toScriptedWorkTimeAndTokenFields(cost), ...more, metadata: { turn, ...metadata } };
}

/** The result of a task of the planner. */
function createScriptedSolverResult(
  inReplyTo: string,
  turn: number,
  content: string,
  cost: ScriptedWorkTimeAndTokens,
  { metadata, ...more }: ScriptedCardOverrides = {},
): ScriptedCard {
  const result = { from: SOLVER, to: PLANNER, type: "result", inReplyTo, content };
  return {
    ...result,
    ...toScriptedWorkTimeAndTokenFields(cost),
    ...more,
    metadata: { turn, status: "success", ...metadata },
  };
}

/** The result of the problem. */
function createScriptedFinalResult(
  turn: number,
  content: string,
  cost?: ScriptedWorkTimeAndTokens,
  { metadata, ...more }: ScriptedCardOverrides = {},
): ScriptedCard {
  const result = { from: PLANNER, to: CONTROLLER, type: "result", inReplyTo: "q", content };
  return {
    ...result,
    ...toScriptedWorkTimeAndTokenFields(cost),
    ...more,
    metadata: { turn, status: "completed", ...metadata },
  };
}

function createScriptedStopCard(
  from: string,
  to: string,
  name: string,
  more: ScriptedCardOverrides,
): ScriptedCard {
  const metadata = { parameters: { reason: "timeout" } };
  return { from, to, type: "control", name, content: "stop", metadata, ...more };
}

/** The GSM8K problem of the specification: two consecutive solver tasks, the first one forced. */
export const SCRIPTED_SEQUENTIAL_TASKS_SAMPLE: ScriptedSample = {
  id: "gsm8k_0",
  gold: "18",
  turns: 3,
  steps: [
    createScriptedControllerTask("Janet's ducks lay 16 eggs per day...", { dataset: "gsm8k" }),
    createScriptedSolverTask("s1", 1, "Calculate 16 eggs - 3 eaten - 4 muffins", [820, 182, 31], {
      metadata: { forced: true },
    }),
    createScriptedSolverResult("s1", 1, "9", [470, 90, 8], { name: "r1" }),
    createScriptedSolverTask("s2", 2, "Calculate daily income: 9 eggs * $2", [720, 230, 31, 180]),
    createScriptedSolverResult("s2", 2, "$18", [430, 92, 9], { name: "r2" }),
    createScriptedFinalResult(3, "18", [610, 270, 14, 230]),
  ],
};

/** The HotpotQA problem of the specification. */
export const SCRIPTED_HOTPOTQA_SAMPLE: ScriptedSample = {
  id: "hotpotqa_0",
  gold: "Westminster, London, England",
  turns: 3,
  measures: { f1: 1, joint_f1: 1 },
  steps: [
    createScriptedControllerTask("What is the birthplace of the director of Inception?", {
      dataset: "hotpotqa",
    }),
    createScriptedSolverTask("s1", 1, "Find who directed the movie Inception", [300, 150, 20]),
    createScriptedSolverResult("s1", 1, "Christopher Nolan", [200, 400, 6]),
    createScriptedSolverTask("s2", 2, "Find Christopher Nolan's birthplace", [350, 190, 22]),
    createScriptedSolverResult("s2", 2, "Westminster, London, England", [250, 410, 9]),
    createScriptedFinalResult(3, "Westminster, London, England", [280, 230, 16]),
  ],
};

/** Three parallel subtasks of one planner call. The second takes longest, because its solver sends a query. */
export const SCRIPTED_PARALLEL_TASKS_SAMPLE: ScriptedSample = {
  id: "gsm8k_1",
  gold: "3",
  turns: 2,
  steps: [
    createScriptedControllerTask("A robe takes 2 bolts of blue fiber and half that much white fiber..."),
    createScriptedSolverTask("s1", 1, "How many bolts of blue?", [500, 200, 60]),
    createScriptedSolverTask("s2", 1, "How many bolts of white?", undefined, {
      waitsFor: ["q"],
      workMs: 500,
    }),
    createScriptedSolverTask("s3", 1, "Is anything lost in cutting?", undefined, {
      waitsFor: ["q"],
      workMs: 500,
    }),
    createScriptedSolverResult("s1", 1, "2", [100, 60, 4], { name: "r1", waitsFor: ["s1"] }),
    {
      from: SOLVER,
      to: PLANNER,
      type: "query",
      name: "ask",
      inReplyTo: "s2",
      content: "Half of how many?",
      waitsFor: ["s2"],
      workMs: 150,
      tokens: [70, 9],
      metadata: { turn: 1, options: ["2 bolts", "1 bolt"] },
    },
    createScriptedSolverResult("ask", 1, "2 bolts", [50, 80, 5], {
      from: PLANNER,
      to: SOLVER,
      name: "told",
      waitsFor: ["ask"],
      metadata: { selected: "2 bolts" },
    }),
    createScriptedSolverResult("s2", 1, "1", [300, 90, 3], { name: "r2", waitsFor: ["told"] }),
    createScriptedSolverResult("s3", 1, "Nothing", [200, 55, 2], {
      name: "r3",
      waitsFor: ["s3"],
      metadata: { status: "partial" },
    }),
    createScriptedFinalResult(2, "3", [400, 260, 12], { waitsFor: ["r1", "r2", "r3"] }),
  ],
};

/** The planner repeats a task and reaches the turn limit. It sends a notice and a partial result. */
export const SCRIPTED_TURN_LIMIT_SAMPLE: ScriptedSample = {
  id: "gsm8k_2",
  gold: "70000",
  predicted: "50000",
  turns: 2,
  steps: [
    createScriptedControllerTask("Josh decides to try flipping a house..."),
    createScriptedSolverTask("s1", 1, "What did he spend?", [300, 150, 20]),
    createScriptedSolverResult("s1", 1, "130000", [200, 60, 5]),
    createScriptedSolverTask("s2", 2, "What did he spend?", [300, 190, 20]),
    createScriptedSolverResult("s2", 2, "50000", [200, 60, 5], { name: "r2" }),
    {
      from: PLANNER,
      to: CONTROLLER,
      type: "error",
      content: "2 turns were not enough",
      metadata: { error_type: "turn_limit", failure_mode: "1.5" },
    },
    createScriptedFinalResult(2, "50000", undefined, {
      metadata: { status: "partial", error_type: "turn_limit" },
    }),
  ],
};

/** The solver exceeds the time limit. The controller stops it, and both tasks end with an error. */
export const SCRIPTED_TIMEOUT_SAMPLE: ScriptedSample = {
  id: "gsm8k_3",
  gold: "540",
  predicted: "",
  turns: 1,
  steps: [
    createScriptedControllerTask("James decides to run 3 sprints 3 times a week..."),
    createScriptedSolverTask("s1", 1, "How many sprints?", [200, 120, 18]),
    createScriptedStopCard(CONTROLLER, PLANNER, "stop", { waitsFor: ["s1"], workMs: 5_000 }),
    createScriptedStopCard(PLANNER, SOLVER, "stop2", { waitsFor: ["stop"] }),
    {
      from: SOLVER,
      to: PLANNER,
      type: "error",
      inReplyTo: "s1",
      content: "Stopped before there was an answer",
      tokens: [70, 0],
      metadata: { error_type: "cancelled", turn: 1 },
    },
    {
      from: PLANNER,
      to: CONTROLLER,
      type: "error",
      inReplyTo: "q",
      content: "No answer within 5 s",
      metadata: { error_type: "timeout", retryable: true },
    },
  ],
};

/** All GSM8K scripts of this file. */
export const SCRIPTED_GSM8K_SAMPLES: readonly ScriptedSample[] = [
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  SCRIPTED_TURN_LIMIT_SAMPLE,
  SCRIPTED_TIMEOUT_SAMPLE,
];

/**
 * Creates `count` problems like Janet's, with the IDs `gsm8k_0`, `gsm8k_1`, and so on. One in ten has the
 * wrong answer.
 */
export function createScriptedSamples(count: number): ScriptedSample[] {
  return Array.from({ length: count }, (_, index) => ({
    ...SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
    id: `gsm8k_${index}`,
    ...(index % 10 === 9 && { predicted: "17" }),
    // Eight problems run in parallel.
    startMs: Math.floor(index / 8) * 3_100,
  }));
}
