import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCard } from "../message-card/message-card.fixture.ts";
import { generateFlowDiagram } from "../views/index.ts";
import {
  listDistinctRecordedCards,
  decodeMessageCardArray,
  decodeRecordLine,
  decodeRecording,
  collectFinishedSampleIds,
  encodeRecordLine,
  listCardsInSpecificationFormat,
  computeCardTransitTimes,
  createRecordingFromCards,
  collectRecordedSamples,
  type RecordLine,
} from "./index.ts";
import { createScriptedRecording, createScriptedRecordFileText } from "./recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  createScriptedSamples,
  SCRIPTED_GSM8K_SAMPLES,
} from "./scripted-samples.fixture.ts";

const FILE_NAME = "run.cards.jsonl";

describe("a recording", () => {
  it("contains each card once in the order of sending", () => {
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
    expect(recording.cards).toHaveLength(12);
    expect(generateFlowDiagram(listDistinctRecordedCards(recording))).toBe(
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

  it("contains a card of an unrecorded role as it arrived or was relayed", () => {
    const foreign = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards.filter(
      ({ at_role }) => at_role !== "solver",
    );
    expect(listDistinctRecordedCards({ cards: foreign })).toHaveLength(6);
    const relayed = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], {
      roles: ["controller"],
    }).cards;
    expect(listDistinctRecordedCards({ cards: relayed })).toHaveLength(2);
  });

  it("separates the problems of a run, including those that were not started", () => {
    const recording = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES, {
      sample_ids: ["gsm8k_9", ...SCRIPTED_GSM8K_SAMPLES.map(({ id }) => id)],
    });
    const samples = collectRecordedSamples(recording);
    expect(samples.map(({ id }) => id)).toEqual(["gsm8k_9", "gsm8k_0", "gsm8k_1", "gsm8k_2", "gsm8k_3"]);
    expect(samples[0]).toEqual({ id: "gsm8k_9", cards: [], cardLines: [], calls: [], score: undefined });
    expect(samples[1]).toMatchObject({ score: { correct: true, predicted: "18" }, cards: { length: 6 } });
    expect(samples[1]?.cardLines).toHaveLength(12);
    expect(samples[1]?.calls).toHaveLength(5);
    expect([...collectFinishedSampleIds(recording)]).toEqual(SCRIPTED_GSM8K_SAMPLES.map(({ id }) => id));
  });

  it("contains the times of sending and arrival of each card", () => {
    const moments = computeCardTransitTimes(
      createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards,
    );
    expect(moments.map(({ sentMs: sent, arrivedMs: arrived }) => [sent, arrived])).toEqual([
      [0, 1],
      [821, 822],
      [1292, 1293],
      [2013, 2014],
      [2444, 2445],
      [3055, 3056],
    ]);
  });

  it("is decoded for 1,319 problems", () => {
    const text = createScriptedRecordFileText(createScriptedSamples(1_319));
    const recording = decodeRecording(text, FILE_NAME);
    expect(recording.scores).toHaveLength(1_319);
    expect(recording.cards).toHaveLength(1_319 * 12);
  });

  it("can be decoded from an iterable of lines", () => {
    const text = createScriptedRecordFileText();
    expect(decodeRecording(text.split("\n"), FILE_NAME)).toEqual(decodeRecording(text, FILE_NAME));
  });
});

describe("a file of a killed writer", () => {
  it("is decoded up to the torn line, which is reported", () => {
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], { killAfterLine: 4 });
    expect(recording.torn).toEqual([
      { file: FILE_NAME, line: 5, last: true, why: expect.stringContaining("JSON") as string },
    ]);
    expect(recording.cards).toHaveLength(2);
    expect(recording.ends).toEqual([]);
  });

  it("contains a resumed problem once, with the abandoned attempt apart", () => {
    // Two lines before the score of the second problem.
    const killed = createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES.slice(0, 2), { killAfterLine: 36 });
    expect([...collectFinishedSampleIds(decodeRecording(killed, FILE_NAME))]).toEqual(["gsm8k_0"]);
    const resumed = createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES.slice(1), {
      sample_ids: SCRIPTED_GSM8K_SAMPLES.map(({ id }) => id),
    });

    const recording = decodeRecording(`${killed}\n${resumed}`, FILE_NAME);
    const whole = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES);
    expect(recording.torn).toMatchObject([{ line: 37, last: true }]);
    expect(collectRecordedSamples(recording).map(({ cards, calls }) => [cards.length, calls.length])).toEqual(
      collectRecordedSamples(whole).map(({ cards, calls }) => [cards.length, calls.length]),
    );
    expect(recording.abandoned.cards.every((line) => line.sample_id === "gsm8k_1")).toBe(true);
    expect(recording.abandoned.calls.length).toBeGreaterThan(3);
    expect(recording.scores).toHaveLength(4);
  });

  it("keeps the data of an interrupted problem that was not resumed", () => {
    const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], { killAfterLine: 11 });
    expect(recording.abandoned.cards).toEqual([]);
    expect(collectRecordedSamples(recording)[0]).toMatchObject({ score: undefined, cards: { length: 4 } });
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
    expect(decodeRecording(`${line}\n${text}${line}\n`, FILE_NAME)).toEqual(decodeRecording(text, FILE_NAME));
  });

  it("alone are not a recording", () => {
    expect(() => decodeRecording(`{"some":"log"}\n`, "app.log")).toThrow(
      "app.log: no line of a card record found. To do: name a file that ends in .cards.jsonl.",
    );
  });

  it("include those of other runs if a run is selected", () => {
    const two =
      createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], { run_id: "a" }) +
      createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], { run_id: "b" });
    expect(() => decodeRecording(two, FILE_NAME)).toThrow("To do: select one of a, b.");
    expect(decodeRecording(two, FILE_NAME, { runId: "b" }).run?.run_id).toBe("b");
    expect(decodeRecording(two, FILE_NAME, { runId: "b" }).cards).toHaveLength(12);
    expect(() => decodeRecording(two, FILE_NAME, { runId: "c" })).toThrow("run c not found");
  });
});

describe("an invalid line", () => {
  it("is rejected with the file, the line, and all violations", () => {
    const [run = "", card = ""] = createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).split(
      "\n",
    );
    const wrong = card
      .replace(`"dir":"out"`, `"dir":"up"`)
      .replace(`"turn":1`, `"turn":0`)
      .replace(`"sender"`, `"priority":1,"sender"`);
    expect(() => decodeRecording([run, wrong], FILE_NAME)).toThrow(
      /^run\.cards\.jsonl:2: .*dir must be one of out, in, relayed.*card\.priority is not a member of a card.*To do: /,
    );
  });

  it.each([
    ["run", "sample_ids", "gsm8k_0"],
    ["run", "model", { planner: 1 }],
    ["run", "evidence", "hope"],
    ["card", "mono_ms", "1"],
    ["card", "a2a", { task_id: 1 }],
    ["call", "usage", { input_tokens: 1 }],
    ["call", "duration_ms", -1],
    ["score", "correct", "yes"],
    ["score", "measures", { f1: "1" }],
    ["end", "status", "tired"],
    ["end", "at", "noon"],
  ])("is a line of kind %s whose %s is %j", (kind, member, value) => {
    const line = createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE])
      .split("\n")
      .find((text) => text.includes(`"kind":"${kind}"`));
    const json = { ...(JSON.parse(line ?? "") as object), [member]: value };
    expect(() => decodeRecordLine(JSON.stringify(json), "f:1")).toThrow(`f:1: ${member}`);
  });

  it("keeps unknown members", () => {
    const json = { ...decodeJanetLines()[0], mood: "good" };
    expect(decodeRecordLine(JSON.stringify(json), "f:1")).toEqual(json);
  });
});

describe("the lines of a record", () => {
  it("survive a round trip through a file", () => {
    fc.assert(
      fc.property(arbitraryCard, fc.constantFrom("out", "in", "relayed"), fc.nat(), (card, dir, seq) => {
        const line: RecordLine = {
          v: 1,
          kind: "card",
          run_id: "r",
          at: new Date(seq).toISOString(),
          seq,
          dir,
          at_role: card.sender,
          mono_ms: seq / 1_000,
          card,
        };
        const text = encodeRecordLine(line);
        expect(text.indexOf("\n")).toBe(text.length - 1);
        expect(decodeRecordLine(text, "f:1")).toEqual(JSON.parse(text));
        expect(encodeRecordLine(decodeRecordLine(text, "f:1") as RecordLine)).toBe(text);
      }),
    );
  });
});

describe("plain cards", () => {
  it("are exported in the format of the specification and imported as a recording", () => {
    const recording = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES);
    const cards = listCardsInSpecificationFormat(recording);
    expect(Object.keys(cards[0] ?? {})).toEqual([
      "sender",
      "recipient",
      "message_type",
      "content",
      "metadata",
      "timestamp",
    ]);
    const back = createRecordingFromCards(decodeMessageCardArray(JSON.stringify(cards), "cards.json"));
    expect(listDistinctRecordedCards(back)).toEqual(cards);
    expect(back.run).toBeUndefined();
    expect(computeCardTransitTimes(back.cards).map(({ sentMs: sent }) => sent)).toEqual(
      computeCardTransitTimes(recording.cards).map(({ sentMs: sent }) => sent),
    );
  });

  it("are rejected with the file and their position", () => {
    expect(() => decodeMessageCardArray("{", "cards.json")).toThrow("cards.json: invalid JSON");
    expect(() => decodeMessageCardArray("{}", "cards.json")).toThrow(
      "cards.json: the file does not contain an array",
    );
    expect(() => decodeMessageCardArray(`[{"sender":1}]`, "cards.json")).toThrow("cards.json, card 1: ");
  });
});

function decodeJanetLines(): RecordLine[] {
  return createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE])
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => decodeRecordLine(text, "f") as RecordLine);
}
