import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeTrafficLine, type TrafficLine } from "../../observe/trace/index.ts";
import { toCardParts } from "../a2a/index.ts";
import { createGsm8kExampleCards } from "../message-card/message-card.fixture.ts";
import { generateFlowDiagram } from "../views/index.ts";
import {
  createRecordingFromCards,
  decodeMessageCardArray,
  decodeRecordFiles,
  decodeRecording,
  type RecordedCard,
  type Recording,
  type RecordFile,
} from "./index.ts";
import { createScriptedRecording, createScriptedRecordFileText } from "./recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  createScriptedSamples,
  SCRIPTED_GSM8K_SAMPLES,
} from "./scripted-samples.fixture.ts";

const FILE_NAME = "run.cards.jsonl";
const RUN_START_MS = Date.UTC(2026, 10, 21, 10, 30);

const listTimes = ({ samples }: Recording): [number, number][] =>
  samples.flatMap(({ timedCards }) =>
    timedCards.map(({ sentMs, arrivedMs }: RecordedCard): [number, number] => [
      sentMs - RUN_START_MS,
      arrivedMs - RUN_START_MS,
    ]),
  );
const listCardIds = ({ cards }: Recording): unknown[] => cards.map(({ metadata }) => metadata.card_id);

describe("a recording", () => {
  it("contains each card once in the order of sending", () => {
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    expect(recording.cards).toHaveLength(6);
    expect(generateFlowDiagram(recording.cards)).toBe(
      [
        "1. CONTROLLER    → [TASK]    PLANNER",
        "2. PLANNER       → [TASK]    SOLVER",
        "3. SOLVER        ← [RESULT]  PLANNER",
        "4. PLANNER       → [TASK]    SOLVER",
        "5. SOLVER        ← [RESULT]  PLANNER",
        "6. PLANNER       ← [RESULT]  CONTROLLER",
      ].join("\n"),
    );
  });

  it("separates the problems of a run, including those that were not started", () => {
    const recording = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES, {
      sample_ids: ["gsm8k_9", ...SCRIPTED_GSM8K_SAMPLES.map(({ id }) => id)],
    });
    const samples = recording.samples;
    expect(samples.map(({ id }) => id)).toEqual(["gsm8k_9", "gsm8k_0", "gsm8k_1", "gsm8k_2", "gsm8k_3"]);
    expect(samples[0]).toMatchObject({ id: "gsm8k_9", cards: [], calls: [], score: undefined });
    expect(samples[1]).toMatchObject({ score: { correct: true, predicted: "18" }, cards: { length: 6 } });
    expect(samples[1]?.calls).toHaveLength(5);
    expect([...recording.finishedSampleIds]).toEqual(SCRIPTED_GSM8K_SAMPLES.map(({ id }) => id));
  });

  it("contains the times of sending and arrival of each card", () => {
    // A request states no time of its arrival.
    expect(listTimes(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]))).toEqual([
      [0, 0],
      [821, 821],
      [1292, 1293],
      [2013, 2013],
      [2444, 2445],
      [3055, 3056],
    ]);
  });

  it("is decoded for 1,319 problems", () => {
    const text = createScriptedRecordFileText(createScriptedSamples(1_319));
    const recording = decodeRecording(text, FILE_NAME);
    expect(recording.scores).toHaveLength(1_319);
    expect(recording.cards).toHaveLength(1_319 * 6);
  });

  it("can be decoded from an iterable of lines", () => {
    const text = createScriptedRecordFileText();
    expect(listCardIds(decodeRecording(text.split("\n"), FILE_NAME))).toEqual(
      listCardIds(decodeRecording(text, FILE_NAME)),
    );
  });
});

describe("a file of a killed writer", () => {
  it("is decoded up to the torn line, which is reported", () => {
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], { killAfterLine: 5 });
    expect(recording.torn).toEqual([
      { file: FILE_NAME, line: 6, last: true, why: expect.stringContaining("JSON") as string },
    ]);
    expect(recording.cards).toHaveLength(2);
    expect(recording.ends).toEqual([]);
  });

  it("contains a resumed problem once, with the abandoned attempt apart", () => {
    // Two lines before the score of the second problem.
    const killed = createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES.slice(0, 2), { killAfterLine: 29 });
    expect([...decodeRecording(killed, FILE_NAME).finishedSampleIds]).toEqual(["gsm8k_0"]);
    const resumed = createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES.slice(1), {
      sample_ids: SCRIPTED_GSM8K_SAMPLES.map(({ id }) => id),
    }).replaceAll("gsm8k_1.", "gsm8k_1-again.");

    const recording = decodeRecording(`${killed}\n${resumed}`, FILE_NAME);
    const whole = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES);
    expect(recording.torn).toMatchObject([{ line: 30, last: true }]);
    expect(recording.samples.map(({ cards, calls }) => [cards.length, calls.length])).toEqual(
      whole.samples.map(({ cards, calls }) => [cards.length, calls.length]),
    );
    expect(recording.abandoned.cards.every(({ metadata }) => metadata.sample_id === "gsm8k_1")).toBe(true);
    expect(recording.abandoned.calls.length).toBeGreaterThan(3);
    expect(recording.scores).toHaveLength(4);
  });

  it("keeps the data of an interrupted problem that was not resumed", () => {
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], { killAfterLine: 9 });
    expect(recording.abandoned.cards).toEqual([]);
    expect(recording.samples[0]).toMatchObject({ score: undefined, cards: { length: 4 } });
  });

  it("may have a torn line elsewhere, which is marked differently", () => {
    const [first = "", second = "", ...rest] = createScriptedRecordFileText([
      SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
    ]).split("\n");
    const { torn } = decodeRecording([first, second.slice(0, 50), ...rest], FILE_NAME);
    expect(torn).toMatchObject([{ line: 2, last: false }]);
  });
});

describe("lines of other formats", () => {
  it.each([
    `{"v":1,"kind":"thought","text":"hm"}`,
    `{"v":2,"kind":"card"}`,
    `{"some":"log"}`,
    "42",
    "",
    "\r",
  ])("are ignored: %j", (line) => {
    const text = createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    expect(listCardIds(decodeRecording(`${line}\n${text}${line}\n`, FILE_NAME))).toEqual(
      listCardIds(decodeRecording(text, FILE_NAME)),
    );
  });

  it("alone are not a recording", () => {
    expect(() => decodeRecording(`{"some":"log"}\n`, "app.log")).toThrow(
      "app.log: no run and no message card found. To do: name a record with message cards (.cards.jsonl).",
    );
  });

  it("include those of other runs if a run is selected", () => {
    const two =
      createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], { run_id: "a" }) +
      createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], { run_id: "b" });
    expect(() => decodeRecording(two, FILE_NAME)).toThrow("To do: select one of a, b.");
    expect(decodeRecording(two, FILE_NAME, { runId: "b" }).run?.run_id).toBe("b");
    expect(decodeRecording(two, FILE_NAME, { runId: "b" }).cards).toHaveLength(6);
    expect(() => decodeRecording(two, FILE_NAME, { runId: "c" })).toThrow("run c not found");
  });
});

describe("records of one run by several processes", () => {
  const createRoleFile = (role: string, skewMs = 0): RecordFile => ({
    file: `${role}.jsonl`,
    source: createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { roles: [role] })
      .split("\n")
      .filter((text) => role === "controller" || /"kind":"(request|response|model)"/.test(text))
      .map((text) => {
        if (text === "") return text;
        const line = JSON.parse(text) as TrafficLine;
        return JSON.stringify({
          ...line,
          writer: role,
          at: new Date(Date.parse(line.at) + skewMs).toISOString(),
        });
      }),
  });

  it("contain the cards of one process, in any order of the files", () => {
    const whole = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES);
    fc.assert(
      fc.property(fc.shuffledSubarray(["controller", "planner", "solver"], { minLength: 3 }), (order) => {
        const merged = decodeRecordFiles(order.map((role) => createRoleFile(role)));
        expect(listCardIds(merged)).toEqual(listCardIds(whole));
        expect(merged.calls).toHaveLength(whole.calls.length);
        expect(merged.scores).toHaveLength(whole.scores.length);
      }),
    );
  });

  it("show no reply before its request, although the clocks of two machines differ", () => {
    const merged = decodeRecordFiles([
      createRoleFile("controller"),
      createRoleFile("planner", 90_000),
      createRoleFile("solver", -90_000),
    ]);
    for (const { timedCards } of merged.samples)
      for (const { card, sentMs, arrivedMs } of timedCards) {
        const request = timedCards.find((other) => other.card.metadata.card_id === card.metadata.in_reply_to);
        expect(arrivedMs).toBeGreaterThanOrEqual(sentMs);
        expect(sentMs).toBeGreaterThanOrEqual(request?.sentMs ?? 0);
      }
  });

  it("exclude late replies of an attempt that was interrupted", () => {
    const ids = SCRIPTED_GSM8K_SAMPLES.map(({ id }) => id);
    const first = createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES.slice(0, 2), { sample_ids: ids });
    const second = createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES.slice(1), { sample_ids: ids });
    const again = second.replaceAll("gsm8k_1.", "gsm8k_1-again.");
    // The first attempt has no score. Its last reply arrives after the run was resumed.
    const lines = first
      .split("\n")
      .filter((line) => !/"kind":"(score|end)".*gsm8k_1|"kind":"end"/.test(line));
    const late = lines.splice(
      lines.findLastIndex((line) => line.includes('"kind":"response"')),
      1,
    );
    const recording = decodeRecording(
      [...lines, ...again.split("\n").slice(0, 6), ...late, ...again.split("\n").slice(6)],
      FILE_NAME,
    );
    expect(recording.samples.map(({ cards }) => cards.length)).toEqual(
      createScriptedRecording(SCRIPTED_GSM8K_SAMPLES).samples.map(({ cards }) => cards.length),
    );
    expect(recording.abandoned.cards.every(({ metadata }) => metadata.sample_id === "gsm8k_1")).toBe(true);
    expect(recording.abandoned.cards).toHaveLength(10);
  });
});

describe("a traffic record", () => {
  const [card] = createGsm8kExampleCards();
  if (!card) throw new Error("There is no card.");
  const [part, text] = toCardParts(card);
  const message = { parts: [part, text] };
  const base = { v: 1, writer: "w", seq: 1, at: "2026-11-21T10:30:00.000Z", mono_ms: 0 } as const;
  const request = { ...base, kind: "request", call: "c", to: "planner", operation: "SendMessage" } as const;

  it.each<[string, object]>([
    ["a JSON-RPC request", { ...request, binding: "JSONRPC", body: { params: { message } } }],
    ["a REST request", { ...request, binding: "HTTP+JSON", body: { message } }],
    [
      "an A2A 0.3 request, whose parts have a kind",
      { ...request, binding: "JSONRPC", body: { parts: [{ kind: "data", data: part.data }] } },
    ],
    [
      "a response",
      { ...base, kind: "response", call: "c", duration_ms: 1, body: { task: { artifacts: [message] } } },
    ],
    [
      "an event",
      { ...base, kind: "event", task_id: "t", log_seq: 1, event: { task: { history: [message] } } },
    ],
    ["a frame", { ...base, kind: "frame", call: "c", index: 1, bytes: 1, event: { message } }],
  ])("contains the message card of %s", (_, line) => {
    const recording = decodeRecording(encodeTrafficLine(line as TrafficLine), FILE_NAME);
    expect(recording.cards).toEqual([card]);
  });

  it("contains no card of a message with an invalid card", () => {
    const parts = [{ ...part, data: { ...(part.data as object), sender: 1 } }];
    const line = { ...request, binding: "JSONRPC", body: { message: { parts } } } as unknown as TrafficLine;
    expect(() => decodeRecording(encodeTrafficLine(line), FILE_NAME)).toThrow("no message card found");
  });

  it("of a run contains no card of another client", () => {
    const foreign = { ...part, data: { ...(part.data as object), metadata: {} } };
    const line = { ...request, binding: "JSONRPC", body: { parts: [foreign] } } as unknown as TrafficLine;
    const run = createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    expect(decodeRecording(`${run}${encodeTrafficLine(line)}\n`, FILE_NAME).cards).toHaveLength(6);
  });
});

describe("a record of a version whose records were no traffic records", () => {
  const card = { ...createGsm8kExampleCards()[0], metadata: { card_id: "c1", run_id: "r", sample_id: "s" } };
  const earlier = [
    {
      kind: "run",
      dataset: "gsm8k",
      sample_ids: ["s"],
      method: "a2a",
      model: {},
      evidence: "oracle",
      rule: "number",
      code: "0.1.0",
    },
    {
      kind: "card",
      sample_id: "s",
      seq: 1,
      dir: "out",
      at_role: "controller",
      mono_ms: 1,
      a2a: { task_id: "t" },
      card,
    },
    { kind: "card", sample_id: "s", seq: 2, dir: "in", at_role: "planner", mono_ms: 2, card },
    {
      kind: "call",
      sample_id: "s",
      seq: 3,
      mono_ms: 3,
      role: "planner",
      turn: 1,
      card_id: "c1",
      model: "m",
      usage: { input_tokens: 3, output_tokens: 2, source: "estimated" },
      duration_ms: 1,
      finish: "length",
    },
    { kind: "score", sample_id: "s", gold: "18", correct: false, rule: "number" },
    { kind: "end", status: "completed", cards: 1, samples: 1 },
  ].map((line) => JSON.stringify({ v: 1, run_id: "r", at: "2025-01-15T10:31:00.000Z", ...line }));

  it("is decoded", () => {
    expect(decodeRecording(earlier, FILE_NAME)).toMatchObject({
      run: { run_id: "r", method: "a2a" },
      cards: [card],
      calls: [
        {
          role: "planner",
          turn: 1,
          cardId: "c1",
          usage: { input_tokens: 3, output_tokens: 2, source: "estimated" },
          line: { finish_reason: "length" },
        },
      ],
      scores: [{ sample_id: "s", correct: false }],
      ends: [{ status: "completed" }],
      torn: [],
    });
  });

  it("reports its invalid lines", () => {
    const wrong = earlier.map((line) => line.replace('"correct":false', '"correct":"no"'));
    expect(decodeRecording(wrong, FILE_NAME).torn).toMatchObject([
      { line: 5, last: false, why: "score line: correct is not a boolean" },
    ]);
  });
});

describe("plain cards", () => {
  it("are exported in the format of the specification and imported as a recording", () => {
    const recording = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES);
    const cards = recording.cards;
    expect(Object.keys(cards[0] ?? {})).toEqual([
      "sender",
      "recipient",
      "message_type",
      "content",
      "metadata",
      "timestamp",
    ]);
    const back = createRecordingFromCards(decodeMessageCardArray(JSON.stringify(cards), "cards.json"));
    expect(back.cards).toEqual(cards);
    expect(back.run).toBeUndefined();
    expect(listTimes(back).map(([sent]) => sent)).toEqual(
      listTimes(recording)
        .map(([sent]) => sent)
        .toSorted((x, y) => x - y),
    );
  });

  it("are rejected with the file and their position", () => {
    expect(() => decodeMessageCardArray("{", "cards.json")).toThrow("cards.json: the file contains no JSON");
    expect(() => decodeMessageCardArray("{}", "cards.json")).toThrow(
      "cards.json: the file contains no JSON array",
    );
    expect(() => decodeMessageCardArray(`[{"sender":1}]`, "cards.json")).toThrow("cards.json, card 1: ");
  });
});
