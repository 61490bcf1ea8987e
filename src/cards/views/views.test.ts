import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createGsm8kExampleCards,
  createCardProtocolWithNumberedIds,
} from "../message-card/message-card.fixture.ts";
import { createScriptedRecording } from "../recording/recording.fixture.ts";
import { SCRIPTED_SEQUENTIAL_TASKS_SAMPLE } from "../recording/scripted-samples.fixture.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { defineCardType, type MessageCard, PLANNER, SOLVER } from "../message-card/index.ts";
import { generateFlowDiagram, visualizeCards } from "./index.ts";
import { arbitraryHostileCard, CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT } from "./hostile-card.fixture.ts";
import { fitToColumns, measureColumns, wrapText } from "./text-width.ts";

describe("the flow diagram", () => {
  it("equals that of the specification byte for byte", () => {
    expect(generateFlowDiagram(createGsm8kExampleCards())).toBe(
      `
1. CONTROLLER    → [TASK]    PLANNER
2. PLANNER       → [TASK]    SOLVER
3. SOLVER        ← [RESULT]  PLANNER
4. PLANNER       → [TASK]    SOLVER
5. SOLVER        ← [RESULT]  PLANNER
6. PLANNER       ← [RESULT]  CONTROLLER
`.trim(),
    );
  });

  it("uses the symbol of a custom type, and a default for unknown types", () => {
    const [card] = createGsm8kExampleCards();
    const cards = [{ ...card!, message_type: "verdict" }];
    expect(generateFlowDiagram(cards)).toBe("1. CONTROLLER    • [MSG]     PLANNER");
    const types = [defineCardType("verdict", { metadata: {}, symbol: "✓ [OK]" })];
    expect(generateFlowDiagram(cards, { types })).toBe("1. CONTROLLER    ✓ [OK]      PLANNER");
  });

  it("has one line for each card, for arbitrary cards", () => {
    fc.assert(
      fc.property(fc.array(arbitraryHostileCard, { minLength: 1 }), (cards) => {
        expect(generateFlowDiagram(cards).split("\n")).toHaveLength(cards.length);
        expect(generateFlowDiagram(cards)).not.toMatch(CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT);
      }),
    );
  });
});

describe("boxes", () => {
  it("name documents by their titles, and describe failed tries in a phrase", () => {
    const [task] = createGsm8kExampleCards();
    const document = (title: string): JsonObject => ({ title, sentences: [`A long text about ${title}.`] });
    const card: MessageCard = {
      ...task!,
      metadata: {
        context: { documents: [document("Inception"), document("London")], language: "en" },
        failed_tries: [
          { reason: "model_error", error: "slow down", http_status: 429, wait_ms: 2_000 },
          { reason: "unusable_reply", error: "no JSON", wait_ms: 0, text: "Well" },
        ],
      },
    };
    const text = visualizeCards([card], { width: 200 });
    expect(text).toContain('context=2 documents: Inception | London {"language":"en"}');
    expect(text).toContain(
      "failed_tries=model_error 429: slow down (repeated after 2 s) | unusable_reply: no JSON",
    );
    expect(text).not.toContain("A long text");
    const contexts: [JsonObject, string][] = [
      [{ documents: [document("Inception")] }, "1 document: Inception"],
      [{ documents: [1, 2] }, "2 documents"],
      [{ documents: "none" }, '{"documents":"none"}'],
      [{ language: "en" }, '{"language":"en"}'],
    ];
    for (const [context, expected] of contexts)
      expect(visualizeCards([{ ...task!, metadata: { context } }], { width: 200 })).toContain(
        `context=${expected} `,
      );
  });

  it("are aligned in Korean", () => {
    const card = createCardProtocolWithNumberedIds().createQueryCard({
      from: PLANNER,
      to: SOLVER,
      query: "어떤 방법을 사용할까요?",
      options: ["방법A", "방법B"],
    });
    expect(visualizeCards([card], { width: 56 })).toBe(
      `
┌ 1 QUERY  planner → solver ───────────── 10:30:01.000 ┐
│ 어떤 방법을 사용할까요?                              │
│ · options=방법A | 방법B                              │
└──────────────────────────────────────────────────────┘
`.trim(),
    );
  });

  it("show tokens and the number of the answered card, but no IDs", () => {
    const boxes = visualizeCards(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards, {
      width: 72,
    });
    expect(boxes.split("\n").slice(4, 8).join("\n")).toBe(
      `
┌ 2 TASK  planner → solver ────────────────────────────── 10:30:00.821 ┐
│ Calculate 16 eggs - 3 eaten - 4 muffins                              │
│ · turn=1  forced  820 ms  model=scripted  tokens=213 (182 in, 31     │
│ out)  re=1                                                           │
`.trim(),
    );
    expect(boxes).not.toContain("gsm8k_0.");
  });

  it("are aligned and harmless for every card and every width", () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryHostileCard, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 40, max: 120 }),
        (cards, width) => {
          const drawn = visualizeCards(cards, { width });
          expect(new Set(drawn.split("\n").map(measureColumns))).toEqual(new Set([width]));
          expect(drawn).not.toMatch(CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT);
        },
      ),
    );
  });
});

describe("the colors of boxes", () => {
  it("are optional, depend on the card type, and do not change the width", () => {
    const cards = createGsm8kExampleCards();
    const colored = visualizeCards(cards, { colors: true });
    expect(visualizeCards(cards)).not.toContain("\u001b");
    expect(colored).toContain("\u001b[36m┌ 1 TASK  controller → planner");
    expect(stripVTControlCharacters(colored)).toBe(visualizeCards(cards));
  });
});

describe("the plain list", () => {
  it("equals that of the specification's tool", () => {
    const [task, , result] = createGsm8kExampleCards();
    expect(visualizeCards([task!, { ...result!, content: "9".repeat(104) }], { style: "classic" })).toBe(
      EXPECTED_CLASSIC_LIST,
    );
  });

  it("has at least four lines for each card, and no line written by a card", () => {
    fc.assert(
      fc.property(fc.array(arbitraryHostileCard, { minLength: 1, maxLength: 3 }), (cards) => {
        const list = visualizeCards(cards, { style: "classic" });
        expect(list).not.toMatch(CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT);
        const lines = list.split("\n");
        expect(lines.filter((line) => /^\[Card \d+\] \S+$/.test(line))).toHaveLength(cards.length);
        expect(lines.every((line) => /^( {2}|\[Card|=+$|A2A CARD|Total Cards: |$)/.test(line))).toBe(true);
      }),
    );
  });
});

describe("the width of a text", () => {
  it.each([
    ["abc", 3],
    ["방법", 4],
    ["日本", 4],
    ["é", 1],
    ["ｶﾞ", 2],
    [" ﾟ", 2],
    ["👩‍👩‍👧", 2],
    ["🇰🇷", 2],
    ["\u200b", 0],
    ["→…─", 3],
  ])("%s is %i", (text, width) => {
    expect(measureColumns(text)).toBe(width);
  });

  it("limits and pads a text without splitting characters", () => {
    expect(fitToColumns("방법", 3)).toBe("방…");
    expect(fitToColumns("방법", 2)).toBe("… ");
    expect(fitToColumns("방법", 6)).toBe("방법  ");
    expect(wrapText("a bc def\n방법을", 4)).toEqual(["a bc", "def", "방법", "을"]);
  });
});

const EQUALS_LINE = "=".repeat(80);
const DASHES_LINE = "-".repeat(76);
const EXPECTED_CLASSIC_LIST = `${EQUALS_LINE}
A2A CARD COMMUNICATION FLOW
${EQUALS_LINE}

[Card 1] 2025-01-15T10:30:01.000Z
  From: CONTROLLER
  To:   PLANNER
  Type: TASK
  Task: Janet's ducks lay 16 eggs per day...
  Metadata: {"card_id":"c1","dataset":"gsm8k"}
  ${DASHES_LINE}

[Card 2] 2025-01-15T10:30:03.000Z
  From: SOLVER
  To:   PLANNER
  Type: RESULT
  Status: success
  Result: ${"9".repeat(100)}...
  Metadata: {"card_id":"c3","turn":1,"tokens":120,"status":"success"}
  ${DASHES_LINE}
${EQUALS_LINE}
Total Cards: 2
${EQUALS_LINE}`;
