import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyCard, janet } from "../card/cards.fixture.ts";
import { cardsOf } from "../record/index.ts";
import {
  JANET,
  OUT_OF_TURNS,
  PARALLEL,
  recorded,
  type Script,
  SCRIPTS,
  STOPPED,
} from "../record/record.fixture.ts";
import { type Delegation, exchangesOf, type Exchange, spansOf } from "./index.ts";
import { allOf } from "./exchanges.ts";

function only(script: Script): Exchange {
  const [exchange] = exchangesOf(recorded([script]));
  if (!exchange) throw new Error("The script has no card.");
  return exchange;
}

/** A delegation in words: what was asked, what came back, and below it the same. */
function told(one: Delegation): unknown {
  const said = [one.task.content, one.reply?.content, ...one.asides.map(({ card }) => card.content)];
  return one.subtasks.length > 0 ? [...said, one.subtasks.map(told)] : said;
}

describe("who gave what to whom", () => {
  it("is a tree: the planner's task, with the solver's below it", () => {
    const { roots, loose } = only(JANET);
    expect(loose).toEqual([]);
    expect(roots.map(told)).toEqual([
      [
        "Janet's ducks lay 16 eggs per day...",
        "18",
        [
          ["Calculate 16 eggs - 3 eaten - 4 muffins", "9"],
          ["Calculate daily income: 9 eggs * $2", "$18"],
        ],
      ],
    ]);
  });

  it("is found without ids too, as the specification's cards have none", () => {
    const bare = janet().map((card) => ({ ...card, metadata: {} }));
    const shape = (one: Delegation): unknown => [
      one.task.content,
      one.reply?.content,
      one.subtasks.map(shape),
    ];
    expect(exchangesOf(bare).flatMap(({ roots }) => roots.map(shape))).toEqual([
      [
        "Janet's ducks lay 16 eggs per day...",
        "18",
        [
          ["Calculate 16 eggs - 3 eaten - 4 muffins", "9", []],
          ["Calculate daily income: 9 eggs * $2", "$18", []],
        ],
      ],
    ]);
  });

  it("keeps apart what ran at the same time, with the queries of each", () => {
    const [root] = only(PARALLEL).roots;
    expect(root?.subtasks.map(told)).toEqual([
      ["How many bolts of blue?", "2"],
      ["How many bolts of white?", "1", "Half of how many?", "2 bolts"],
      ["Is anything lost in cutting?", "Nothing"],
    ]);
  });

  it("has notices and commands beside the reply, not for it", () => {
    expect(
      only(OUT_OF_TURNS).roots.map(({ reply, asides }) => [
        reply?.content,
        ...asides.map(({ card }) => card.content),
      ]),
    ).toEqual([["50000", "2 turns were not enough"]]);
    const [root] = only(STOPPED).roots;
    expect(root?.asides.map(({ card }) => card.content)).toEqual(["stop"]);
    expect(root?.subtasks.map(told)).toEqual([
      ["How many sprints?", "Stopped before there was an answer", "stop"],
    ]);
  });

  it("is left open where no reply came", () => {
    const cards = cardsOf(recorded([JANET])).slice(0, 4);
    const [root] = exchangesOf(cards).flatMap(({ roots }) => roots);
    expect(root?.reply).toBeUndefined();
    expect(root?.subtasks.map(({ reply }) => reply?.content)).toEqual(["9", undefined]);
  });
});

describe("who worked when", () => {
  it("is one span for each card that came of work, from the sender's own measure", () => {
    expect(
      only(JANET)
        .roots.flatMap((root) => allOf([root]).flatMap(({ spans }) => spans))
        .toSorted((a, b) => a.start - b.start)
        .map(({ role, start, end, measured }) => [role, start, end, measured]),
    ).toEqual([
      ["planner", 1, 821, true],
      ["solver", 822, 1292, true],
      ["planner", 1293, 2013, true],
      ["solver", 2014, 2444, true],
      ["planner", 2445, 3055, true],
    ]);
  });

  it("is guessed from the times of the cards where nobody measured", () => {
    expect(spansOf(janet()).map(({ role, start, end, measured }) => [role, start, end, measured])).toEqual([
      ["planner", 0, 1000, false],
      ["solver", 1000, 2000, false],
      ["planner", 2000, 3000, false],
      ["solver", 3000, 4000, false],
      ["planner", 4000, 5000, false],
    ]);
  });

  it("lies within the task, one after the other, whatever is on the cards", () => {
    const anyRun = fc.oneof(
      fc.array(related, { maxLength: 12 }),
      fc.constantFrom(...SCRIPTS).map((script) => cardsOf(recorded([script]))),
    );
    fc.assert(
      fc.property(anyRun, (cards) => {
        const exchanges = exchangesOf(cards);
        for (const { begun, done, sent, answered, spans } of allOf(exchanges.flatMap(({ roots }) => roots))) {
          expect(sent).toBeLessThanOrEqual(begun);
          expect(done).toBeLessThanOrEqual(answered);
          let at = begun;
          for (const { start, end } of spans) {
            expect(start).toBeGreaterThanOrEqual(at);
            expect(end).toBeGreaterThanOrEqual(start);
            at = end;
          }
          expect(at).toBeLessThanOrEqual(done);
        }
      }),
    );
  });
});

/** Cards of few roles that often reply to each other. */
const related = fc
  .tuple(
    anyCard,
    fc.record({
      sender: fc.constantFrom("controller", "planner", "solver"),
      recipient: fc.constantFrom("controller", "planner", "solver"),
      message_type: fc.constantFrom("task", "result", "query", "control", "error", "verdict"),
      timestamp: fc.integer({ min: 0, max: 9_000 }).map((ms) => new Date(ms).toISOString()),
    }),
    fc.record(
      {
        card_id: fc.constantFrom("a", "b", "c", "d", "e"),
        in_reply_to: fc.constantFrom("a", "b", "c", "d", "e"),
        duration_ms: fc.integer({ min: 0, max: 5_000 }),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([card, ends, metadata]) => ({ ...card, ...ends, metadata }));
