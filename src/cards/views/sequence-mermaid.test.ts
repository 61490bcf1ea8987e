import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCharacter } from "../../../test/support/arbitrary-character.ts";
import { arbitraryCard, createGsm8kExampleCards } from "../message-card/message-card.fixture.ts";
import { type MessageCard, parseCardTime } from "../message-card/index.ts";
import { createScriptedRecording } from "../recording/recording.fixture.ts";
import {
  SCRIPTED_HOTPOTQA_SAMPLE,
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_TURN_LIMIT_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  SCRIPTED_TIMEOUT_SAMPLE,
} from "../recording/scripted-samples.fixture.ts";
import { CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT } from "./hostile-card.fixture.ts";
import { renderSequenceMermaid } from "./index.ts";
import { countRuns } from "../../../test/support/count-runs.ts";

/** A statement as parsed by Mermaid. */
interface ParsedStatement {
  readonly from?: string;
  readonly to?: string;
  readonly message?: unknown;
  readonly type: number;
}

interface MermaidParser {
  /** Loads the diagram types for the parser. */
  parse(text: string): Promise<unknown>;
  readonly mermaidAPI: {
    getDiagramFromText(
      text: string,
    ): Promise<{ db: { getMessages(): ParsedStatement[]; getActorKeys(): string[] } }>;
  };
}

/** Mermaid as loaded by a browser. Its parser for sequence diagrams needs no document. */
function loadMermaid(): MermaidParser {
  const context = createContext({ structuredClone, URL, setTimeout, console });
  runInContext(readFileSync(new URL(import.meta.resolve("@mermaid-js/tiny")), "utf8"), context);
  return (context as { mermaid: MermaidParser }).mermaid;
}

const mermaid = loadMermaid();

async function parseDiagram(diagram: string): Promise<{ statements: ParsedStatement[]; actors: string[] }> {
  await mermaid.parse(diagram);
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(diagram);
  return { statements: db.getMessages(), actors: db.getActorKeys() };
}

describe("the Mermaid diagram", () => {
  it("has the roles, and an arrow for each card", () => {
    expect(renderSequenceMermaid(createGsm8kExampleCards().slice(0, 3))).toBe(`sequenceDiagram
    autonumber
    participant p1 as controller
    participant p2 as planner
    participant p3 as solver
    p1->>p2: [TASK] Janet's ducks lay 16 eggs per day...
    p2->>p3: [TASK] Calculate 16 eggs - 3 eaten - 4 muffins
    p3-->>p2: [RESULT] 9 (120 tok)
`);
  });

  it("numbers the tasks of replies while several tasks are open", () => {
    const parallel = createScriptedRecording([SCRIPTED_PARALLEL_TASKS_SAMPLE]).cards;
    expect(renderSequenceMermaid(parallel).split("\n").slice(6, -1).join("\n")).toBe(
      EXPECTED_PARALLEL_DIAGRAM,
    );
  });

  it.each([
    SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
    SCRIPTED_HOTPOTQA_SAMPLE,
    SCRIPTED_PARALLEL_TASKS_SAMPLE,
    SCRIPTED_TURN_LIMIT_SAMPLE,
    SCRIPTED_TIMEOUT_SAMPLE,
  ])("is parsed by Mermaid: $id", async (script) => {
    const cards = createScriptedRecording([script]).cards;
    const { statements } = await parseDiagram(renderSequenceMermaid(cards));
    const arrows = statements.filter(
      ({ from, to, type }) => from !== undefined && to !== undefined && type !== 2,
    );
    expect(arrows).toHaveLength(cards.length);
  });

  it("escapes text of cards that would end a line or start markup", () => {
    const [card] = createGsm8kExampleCards();
    const diagram = renderSequenceMermaid([{ ...card!, content: "a;b\n#<script>%%{init: {}}%% $$x$$" }]);
    expect(diagram).toContain(
      "[TASK] a#59;b<br/>#35;#60;script#62;#37;#37;#123;init#58; #123;#125;#125;#37;#37; #36;#36;x#36;#36;\n",
    );
  });

  it("truncates long contents, because Mermaid rejects long diagrams", () => {
    const [card] = createGsm8kExampleCards();
    expect(renderSequenceMermaid([{ ...card!, content: "🦆".repeat(100_000) }]).length).toBeLessThan(1_000);
  });

  it("is parsed with exactly one arrow for each card, for arbitrary cards", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryMermaidCard, { minLength: 1, maxLength: 6 }), async (cards) => {
        const roles = [...new Set(cards.flatMap(({ sender, recipient }) => [sender, recipient]))];
        const diagram = renderSequenceMermaid(cards);
        expect(diagram).not.toMatch(CHARACTERS_FORBIDDEN_IN_VIEW_OUTPUT);
        const { statements, actors } = await parseDiagram(diagram);
        expect(actors).toEqual(roles.map((_, at) => `p${at + 1}`));
        const rest = statements.filter(({ type }) => !NOTE_STATEMENT_TYPES.has(type));
        const ids = cards.map(
          ({ sender, recipient }) => `p${roles.indexOf(sender) + 1} p${roles.indexOf(recipient) + 1}`,
        );
        expect(rest.map(({ from, to }) => `${from} ${to}`).toSorted()).toEqual(ids.toSorted());
      }),
      { numRuns: countRuns(20, 100) },
    );
  });
});

/** Statement types of Mermaid that are not arrows: notes and autonumber. */
const NOTE_STATEMENT_TYPES: ReadonlySet<number> = new Set([2, 26]);

/** Texts that Mermaid interprets as syntax. */
const arbitraryMermaidSyntax = fc.constantFrom(
  "end",
  "\nend\n",
  "%%{init: {'theme': 'forest'}}%%",
  "%% x",
  "---\ntitle: x\n---",
  "wrap: x",
  "nowrap:x",
  "$$x^2$$",
  "`**x**`",
  "a;b",
  "#59;",
  "&amp;",
  "<script>alert(1)</script>",
  "<br/>",
  "->>+p1: x",
  "\r\nparticipant evil",
  "\u2028r1->>p2: x",
  'links p1: {"a": "javascript:alert(1)"}',
  "@{ shape: x }",
  "box red\n",
);

const arbitraryMermaidCard: fc.Arbitrary<MessageCard> = fc
  .tuple(
    arbitraryCard,
    fc.array(fc.oneof(arbitraryMermaidSyntax, fc.string({ unit: arbitraryCharacter, maxLength: 5 })), {
      maxLength: 5,
    }),
  )
  .map(([card, texts]) => ({
    ...card,
    content: texts.join(""),
    ...(card.message_type > "Z" && { message_type: "query", metadata: { ...card.metadata, options: texts } }),
  }))
  .filter((card) => !Number.isNaN(parseCardTime(card)));

const EXPECTED_PARALLEL_DIAGRAM = `    p2->>p3: [TASK] How many bolts of blue? (260 tok)
    p2->>p3: [TASK] How many bolts of white?
    p2->>p3: [TASK] Is anything lost in cutting?
    p3-->>p2: [RESULT to 2] 2 (64 tok)
    p3->>p2: [QUERY] Half of how many? (79 tok)
    Note over p3,p2: 2 bolts | 1 bolt
    p3-->>p2: [RESULT to 4] Nothing (57 tok)
    p2-->>p3: [RESULT] 2 bolts (85 tok)
    p3-->>p2: [RESULT] 1 (93 tok)
    p2-->>p1: [RESULT] 3 (272 tok)`;
