import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGsm8kExampleCards } from "../message-card/message-card.fixture.ts";
import { type MessageCard, PLANNER } from "../message-card/index.ts";
import { createScriptedRecording } from "../recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
} from "../recording/scripted-samples.fixture.ts";
import { arbitraryHostileCard, CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT } from "./hostile-card.fixture.ts";
import { renderSequenceText } from "./index.ts";
import { measureColumns } from "./text-width.ts";

const arbitraryHostileCards = fc.array(arbitraryHostileCard, { minLength: 1, maxLength: 6 });

describe("sequence diagrams as text", () => {
  it("have an arrow to the recipient of each card, and the time since the previous card", () => {
    expect(
      renderSequenceText(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards, { width: 80 }),
    ).toBe(JANET_SEQUENCE_TEXT);
  });

  it("name the task of a reply if several tasks are open", () => {
    expect(
      renderSequenceText(createScriptedRecording([SCRIPTED_PARALLEL_TASKS_SAMPLE]).cards, { width: 80 }),
    ).toBe(PARALLEL_SEQUENCE_TEXT);
  });

  it("are aligned in Korean", () => {
    const [task] = createGsm8kExampleCards();
    const cards: MessageCard[] = [
      { ...task!, content: "어떤 방법을 사용할까요? 👩‍👩‍👧" },
      { ...task!, sender: "검증자", recipient: PLANNER, content: "좋아요" },
    ];
    expect(renderSequenceText(cards, { width: 60 })).toBe(KOREAN_SEQUENCE_TEXT);
  });

  it("fit the width if possible, and are aligned and harmless for every card", () => {
    fc.assert(
      fc.property(arbitraryHostileCards, fc.integer({ min: 80, max: 200 }), (cards, width) => {
        const roles = new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]));
        const drawn = renderSequenceText(cards, { width });
        expect(drawn).not.toMatch(CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT);
        const [, ...rows] = drawn.split("\n");
        expect(rows).toHaveLength(cards.length);
        // The times start in the same column of each row.
        expect(new Set(rows.map((row) => measureColumns(row.replace(/\S+$/, "")))).size).toBe(1);
        if ((roles.size + 1) * 16 + 29 <= width)
          expect(Math.max(...rows.map(measureColumns))).toBeLessThanOrEqual(width);
      }),
    );
  });
});

const JANET_SEQUENCE_TEXT = `
CONTROLLER                     PLANNER                      SOLVER
     │── 1 task "Janet's ducks… ─▶│                            │      0
     │                            │── 2 task "Calculate 16 … ─▶│      +0.82s
     │                            │◀╌╌╌╌╌╌╌╌╌╌╌ 3 result "9" ╌╌│      +0.47s
     │                            │── 4 task "Calculate dai… ─▶│      +0.72s
     │                            │◀╌╌╌╌╌╌╌╌╌ 5 result "$18" ╌╌│      +0.43s
     │◀╌╌╌╌╌╌╌╌╌╌ 6 result "18" ╌╌│                            │      +0.61s
`.slice(1, -1);
const PARALLEL_SEQUENCE_TEXT = `
CONTROLLER                     PLANNER                      SOLVER
     │── 1 task "A robe takes … ─▶│                            │      0
     │                            │── 2 task "How many bolt… ─▶│      +0.50s
     │                            │── 3 task "How many bolt… ─▶│      +0.00s
     │                            │── 4 task "Is anything l… ─▶│      +0.00s
     │                            │◀╌╌╌╌╌╌ 5 result to 2 "2" ╌╌│      +0.10s
     │                            │◀─ 6 query "Half of how … ──│      +0.05s
     │                            │◀╌ 7 result to 4 "Nothin… ╌╌│      +0.05s
     │                            │╌╌ 8 result "2 bolts" ╌╌╌╌╌▶│      +0.00s
     │                            │◀╌╌╌╌╌╌╌╌╌╌╌ 9 result "1" ╌╌│      +0.30s
     │◀╌╌╌╌╌╌╌╌╌╌ 10 result "3" ╌╌│                            │      +0.40s
`.slice(1, -1);
const KOREAN_SEQUENCE_TEXT = `
CONTROLLER           PLANNER            검증자
     │── 1 task "어… ──▶│                  │      0
     │                  │◀── 2 task "좋… ──│      +0.00s
`.slice(1, -1);
