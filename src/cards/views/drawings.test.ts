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
import { renderSequenceText, renderSequenceSvg } from "./index.ts";
import { measureColumns } from "./text-width.ts";

const arbitraryHostileCards = fc.array(arbitraryHostileCard, { minLength: 1, maxLength: 6 });

describe("sequence diagrams as text", () => {
  it("have an arrow to the recipient of each card, and the time since the previous card", () => {
    expect(
      renderSequenceText(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards, { width: 80 }),
    ).toBe(JANET_SEQUENCE_TEXT);
  });

  it("name the task of a reply if several tasks were pending", () => {
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

describe("the drawings in SVG", () => {
  it("have a line for each role, and an arrow with its content for each card", () => {
    const svg = renderSequenceSvg(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards);
    expect(svg.match(/class="life"/g)).toHaveLength(3);
    expect(svg.match(/class="head"/g)).toHaveLength(6);
    expect(svg).toContain("<title>planner to solver, task: Calculate 16 eggs - 3 eaten - 4 muffins</title>");
    expect(svg).toContain(`aria-label="Cards between controller, planner, solver"`);
    expect(svg).toContain("3. solver to planner, result: 9\n");
    expect(svg).toContain("@media(prefers-color-scheme:dark)");
  });

  it("show the period of each task", () => {
    // One bar of the planner, and three parallel bars of the solver.
    expect(
      renderSequenceSvg(createScriptedRecording([SCRIPTED_PARALLEL_TASKS_SAMPLE]).cards).match(
        /class="busy"/g,
      ),
    ).toHaveLength(4);
  });

  it("are the same for the same cards", () => {
    const cards = createScriptedRecording().cards;
    expect(renderSequenceSvg(cards)).toBe(renderSequenceSvg(structuredClone(cards)));
  });

  it("contain only our elements, for arbitrary cards", () => {
    expect(parseSvgElements(renderSequenceSvg(createScriptedRecording().cards))).toContain("tspan");
    fc.assert(
      fc.property(arbitraryHostileCards, (cards) => {
        const svg = renderSequenceSvg(cards);
        expect(svg).not.toMatch(CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT);
        const arrows = parseSvgElements(svg).filter((name) => name === "g");
        expect(arrows).toHaveLength(cards.length);
      }),
    );
  });
});

const TAG_PATTERN = /<(\/?)([a-zA-Z]+)((?: [a-zA-Z0-9-]+="[^"<>&]*(?:&#\d+;[^"<>&]*)*")*)(\/?)>/y;
const TEXT_PATTERN = /(?:[^<>&]|&#\d+;)+/y;
const ALLOWED_ELEMENTS = new Set("svg title desc style rect line path text tspan g".split(" "));
const ALLOWED_ATTRIBUTES = new Set(
  "xmlns class role aria-label width height viewBox x y x1 y1 x2 y2 rx d style text-anchor".split(" "),
);

/** Parses a drawing as strict XML. Throws on any element, attribute, or text that we do not create. */
function parseSvgElements(svg: string): string[] {
  const names: string[] = [];
  const open: string[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(svg);
    at += found?.[0].length ?? 0;
    return found;
  };
  while (at < svg.length) {
    const tag = take(TAG_PATTERN);
    if (!tag) {
      if (!take(TEXT_PATTERN)) throw new Error(`This is no drawing of ours: ${svg.slice(at, at + 80)}`);
      continue;
    }
    const [, closes, name = "", attributes = "", isEmpty] = tag;
    if (!ALLOWED_ELEMENTS.has(name)) throw new Error(`There is an element ${name}.`);
    for (const [, attribute = ""] of attributes.matchAll(/ ([a-zA-Z0-9-]+)="/g)) {
      if (!ALLOWED_ATTRIBUTES.has(attribute)) throw new Error(`There is an attribute ${attribute}.`);
    }
    if (closes) expect(open.pop()).toBe(name);
    else names.push(name);
    if (!closes && !isEmpty) open.push(name);
  }
  expect(open).toEqual([]);
  return names;
}

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
     │                            │◀╌╌╌╌╌╌ 9 result to 3 "1" ╌╌│      +0.30s
     │◀╌╌╌╌╌╌╌╌╌╌ 10 result "3" ╌╌│                            │      +0.40s
`.slice(1, -1);
const KOREAN_SEQUENCE_TEXT = `
CONTROLLER           PLANNER            검증자
     │── 1 task "어… ──▶│                  │      0
     │                  │◀── 2 task "좋… ──│      +0.00s
`.slice(1, -1);
