import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCard } from "../card/cards.fixture.ts";
import { generateFlowDiagram } from "../views/index.ts";
import {
  cardsOf,
  decodeCards,
  decodeLine,
  decodeRecording,
  doneSamples,
  encodeLine,
  exportSeed,
  momentsOf,
  recordingOfCards,
  samplesOf,
  type RecordLine,
} from "./index.ts";
import { JANET, manyScripts, recorded, recordedText, SCRIPTS } from "./record.fixture.ts";

const FILE = "run.cards.jsonl";

describe("a recording", () => {
  it("has every card once, in the order in which they were sent", () => {
    const recording = recorded([JANET]);
    expect(recording.cards).toHaveLength(12);
    expect(generateFlowDiagram(cardsOf(recording))).toBe(
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

  it("has a card of a role that is not ours as it arrived, or as it was relayed", () => {
    const foreign = recorded([JANET]).cards.filter(({ at_role }) => at_role !== "solver");
    expect(cardsOf({ cards: foreign })).toHaveLength(6);
    const relayed = recorded([JANET], { roles: ["controller"] }).cards;
    expect(cardsOf({ cards: relayed })).toHaveLength(2);
  });

  it("tells the problems of a run apart, also those that it has not reached", () => {
    const recording = recorded(SCRIPTS, { sample_ids: ["gsm8k_9", ...SCRIPTS.map(({ id }) => id)] });
    const samples = samplesOf(recording);
    expect(samples.map(({ id }) => id)).toEqual(["gsm8k_9", "gsm8k_0", "gsm8k_1", "gsm8k_2", "gsm8k_3"]);
    expect(samples[0]).toEqual({ id: "gsm8k_9", cards: [], lines: [], calls: [], score: undefined });
    expect(samples[1]).toMatchObject({ score: { correct: true, predicted: "18" }, cards: { length: 6 } });
    expect(samples[1]?.lines).toHaveLength(12);
    expect(samples[1]?.calls).toHaveLength(5);
    expect([...doneSamples(recording)]).toEqual(SCRIPTS.map(({ id }) => id));
  });

  it("knows when each card was sent, and when it arrived", () => {
    const moments = momentsOf(recorded([JANET]).cards);
    expect(moments.map(({ sent, arrived }) => [sent, arrived])).toEqual([
      [0, 1],
      [821, 822],
      [1292, 1293],
      [2013, 2014],
      [2444, 2445],
      [3055, 3056],
    ]);
  });

  it("is decoded in well under a second, 1,319 problems and all", () => {
    const text = recordedText(manyScripts(1_319));
    const start = performance.now();
    const recording = decodeRecording(text, FILE);
    // A fifth of that on a quiet machine.
    expect(performance.now() - start).toBeLessThan(1_000);
    expect(recording.scores).toHaveLength(1_319);
    expect(recording.cards).toHaveLength(1_319 * 12);
  });

  it("may come line by line", () => {
    const text = recordedText();
    expect(decodeRecording(text.split("\n"), FILE)).toEqual(decodeRecording(text, FILE));
  });
});

describe("a file that a killed writer left", () => {
  it("is read up to the torn line, which is reported", () => {
    const recording = recorded([JANET], { killedAfter: 4 });
    expect(recording.torn).toEqual([
      { file: FILE, line: 5, last: true, why: expect.stringContaining("JSON") as string },
    ]);
    expect(recording.cards).toHaveLength(2);
    expect(recording.ends).toEqual([]);
  });

  it("has the interrupted problem once after it was resumed, and remembers what was spent in vain", () => {
    // Two lines before the score of the second problem.
    const killed = recordedText(SCRIPTS.slice(0, 2), { killedAfter: 36 });
    expect([...doneSamples(decodeRecording(killed, FILE))]).toEqual(["gsm8k_0"]);
    const resumed = recordedText(SCRIPTS.slice(1), { sample_ids: SCRIPTS.map(({ id }) => id) });

    const recording = decodeRecording(`${killed}\n${resumed}`, FILE);
    const whole = recorded(SCRIPTS);
    expect(recording.torn).toMatchObject([{ line: 37, last: true }]);
    expect(samplesOf(recording).map(({ cards, calls }) => [cards.length, calls.length])).toEqual(
      samplesOf(whole).map(({ cards, calls }) => [cards.length, calls.length]),
    );
    expect(recording.abandoned.cards.every((line) => line.sample_id === "gsm8k_1")).toBe(true);
    expect(recording.abandoned.calls.length).toBeGreaterThan(3);
    expect(recording.scores).toHaveLength(4);
  });

  it("counts a problem that nobody went on with as far as it came", () => {
    const recording = recorded([JANET], { killedAfter: 11 });
    expect(recording.abandoned.cards).toEqual([]);
    expect(samplesOf(recording)[0]).toMatchObject({ score: undefined, cards: { length: 4 } });
  });

  it("may have a torn line elsewhere, which is told apart", () => {
    const [first = "", second = "", ...rest] = recordedText([JANET]).split("\n");
    const { torn } = decodeRecording([first, second.slice(0, 50), ...rest], FILE);
    expect(torn).toMatchObject([{ line: 2, last: false }]);
  });
});

describe("lines that are not ours", () => {
  it.each([
    `{"v":1,"kind":"thought","text":"hm"}`,
    `{"v":2,"kind":"card"}`,
    `{"some":"log"}`,
    "42",
    "",
    "\r",
  ])("are passed over: %j", (line) => {
    const text = recordedText([JANET]);
    expect(decodeRecording(`${line}\n${text}${line}\n`, FILE)).toEqual(decodeRecording(text, FILE));
  });

  it("make no recording by themselves", () => {
    expect(() => decodeRecording(`{"some":"log"}\n`, "app.log")).toThrow(
      "app.log: there is no line of a card record in it. To do: name a file that ends in .cards.jsonl.",
    );
  });

  it("are those of another run, when one is asked for", () => {
    const two = recordedText([JANET], { run_id: "a" }) + recordedText([JANET], { run_id: "b" });
    expect(() => decodeRecording(two, FILE)).toThrow("To do: ask for one of a, b.");
    expect(decodeRecording(two, FILE, { runId: "b" }).run?.run_id).toBe("b");
    expect(decodeRecording(two, FILE, { runId: "b" }).cards).toHaveLength(12);
    expect(() => decodeRecording(two, FILE, { runId: "c" })).toThrow("there is no run c in it");
  });
});

describe("a line that is not as it should be", () => {
  it("is refused with the file, the line and all that is wrong", () => {
    const [run = "", card = ""] = recordedText([JANET]).split("\n");
    const wrong = card
      .replace(`"dir":"out"`, `"dir":"up"`)
      .replace(`"turn":1`, `"turn":0`)
      .replace(`"sender"`, `"priority":1,"sender"`);
    expect(() => decodeRecording([run, wrong], FILE)).toThrow(
      /^run\.cards\.jsonl:2: .*dir must be one of out, in, relayed.*card\.priority is no member of a card.*To do: /,
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
    const line = recordedText([JANET])
      .split("\n")
      .find((text) => text.includes(`"kind":"${kind}"`));
    const json = { ...(JSON.parse(line ?? "") as object), [member]: value };
    expect(() => decodeLine(JSON.stringify(json), "f:1")).toThrow(`f:1: ${member}`);
  });

  it("keeps members that nobody knows", () => {
    const json = { ...lines()[0], mood: "good" };
    expect(decodeLine(JSON.stringify(json), "f:1")).toEqual(json);
  });
});

describe("the lines of a record", () => {
  it("come back from a file as they were", () => {
    fc.assert(
      fc.property(anyCard, fc.constantFrom("out", "in", "relayed"), fc.nat(), (card, dir, seq) => {
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
        const text = encodeLine(line);
        expect(text.indexOf("\n")).toBe(text.length - 1);
        expect(decodeLine(text, "f:1")).toEqual(JSON.parse(text));
        expect(encodeLine(decodeLine(text, "f:1") as RecordLine)).toBe(text);
      }),
    );
  });
});

describe("bare cards", () => {
  it("go out as the specification has them, and come back as a recording", () => {
    const recording = recorded(SCRIPTS);
    const cards = exportSeed(recording);
    expect(Object.keys(cards[0] ?? {})).toEqual([
      "sender",
      "recipient",
      "message_type",
      "content",
      "metadata",
      "timestamp",
    ]);
    const back = recordingOfCards(decodeCards(JSON.stringify(cards), "cards.json"));
    expect(cardsOf(back)).toEqual(cards);
    expect(back.run).toBeUndefined();
    expect(momentsOf(back.cards).map(({ sent }) => sent)).toEqual(
      momentsOf(recording.cards).map(({ sent }) => sent),
    );
  });

  it("are refused with the file and their place", () => {
    expect(() => decodeCards("{", "cards.json")).toThrow("cards.json: this is no JSON");
    expect(() => decodeCards("{}", "cards.json")).toThrow("cards.json: this is no list");
    expect(() => decodeCards(`[{"sender":1}]`, "cards.json")).toThrow("cards.json, card 1: ");
  });
});

function lines(): RecordLine[] {
  return recordedText([JANET])
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => decodeLine(text, "f") as RecordLine);
}
