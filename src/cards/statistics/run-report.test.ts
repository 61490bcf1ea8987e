import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MessageCard } from "../message-card/index.ts";
import {
  type ModelCallLine,
  decodeMessageCardArray,
  listCardsInSpecificationFormat,
  computeCardTransitTimes,
  type Recording,
  createRecordingFromCards,
} from "../recording/index.ts";
import { createScriptedRecording } from "../recording/recording.fixture.ts";
import {
  SCRIPTED_HOTPOTQA_SAMPLE,
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_TURN_LIMIT_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  type ScriptedSample,
  SCRIPTED_GSM8K_SAMPLES,
  SCRIPTED_TIMEOUT_SAMPLE,
} from "../recording/scripted-samples.fixture.ts";
import {
  computeBottlenecks,
  computeCriticalPath,
  detectRunFindings,
  computeTokenPrice,
  buildRunReport,
  computeRoleTimes,
  type CriticalPathSegment,
} from "./index.ts";

const computeScriptPath = (script: ScriptedSample): CriticalPathSegment[] =>
  computeCriticalPath(computeCardTransitTimes(createScriptedRecording([script]).cards));

/** Formats a path: `solver s1 470` is work of the solver on card `s1`, and `→ s1 1` is its transit time. */
const formatPath = (path: readonly CriticalPathSegment[]): string[] =>
  path.map(({ kind, card, from, to }) => {
    const name = card.metadata.card_id?.split(".")[1] ?? "";
    return `${kind === "work" ? card.sender : "→"} ${name} ${to - from}`;
  });

describe("the critical path", () => {
  it("is the entire chain if each card waits for the previous card", () => {
    expect(formatPath(computeScriptPath(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE))).toEqual([
      "→ q 1",
      "planner s1 820",
      "→ s1 1",
      "solver r1 470",
      "→ r1 1",
      "planner s2 720",
      "→ s2 1",
      "solver r2 430",
      "→ r2 1",
      "planner 6 610",
      "→ 6 1",
    ]);
  });

  it("contains the slowest parallel task and its query", () => {
    expect(formatPath(computeScriptPath(SCRIPTED_PARALLEL_TASKS_SAMPLE))).toEqual([
      "→ q 1",
      "planner s2 500",
      "→ s2 1",
      "solver ask 150",
      "→ ask 1",
      "planner told 50",
      "→ told 1",
      "solver r2 300",
      "→ r2 1",
      "planner 10 400",
      "→ 10 1",
    ]);
  });

  it("contains the work of a role that was stopped", () => {
    expect(formatPath(computeScriptPath(SCRIPTED_TIMEOUT_SAMPLE))).toContain("solver 5 5002");
  });

  it("has no gaps, starts with the first task, and ends with the last reply", () => {
    const subtask = fc.record({ plans: fc.nat(500), solves: fc.nat(500), travelMs: fc.nat(20) });
    fc.assert(
      fc.property(fc.array(fc.array(subtask, { minLength: 1, maxLength: 4 }), { maxLength: 4 }), (rounds) => {
        const script = createRoundsScript(rounds);
        const moments = computeCardTransitTimes(createScriptedRecording([script]).cards);
        const path = computeCriticalPath(moments);
        expect(path[0]?.from).toBe(moments[0]?.sentMs);
        expect(path.at(-1)?.to).toBe(Math.max(...moments.map(({ arrivedMs: arrived }) => arrived)));
        for (const [index, { from, to }] of path.entries()) {
          expect(to).toBeGreaterThanOrEqual(from);
          if (index > 0) expect(from).toBe(path[index - 1]?.to);
        }
        // The path contains no idle time. A segment can be shorter than the duration on its card, because the
        // planner started before the last reply arrived.
        for (const { kind, card, from, to } of path)
          if (kind === "work") expect(to - from).toBeLessThanOrEqual(card.metadata.duration_ms ?? 0);
      }),
    );
  });

  it("is empty without a reply, and ends at circular replies", () => {
    const [task] = listCardsInSpecificationFormat(
      createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]),
    ) as [MessageCard];
    expect(computeCriticalPath(computeCardTransitTimes(createRecordingFromCards([task]).cards))).toEqual([]);
    const circle = ["a", "b", "a"].map((id, at) => ({
      ...task,
      sender: at % 2 ? "planner" : "solver",
      recipient: at % 2 ? "solver" : "planner",
      message_type: "result",
      metadata: { card_id: id, in_reply_to: id === "a" ? "b" : "a", status: "success" },
    }));
    expect(computeCriticalPath(computeCardTransitTimes(createRecordingFromCards(circle).cards))).toEqual([]);
  });

  it("is summarized over many problems", () => {
    const [first, second] = computeBottlenecks([
      computeScriptPath(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE),
      computeScriptPath(SCRIPTED_HOTPOTQA_SAMPLE),
    ]);
    expect(first).toEqual({ kind: "work", who: "planner", turn: 1, ms: 1_120, share: 1_120 / 4_442 });
    expect(second).toMatchObject({ who: "planner", turn: 2, ms: 1_070 });
  });
});

describe("the time of a role", () => {
  it("consists of work and waiting", () => {
    expect(
      computeRoleTimes(
        computeCardTransitTimes(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards),
      ),
    ).toEqual([
      { role: "controller", workingMs: 0, waitingMs: 3_056 },
      { role: "planner", workingMs: 820 + 720 + 610, waitingMs: 3_055 - 1 - 2_150 },
      { role: "solver", workingMs: 900, waitingMs: 2_444 - 822 - 900 },
    ]);
  });

  it("counts parallel work once, and does not count waiting for a stopped role as work", () => {
    const [, planner] = computeRoleTimes(
      computeCardTransitTimes(createScriptedRecording([SCRIPTED_PARALLEL_TASKS_SAMPLE]).cards),
    );
    expect(planner).toEqual({ role: "planner", workingMs: 500 + 50 + 400, waitingMs: 1_404 - 950 });
    expect(
      computeRoleTimes(computeCardTransitTimes(createScriptedRecording([SCRIPTED_TIMEOUT_SAMPLE]).cards))[1],
    ).toMatchObject({ workingMs: 200 });
  });
});

describe("a correct run", () => {
  it("violates no guarantee and has no unknown figures", () => {
    const report = buildRunReport(createScriptedRecording());
    expect(report).toMatchObject({
      unknown: [],
      broken: [],
      samples: { total: 4, done: 4, open: 0 },
      accuracy: { value: 0.5 },
      ledger: { ok: true, checked: 12, mismatches: [], unchecked: [] },
      found: { "repeated-task": 1, "turn-limit": 1, "premature-end": 1 },
      ends: ["completed"],
    });
    expect(report.findings.map(({ kind, sample_id }) => [kind, sample_id])).toEqual([
      ["repeated-task", "gsm8k_2"],
      ["turn-limit", "gsm8k_2"],
      ["premature-end", "gsm8k_0"],
    ]);
  });

  it("has a report that JSON can represent", () => {
    const { run, ...report } = buildRunReport(createScriptedRecording());
    expect(JSON.parse(JSON.stringify(report))).toMatchObject({ samples: { done: 4 } });
    expect(run).not.toHaveProperty("sample_ids");
  });

  it("has a price by the tariff, with cheaper cached tokens", () => {
    const tariff = { input: 3, output: 15, cached: 0.3 };
    const { tokens } = buildRunReport(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]), {
      tariff,
    });
    expect(tokens.sum).toEqual({ input: 864, output: 93, cached: 410, reasoning: 0 });
    expect(tokens.price).toBeCloseTo((454 * 3 + 410 * 0.3 + 93 * 15) / 1e6, 12);
    expect(computeTokenPrice(tokens.sum, { input: 3, output: 15 })).toBeCloseTo(
      (864 * 3 + 93 * 15) / 1e6,
      12,
    );
  });
});

describe("the ledger", () => {
  const spoil = (recording: Recording, call: (line: ModelCallLine) => ModelCallLine): Recording => ({
    ...recording,
    calls: recording.calls.map(call),
  });

  it("names the problem, the role, and the difference if no card includes a call", () => {
    const recording = spoil(createScriptedRecording(), (line) =>
      line.card_id === "gsm8k_1.r2" ? { ...line, usage: { ...line.usage, input_tokens: 190 } } : line,
    );
    const { ledger, broken } = buildRunReport(recording);
    expect(ledger).toMatchObject({ ok: false, checked: 12 });
    expect(ledger?.mismatches).toMatchObject([
      {
        sample_id: "gsm8k_1",
        role: "solver",
        cards: { input: 275, output: 18 },
        calls: { input: 375, output: 18 },
        card_ids: ["gsm8k_1.r2"],
      },
    ]);
    expect(broken).toEqual([
      "the ledger: 1 of 12 sums differ, the first in gsm8k_1: the cards of solver have -100 tokens against its calls",
    ]);
  });

  it("finds two errors that cancel each other out in the sum", () => {
    const recording = spoil(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]), (line) => ({
      ...line,
      usage: {
        ...line.usage,
        input_tokens: line.usage.input_tokens + ({ "gsm8k_0.s1": 5, "gsm8k_0.s2": -5 }[line.card_id] ?? 0),
      },
    }));
    expect(buildRunReport(recording).ledger?.mismatches).toMatchObject([
      { role: "planner", card_ids: ["gsm8k_0.s1", "gsm8k_0.s2"] },
    ]);
  });

  it("is balanced if one of several calls for a card did not report its usage", () => {
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    const [call] = recording.calls as [ModelCallLine];
    const usage = { input_tokens: 0, output_tokens: 0, source: "none" } as const;
    const cards = recording.cards.map((line): Recording["cards"][number] => {
      const { metadata } = line.card;
      if (metadata.card_id !== call.card_id || !metadata.usage) return line;
      const weakest = { ...metadata, usage: { ...metadata.usage, source: "none" as const } };
      return { ...line, card: { ...line.card, metadata: weakest } };
    });
    const report = buildRunReport({ ...recording, cards, calls: [...recording.calls, { ...call, usage }] });
    expect(report.ledger?.ok).toBe(true);
    expect(report.tokens).toMatchObject({ sum: { input: 864, output: 93 }, unknownCards: 1 });
  });

  it("excludes unfinished problems and roles that another process records", () => {
    const open = createScriptedRecording([
      SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
      { ...SCRIPTED_PARALLEL_TASKS_SAMPLE, isScored: false },
    ]);
    const lost = { ...open, calls: open.calls.filter(({ card_id }) => card_id !== "gsm8k_1.r2") };
    expect(buildRunReport(lost).ledger).toMatchObject({ ok: true, checked: 3 });
    const whole = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    const foreign: Recording = {
      ...whole,
      cards: whole.cards.filter(({ at_role }) => at_role !== "solver"),
      calls: whole.calls.filter(({ role }) => role !== "solver"),
    };
    const { ledger, unknown } = buildRunReport(foreign);
    expect(ledger).toMatchObject({ ok: true, checked: 2, unchecked: ["solver"] });
    expect(unknown).toEqual([expect.stringContaining("the cards of solver are correct")]);
  });
});

describe("findings include", () => {
  const kinds = (cards: readonly MessageCard[], settled = true): string[] =>
    detectRunFindings({
      id: "a",
      cards,
      timings: computeCardTransitTimes(createRecordingFromCards(cards).cards),
      isSettled: settled,
    }).map(({ kind }) => kind);
  const cards = (script: ScriptedSample): MessageCard[] =>
    listCardsInSpecificationFormat(createScriptedRecording([script]));
  const [question, first, reply, second, , final] = cards(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE) as [
    MessageCard,
    MessageCard,
    MessageCard,
    MessageCard,
    MessageCard,
    MessageCard,
  ];
  const plain = (card: MessageCard): MessageCard => ({
    ...card,
    metadata: { ...card.metadata, forced: false },
  });
  const as = (card: MessageCard, id: string, more: Partial<MessageCard> = {}): MessageCard => ({
    ...card,
    ...more,
    metadata: { ...card.metadata, card_id: id },
  });

  it.each([
    ["nothing in a problem as it should be", [question, plain(first), reply, final], []],
    ["a task without a reply", [question, plain(first), final], ["unanswered"]],
    ["two replies to one task", [question, plain(first), reply, as(reply, "x"), final], ["answered-twice"]],
    ["a reply to nothing", [question, plain(first), reply, final, plain(second)], ["unanswered"]],
    [
      "the same subtask again, however it is written",
      [question, plain(first), reply, as(plain(first), "x", { content: ` ${first.content.toUpperCase()}` })],
      ["unanswered", "unanswered", "repeated-task"],
    ],
    ["an answer without a solver", [question, final], ["premature-end"]],
    ["an answer that was held back", [question, first, reply, final], ["premature-end"]],
    [
      "a card whose tokens are another sum",
      [question, plain({ ...first, metadata: { ...first.metadata, tokens: 1 } }), reply, final],
      ["tokens-differ"],
    ],
  ])("%s", (_, given, expected) => {
    expect(kinds(given)).toEqual(expected);
  });

  it("a task that returns to its sender over other roles", () => {
    const back = as(plain(first), "back", { sender: "solver", recipient: "planner", content: "You do it" });
    const again = as(plain(first), "again", { content: "No, you" });
    const nested = [
      question,
      plain(first),
      { ...back, metadata: { ...back.metadata, in_reply_to: first.metadata.card_id ?? "" } },
      { ...again, metadata: { ...again.metadata, in_reply_to: "back" } },
    ];
    expect(kinds(nested, false)).toEqual(["ping-pong"]);
  });

  it("a turn limit and an invalid action", () => {
    expect(kinds(cards(SCRIPTED_TURN_LIMIT_SAMPLE))).toEqual(["repeated-task", "turn-limit"]);
    const error = {
      ...final,
      message_type: "error",
      content: "{",
      metadata: { error_type: "invalid_action" },
    };
    expect(kinds([question, plain(first), reply, error as MessageCard], false)).toEqual(["invalid-action"]);
  });

  it("no missing reply while a problem is unfinished", () => {
    expect(kinds([question, plain(first)], false)).toEqual([]);
    const report = buildRunReport(
      createScriptedRecording([
        SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
        {
          ...SCRIPTED_PARALLEL_TASKS_SAMPLE,
          isScored: false,
          steps: SCRIPTED_PARALLEL_TASKS_SAMPLE.steps.slice(0, 4),
        },
      ]),
    );
    expect(report).toMatchObject({ broken: [], samples: { total: 2, done: 1, open: 1 } });
  });

  it("no repetition for self-consistency and retries", () => {
    const asked = [question, as(question, "q2"), as(question, "q3")];
    expect(kinds(asked, false)).toEqual([]);
    const retry = as(plain(first), "x");
    const second = { ...retry, metadata: { ...retry.metadata, attempt: 2 } };
    expect(kinds([question, plain(first), second], false)).toEqual([]);
  });

  it("a card that arrived before it was sent", () => {
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    const early = recording.cards.map((line) =>
      line.dir === "in" && line.card.metadata.card_id === "gsm8k_0.s1" ? { ...line, mono_ms: 5 } : line,
    );
    expect(buildRunReport({ ...recording, cards: early }).found).toEqual({
      "premature-end": 1,
      "clock-inversion": 1,
    });
  });
});

describe("a report on an incomplete run", () => {
  it("lists what is unknown for plain cards", () => {
    const recording = createRecordingFromCards(
      decodeMessageCardArray(
        JSON.stringify(listCardsInSpecificationFormat(createScriptedRecording())),
        "cards.json",
      ),
    );
    const report = buildRunReport(recording);
    expect(report).toMatchObject({
      broken: [],
      samples: { total: 4, done: 0 },
      accuracy: undefined,
      ledger: undefined,
    });
    expect(report.unknown).toEqual([
      expect.stringContaining("which problems there were"),
      expect.stringContaining("no model calls are recorded"),
    ]);
    expect(report.time.bottlenecks.length).toBeGreaterThan(3);
  });

  it("lists what is unknown for cards of the specification without IDs", () => {
    const cards = listCardsInSpecificationFormat(
      createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]),
    ).map((card) => ({
      ...card,
      metadata: {},
    }));
    const report = buildRunReport(createRecordingFromCards(cards));
    expect(report.unknown).toHaveLength(3);
    expect(report).toMatchObject({
      broken: [],
      figures: { cards: 6, completion: undefined },
      seed: undefined,
      found: {},
    });
  });

  it("counts interrupted attempts separately", () => {
    const recording = createScriptedRecording();
    const { cards, calls } = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    const report = buildRunReport({ ...recording, abandoned: { cards, calls } });
    expect(report.abandoned).toEqual({
      cards: 6,
      calls: 5,
      tokens: { input: 864, output: 93, cached: 410, reasoning: 0 },
    });
    expect(report.tokens).toEqual(buildRunReport(recording).tokens);
  });

  it("reports lost lines", () => {
    const recording = createScriptedRecording();
    const [end] = recording.ends as [Recording["ends"][number]];
    const torn = [{ file: "f", line: 7, last: false, why: "" }];
    const report = buildRunReport({ ...recording, ends: [{ ...end, recorder: "degraded" }], torn });
    expect(report.broken).toEqual([
      "the record: lines were lost while it was written",
      "the record: lines in its middle cannot be read",
    ]);
  });

  it("works for a run that has not started", () => {
    const report = buildRunReport(createScriptedRecording([], { sample_ids: ["gsm8k_0"] }));
    expect(report).toMatchObject({ samples: { total: 1, done: 0, open: 0 }, broken: [], findings: [] });
    expect(buildRunReport(createScriptedRecording([], { sample_ids: [] })).figures).toBeUndefined();
    expect(buildRunReport(createScriptedRecording(SCRIPTED_GSM8K_SAMPLES)).measures).toEqual({});
    expect(buildRunReport(createScriptedRecording([SCRIPTED_HOTPOTQA_SAMPLE])).measures).toEqual({
      f1: 1,
      joint_f1: 1,
    });
  });
});

/** Creates rounds of parallel subtasks. Each round waits for all results of the previous round. */
function createRoundsScript(
  rounds: readonly (readonly { plans: number; solves: number; travelMs: number }[])[],
): ScriptedSample {
  let before = ["q"];
  const steps: ScriptedSample["steps"][number][] = [
    { from: "controller", to: "planner", name: "q", content: "?" },
  ];
  for (const [round, subtasks] of rounds.entries()) {
    const replies = subtasks.map(({ plans, solves, travelMs }, index) => {
      const name = `s${round}-${index}`;
      const way = { travelMs, waitsFor: before };
      steps.push({
        from: "planner",
        to: "solver",
        name,
        inReplyTo: "q",
        content: name,
        workMs: plans,
        ...way,
      });
      const reply = {
        name: `r${name}`,
        inReplyTo: name,
        content: name,
        workMs: solves,
        travelMs,
        waitsFor: [name],
      };
      steps.push({ from: "solver", to: "planner", type: "result", ...reply });
      return reply.name;
    });
    // A round starts when all results of the previous round have arrived.
    before = replies;
  }
  const final = { type: "result", inReplyTo: "q", content: "!", workMs: 7, waitsFor: before };
  steps.push({ from: "planner", to: "controller", ...final });
  return { id: "a", gold: "", steps };
}
