import { describe, expect, it } from "vitest";
import type { MessageCard } from "../message-card/index.ts";
import { encodeTrafficLine, type ModelLine, type TrafficLine } from "../../observe/trace/index.ts";
import {
  decodeMessageCardArray,
  decodeRecording,
  type RecordedCall,
  type Recording,
  createRecordingFromCards,
} from "../recording/index.ts";
import {
  changeLineCards,
  createChangedRecording,
  createScriptedRecordFileText,
  createScriptedRecording,
} from "../recording/recording.fixture.ts";
import {
  SCRIPTED_HOTPOTQA_SAMPLE,
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_TURN_LIMIT_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  type ScriptedSample,
  SCRIPTED_GSM8K_SAMPLES,
} from "../recording/scripted-samples.fixture.ts";
import { detectRunFindings, computeTokenPrice, buildRunReport, listProtocolViolations } from "./index.ts";

describe("a correct run", () => {
  it("violates no guarantee and has no unknown figures", () => {
    const report = buildRunReport(createScriptedRecording());
    expect(report).toMatchObject({
      unknown: [],
      broken: [],
      samples: { total: 4, done: 4, open: 0 },
      accuracy: { value: 0.5 },
      found: { "repeated-task": 1, "turn-limit": 1 },
      ends: ["completed"],
    });
    expect(report.findings.map(({ kind, sample_id }) => [kind, sample_id])).toEqual([
      ["repeated-task", "gsm8k_2"],
      ["turn-limit", "gsm8k_2"],
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

describe("the tokens on the cards equal those of the calls", () => {
  const spoil = (
    change: (line: ModelLine) => ModelLine | undefined,
    ...scripts: readonly ScriptedSample[]
  ): Recording =>
    createChangedRecording(
      (line) => (line.kind === "model" ? change(line) : line),
      scripts.length > 0 ? scripts : undefined,
    );

  it("or the report names the problem and the card", () => {
    const recording = spoil((line) =>
      line.message_id === "gsm8k_1.r2" ? { ...line, input_tokens: 190 } : line,
    );
    const { violations, broken } = buildRunReport(recording);
    expect(violations).toEqual([
      expect.stringMatching(
        /^gsm8k_1: solver → planner: .* has 90\+3 tokens, but its model calls have 190\+3$/,
      ),
    ]);
    expect(broken).toEqual([`the protocol: 1 violation, the first in ${violations[0]}`]);
  });

  it("also if two errors cancel each other out in the sum, or if a card is lost", () => {
    const errors: Readonly<Record<string, number>> = { "gsm8k_0.s1": 5, "gsm8k_0.s2": -5 };
    const recording = spoil(
      (line) => ({
        ...line,
        input_tokens: (line.input_tokens ?? 0) + (errors[line.message_id ?? ""] ?? 0),
      }),
      SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
    );
    expect(buildRunReport(recording).violations).toHaveLength(2);
    const other = spoil(
      (line) => (line.message_id === "gsm8k_0.s1" ? { ...line, message_id: "lost" } : line),
      SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
    );
    expect(buildRunReport(other).violations).toContain(
      "gsm8k_0: no card has the tokens of a call of planner",
    );
  });

  it("if one of several calls for a card did not report its usage", () => {
    const text = createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    const lines = text.split("\n").filter(Boolean);
    const at = lines.findIndex((line) => line.includes('"kind":"model"'));
    const call = JSON.parse(lines[at] ?? "") as ModelLine;
    const { input_tokens: _input, output_tokens: _output, ...failed } = call;
    lines.splice(at, 0, encodeTrafficLine({ ...failed, error: "The provider answered 500" }));
    const changed = lines.map((line) =>
      encodeTrafficLine(
        changeLineCards(JSON.parse(line) as TrafficLine, (card) => {
          const { usage, card_id } = card.metadata;
          if (card_id !== call.message_id || !usage) return card;
          return { ...card, metadata: { ...card.metadata, usage: { ...usage, source: "none" } } };
        }),
      ),
    );
    const report = buildRunReport(decodeRecording(changed, "run.cards.jsonl"));
    expect(report.violations).toEqual([]);
    expect(report.tokens).toMatchObject({ sum: { input: 864, output: 93 }, unknownCards: 1 });
  });

  it("unless a problem is unfinished, or another process records the calls of the role", () => {
    const lost = spoil(
      (line) => (line.message_id === "gsm8k_1.r2" ? undefined : line),
      SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
      { ...SCRIPTED_PARALLEL_TASKS_SAMPLE, isScored: false },
    );
    expect(buildRunReport(lost).violations).toEqual([]);
    const foreign = spoil(
      (line) => (line.agent === "solver" ? undefined : line),
      SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
    );
    expect(buildRunReport(foreign).violations).toEqual([]);
  });
});

describe("findings include", () => {
  const kinds = (cards: readonly MessageCard[], calls: readonly RecordedCall[] = []): string[] =>
    detectRunFindings({ id: "a", cards, calls }).map(({ kind }) => kind);
  const violations = (cards: readonly MessageCard[], isSettled = true): string[] =>
    listProtocolViolations({ cards, calls: [], isSettled }).map((what) =>
      what.replace(/^[^“]*“[^”]*” has /, ""),
    );
  const cards = (script: ScriptedSample): readonly MessageCard[] => createScriptedRecording([script]).cards;
  const [question, first, reply, , , final] = cards(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE) as [
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
    ["nothing in a correct problem", [question, plain(first), reply, final], []],
    [
      "the same subtask again, in any spelling",
      [question, plain(first), reply, as(plain(first), "x", { content: ` ${first.content.toUpperCase()}` })],
      ["repeated-task"],
    ],
    ["a subtask that is a placeholder", [question, as(first, "x", { content: "…" })], ["placeholder"]],
    ["an answer that is a placeholder", [question, as(final, "x", { content: '"..."' })], ["placeholder"]],
  ])("%s", (_, given, expected) => {
    expect(kinds(given)).toEqual(expected);
  });

  it("a long answer of a solver, and model replies that were cut off", () => {
    const { usage: _usage, ...metadata } = reply.metadata;
    const long = { ...reply, content: "word ".repeat(99), metadata };
    const [call] = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).calls;
    if (!call) throw new Error("The script has no model call.");
    expect(kinds([long], [{ ...call, line: { ...call.line, finish_reason: "length" } }, call])).toEqual([
      "long-answer",
      "truncated",
    ]);
  });

  it("a turn limit and an invalid action", () => {
    expect(kinds(cards(SCRIPTED_TURN_LIMIT_SAMPLE))).toEqual(["repeated-task", "turn-limit"]);
    const error = {
      ...final,
      message_type: "error",
      content: "{",
      metadata: { error_type: "invalid_action" },
    };
    expect(kinds([question, plain(first), reply, error as MessageCard])).toEqual(["invalid-action"]);
  });

  it("no missing reply while a problem is unfinished", () => {
    expect(violations([question, plain(first)], false)).toEqual([]);
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
    expect(kinds([question, as(question, "q2"), as(question, "q3")])).toEqual([]);
    const retry = as(plain(first), "x");
    const second = { ...retry, metadata: { ...retry.metadata, attempt: 2 } };
    expect(kinds([question, plain(first), second])).toEqual([]);
  });

  it.each([
    ["a task without a reply", [question, plain(first), final], ["no reply"]],
    ["two replies to one task", [question, plain(first), reply, as(reply, "x"), final], ["2 replies"]],
    [
      "a card whose tokens are another sum",
      [question, plain({ ...first, metadata: { ...first.metadata, tokens: 1 } }), reply, final],
      [`1 tokens, but its usage is ${first.metadata.tokens}`],
    ],
  ])("a violation of the protocol: %s", (_, given, expected) => {
    expect(violations(given)).toEqual(expected);
  });
});

describe("a report on an incomplete run", () => {
  it("lists what is unknown for plain cards", () => {
    const recording = createRecordingFromCards(
      decodeMessageCardArray(JSON.stringify(createScriptedRecording().cards), "cards.json"),
    );
    const report = buildRunReport(recording);
    expect(report).toMatchObject({
      broken: [],
      samples: { total: 4, done: 0 },
      accuracy: undefined,
    });
    expect(report.unknown).toEqual([
      expect.stringContaining("which problems there were"),
      expect.stringContaining("no model calls are recorded"),
    ]);
    expect(report.time.perSample?.count).toBe(4);
  });

  it("lists what is unknown for cards of the specification without IDs", () => {
    const cards = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards.map((card) => ({
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
    const text = createScriptedRecordFileText();
    const [lines] = text.split(/^.*"kind":"score"/m);
    const report = buildRunReport(
      decodeRecording(`${lines}${text.replaceAll("gsm8k_0.", "gsm8k_0-again.")}`, "run.cards.jsonl"),
    );
    expect(report.abandoned).toEqual({
      cards: 6,
      calls: 5,
      tokens: { input: 864, output: 93, cached: 410, reasoning: 0 },
    });
    expect(report.tokens).toEqual(buildRunReport(recording).tokens);
  });

  it("reports lost lines", () => {
    const text = createScriptedRecordFileText().replace(
      /(?<="kind":"end".*)"status":/,
      '"recorder":"degraded","status":',
    );
    const report = buildRunReport(decodeRecording(text.replace('"kind":"score"', "{"), "run.cards.jsonl"));
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
