import {
  type MessageCard,
  type CardMetadata,
  type CardTokenUsage,
  CONTROLLER,
  PLANNER,
  SOLVER,
} from "../message-card/index.ts";
import {
  type ModelCallRecordInput,
  type CardRecordInput,
  createRecorder,
  decodeRecording,
  createMemorySink,
  type Recording,
  type RunRecordInput,
} from "./index.ts";

/** When the runs of this file begin. */
export const RUN_START_MS: number = Date.UTC(2026, 10, 21, 10, 30);

/** One card of a script, and what its sender does before it leaves. */
export interface ScriptedCard {
  readonly from: string;
  readonly to: string;
  /** Default: `task`. */
  readonly type?: string;
  readonly content: string;
  /** For other steps to refer to: a letter of your own. Its `card_id` is `<sample>.<name>`; without one, its place from 1. */
  readonly name?: string;
  /** The step that it replies to, or that it comes of. */
  readonly inReplyTo?: string;
  /** What its sender waits for: steps that have to arrive first. Default: the step before. */
  readonly waitsFor?: readonly string[];
  /** How long the sender works on it after that, in milliseconds. Default 0. */
  readonly workMs?: number;
  /** How long it is on its way. Default 1. */
  readonly travelMs?: number;
  /** Tokens of the model call that made it: input, output, and of the input, cached. None: no call. */
  readonly tokens?: readonly [input: number, output: number, cached?: number];
  readonly metadata?: CardMetadata;
}

/** One problem, and all that happens to it. */
export interface SampleScript {
  readonly id: string;
  readonly steps: readonly ScriptedCard[];
  readonly gold: string;
  /** Default: the gold. */
  readonly predicted?: string;
  readonly turns?: number;
  /** Milliseconds after the run's beginning. Default: when the problem before it has ended. */
  readonly startMs?: number;
  /** False: the run ended before it was scored. */
  readonly isScored?: boolean;
  readonly measures?: Readonly<Record<string, number>>;
}

const solverTask = { from: PLANNER, to: SOLVER, type: "task" } as const;
const solverResult = { from: SOLVER, to: PLANNER, type: "result", metadata: { status: "success" } } as const;
const finalResult = {
  from: PLANNER,
  to: CONTROLLER,
  type: "result",
  inReplyTo: "q",
  metadata: { status: "completed" },
} as const;
const initialTask = { from: CONTROLLER, to: PLANNER, name: "q" } as const;

/** The specification's problem of GSM8K: two calls in a row, the first one forced. */
export const JANET_SCRIPT: SampleScript = {
  id: "gsm8k_0",
  gold: "18",
  turns: 3,
  steps: [
    { ...initialTask, content: "Janet's ducks lay 16 eggs per day...", metadata: { dataset: "gsm8k" } },
    {
      ...solverTask,
      name: "s1",
      inReplyTo: "q",
      content: "Calculate 16 eggs - 3 eaten - 4 muffins",
      workMs: 820,
      tokens: [182, 31],
      metadata: { turn: 1, forced: true },
    },
    {
      ...solverResult,
      name: "r1",
      inReplyTo: "s1",
      content: "9",
      workMs: 470,
      tokens: [90, 8],
      metadata: { turn: 1, status: "success" },
    },
    {
      ...solverTask,
      name: "s2",
      inReplyTo: "q",
      content: "Calculate daily income: 9 eggs * $2",
      workMs: 720,
      tokens: [230, 31, 180],
      metadata: { turn: 2 },
    },
    {
      ...solverResult,
      name: "r2",
      inReplyTo: "s2",
      content: "$18",
      workMs: 430,
      tokens: [92, 9],
      metadata: { turn: 2, status: "success" },
    },
    {
      ...finalResult,
      content: "18",
      workMs: 610,
      tokens: [270, 14, 230],
      metadata: { turn: 3, status: "completed" },
    },
  ],
};

/** The specification's problem of HotpotQA. */
export const INCEPTION_SCRIPT: SampleScript = {
  id: "hotpotqa_0",
  gold: "Westminster, London, England",
  turns: 3,
  measures: { f1: 1, joint_f1: 1 },
  steps: [
    {
      ...initialTask,
      content: "What is the birthplace of the director of Inception?",
      metadata: { dataset: "hotpotqa" },
    },
    {
      ...solverTask,
      name: "s1",
      inReplyTo: "q",
      content: "Find who directed the movie Inception",
      workMs: 300,
      tokens: [150, 20],
      metadata: { turn: 1 },
    },
    {
      ...solverResult,
      inReplyTo: "s1",
      content: "Christopher Nolan",
      workMs: 200,
      tokens: [400, 6],
      metadata: { turn: 1, status: "success" },
    },
    {
      ...solverTask,
      name: "s2",
      inReplyTo: "q",
      content: "Find Christopher Nolan's birthplace",
      workMs: 350,
      tokens: [190, 22],
      metadata: { turn: 2 },
    },
    {
      ...solverResult,
      inReplyTo: "s2",
      content: "Westminster, London, England",
      workMs: 250,
      tokens: [410, 9],
      metadata: { turn: 2, status: "success" },
    },
    {
      ...finalResult,
      content: "Westminster, London, England",
      workMs: 280,
      tokens: [230, 16],
      metadata: { turn: 3, status: "completed" },
    },
  ],
};

/** Three subtasks of one planner's call at once; the second takes longest. One asks back. */
export const PARALLEL_SCRIPT: SampleScript = {
  id: "gsm8k_1",
  gold: "3",
  turns: 2,
  steps: [
    { ...initialTask, content: "A robe takes 2 bolts of blue fiber and half that much white fiber..." },
    {
      ...solverTask,
      name: "s1",
      inReplyTo: "q",
      content: "How many bolts of blue?",
      workMs: 500,
      tokens: [200, 60],
      metadata: { turn: 1 },
    },
    {
      ...solverTask,
      name: "s2",
      inReplyTo: "q",
      content: "How many bolts of white?",
      waitsFor: ["q"],
      workMs: 500,
      metadata: { turn: 1 },
    },
    {
      ...solverTask,
      name: "s3",
      inReplyTo: "q",
      content: "Is anything lost in cutting?",
      waitsFor: ["q"],
      workMs: 500,
      metadata: { turn: 1 },
    },
    {
      ...solverResult,
      name: "r1",
      inReplyTo: "s1",
      content: "2",
      waitsFor: ["s1"],
      workMs: 100,
      tokens: [60, 4],
      metadata: { turn: 1, status: "success" },
    },
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
    {
      from: PLANNER,
      to: SOLVER,
      type: "result",
      name: "told",
      inReplyTo: "ask",
      content: "2 bolts",
      waitsFor: ["ask"],
      workMs: 50,
      tokens: [80, 5],
      metadata: { turn: 1, status: "success", selected: "2 bolts" },
    },
    {
      ...solverResult,
      name: "r2",
      inReplyTo: "s2",
      content: "1",
      waitsFor: ["told"],
      workMs: 300,
      tokens: [90, 3],
      metadata: { turn: 1, status: "success" },
    },
    {
      ...solverResult,
      name: "r3",
      inReplyTo: "s3",
      content: "Nothing",
      waitsFor: ["s3"],
      workMs: 200,
      tokens: [55, 2],
      metadata: { turn: 1, status: "partial" },
    },
    {
      ...finalResult,
      content: "3",
      waitsFor: ["r1", "r2", "r3"],
      workMs: 400,
      tokens: [260, 12],
      metadata: { turn: 2, status: "completed" },
    },
  ],
};

/** Turns run out: the planner asks the same again, a notice says so, and what there is comes back as partial. */
export const TURN_LIMIT_SCRIPT: SampleScript = {
  id: "gsm8k_2",
  gold: "70000",
  predicted: "50000",
  turns: 2,
  steps: [
    { ...initialTask, content: "Josh decides to try flipping a house..." },
    {
      ...solverTask,
      name: "s1",
      inReplyTo: "q",
      content: "What did he spend?",
      workMs: 300,
      tokens: [150, 20],
      metadata: { turn: 1 },
    },
    {
      ...solverResult,
      inReplyTo: "s1",
      content: "130000",
      workMs: 200,
      tokens: [60, 5],
      metadata: { turn: 1, status: "success" },
    },
    {
      ...solverTask,
      name: "s2",
      inReplyTo: "q",
      content: "What did he spend?",
      workMs: 300,
      tokens: [190, 20],
      metadata: { turn: 2 },
    },
    {
      ...solverResult,
      name: "r2",
      inReplyTo: "s2",
      content: "50000",
      workMs: 200,
      tokens: [60, 5],
      metadata: { turn: 2, status: "success" },
    },
    {
      from: PLANNER,
      to: CONTROLLER,
      type: "error",
      content: "2 turns were not enough",
      metadata: { error_type: "turn_limit", failure_mode: "1.5" },
    },
    {
      ...finalResult,
      content: "50000",
      workMs: 0,
      metadata: { turn: 2, status: "partial", error_type: "turn_limit" },
    },
  ],
};

/** The solver is too slow: it is stopped, and both tasks end as errors. */
export const TIMEOUT_SCRIPT: SampleScript = {
  id: "gsm8k_3",
  gold: "540",
  predicted: "",
  turns: 1,
  steps: [
    { ...initialTask, content: "James decides to run 3 sprints 3 times a week..." },
    {
      ...solverTask,
      name: "s1",
      inReplyTo: "q",
      content: "How many sprints?",
      workMs: 200,
      tokens: [120, 18],
      metadata: { turn: 1 },
    },
    {
      from: CONTROLLER,
      to: PLANNER,
      type: "control",
      name: "stop",
      content: "stop",
      waitsFor: ["s1"],
      workMs: 5_000,
      metadata: { parameters: { reason: "timeout" } },
    },
    {
      from: PLANNER,
      to: SOLVER,
      type: "control",
      name: "stop2",
      content: "stop",
      waitsFor: ["stop"],
      metadata: { parameters: { reason: "timeout" } },
    },
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

/** All of the above that are of GSM8K. */
export const GSM8K_SCRIPTS: readonly SampleScript[] = [
  JANET_SCRIPT,
  PARALLEL_SCRIPT,
  TURN_LIMIT_SCRIPT,
  TIMEOUT_SCRIPT,
];

/** Problems like Janet's, as many as you like: `gsm8k_0` … One in ten has the wrong answer. */
export function createScripts(count: number): SampleScript[] {
  return Array.from({ length: count }, (_, index) => ({
    ...JANET_SCRIPT,
    id: `gsm8k_${index}`,
    ...(index % 10 === 9 && { predicted: "17" }),
    // Eight at a time.
    startMs: Math.floor(index / 8) * 3_100,
  }));
}

export interface ScriptedRunOptions extends Partial<RunRecordInput> {
  /** Where it ends: before the line of this number, from 0, or in the middle of it. Nothing but what was written. */
  readonly killAfterLine?: number;
  /** Leaves out what only these roles recorded. */
  readonly roles?: readonly string[];
}

/** A run of scripted problems, as a recorder of all three roles in one process would have it. */
export function createScriptedRecording(
  scripts: readonly SampleScript[] = GSM8K_SCRIPTS,
  options: ScriptedRunOptions = {},
): Recording {
  return decodeRecording(createScriptedRecordText(scripts, options), "run.cards.jsonl");
}

/** The text of the file of such a run. */
export function createScriptedRecordText(
  scripts: readonly SampleScript[] = GSM8K_SCRIPTS,
  options: ScriptedRunOptions = {},
): string {
  const { killAfterLine: killedAfter, roles, ...seen } = options;
  const clock = { ms: 0 };
  const sink = createMemorySink();
  const recorder = createRecorder(sink, { now: () => RUN_START_MS + clock.ms, monotonicNow: () => clock.ms });
  const run: RunRecordInput = {
    run_id: "run",
    dataset: "gsm8k",
    split: "test",
    sample_ids: scripts.map(({ id }) => id),
    method: "a2a",
    mode: "chained",
    context: "none",
    model: { planner: "scripted", solver: "scripted" },
    limits: { max_turns: 3 },
    evidence: "simulated",
    rule: "gsm8k/strict",
    code: "0.1.0",
    seed: 1,
    ...seen,
  };
  recorder.startRun(run);
  let starts = 0;
  const events = scripts.flatMap((script) => {
    const { happenings, ends } = playScript(script, script.startMs ?? starts, run.run_id);
    starts = ends;
    return happenings;
  });
  for (const event of events.toSorted((a, b) => a.ms - b.ms)) {
    clock.ms = event.ms;
    if ("card" in event && (!roles || roles.includes(event.card.at_role))) recorder.recordCard(event.card);
    if ("call" in event && (!roles || roles.includes(event.call.role))) recorder.recordModelCall(event.call);
    if ("script" in event && event.script.isScored !== false) {
      const { id, gold, predicted = gold, turns, measures } = event.script;
      recorder.recordScore({
        run_id: run.run_id,
        sample_id: id,
        ...(predicted !== "" && { predicted }),
        gold,
        correct: predicted === gold,
        rule: run.rule,
        ...(turns !== undefined && { turns }),
        ...(measures && { measures }),
      });
    }
  }
  if (killedAfter === undefined) recorder.endRun("completed");
  return killedAfter === undefined ? sink.text() : truncateRecordText(sink.text(), killedAfter);
}

/** As many lines as that, and the half of one more. */
function truncateRecordText(text: string, lines: number): string {
  const all = text.split("\n");
  return [...all.slice(0, lines), all[lines]?.slice(0, 40) ?? ""].join("\n");
}

type ScriptEvent = { readonly ms: number } & (
  | { readonly card: CardRecordInput }
  | { readonly call: ModelCallRecordInput }
  | { readonly script: SampleScript }
);

function playScript(
  script: SampleScript,
  starts: number,
  run_id: string,
): { happenings: ScriptEvent[]; ends: number } {
  const arrivals = new Map<string, number>();
  const happenings: ScriptEvent[] = [];
  let before = starts;
  let ends = starts;
  for (const [index, step] of script.steps.entries()) {
    const { from, to, type = "task", workMs: works = 0, travelMs: travels = 1, tokens, content } = step;
    const name = step.name ?? String(index + 1);
    const ready = step.waitsFor?.map((other) => arrivals.get(other) ?? starts) ?? [before];
    const sent = Math.max(starts, ...ready) + works;
    const card_id = `${script.id}.${name}`;
    const usage: CardTokenUsage | undefined = tokens && {
      input_tokens: tokens[0],
      output_tokens: tokens[1],
      ...(tokens[2] !== undefined && { cached_input_tokens: tokens[2] }),
      source: "reported",
    };
    const card: MessageCard = {
      sender: from,
      recipient: to,
      message_type: type,
      content,
      metadata: {
        card_id,
        run_id,
        sample_id: script.id,
        ...(step.inReplyTo !== undefined && { in_reply_to: `${script.id}.${step.inReplyTo}` }),
        ...step.metadata,
        // Who stops others has waited, and worked on nothing.
        ...(works > 0 && type !== "control" && { duration_ms: works }),
        ...(usage && { tokens: usage.input_tokens + usage.output_tokens, usage, model: "scripted" }),
      },
      timestamp: new Date(RUN_START_MS + sent).toISOString(),
    };
    const seen = { run_id, sample_id: script.id, card };
    if (usage)
      happenings.push({
        ms: sent,
        call: {
          run_id,
          sample_id: script.id,
          role: from,
          ...(card.metadata.turn !== undefined && { turn: card.metadata.turn }),
          card_id,
          model: "scripted",
          usage,
          duration_ms: works,
          finish: "stop",
        },
      });
    happenings.push({ ms: sent, card: { ...seen, dir: "out", at_role: from } });
    happenings.push({ ms: sent + travels, card: { ...seen, dir: "in", at_role: to } });
    before = sent + travels;
    ends = Math.max(ends, before);
    arrivals.set(name, before);
  }
  happenings.push({ ms: ends, script });
  return { happenings, ends };
}
