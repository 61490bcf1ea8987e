import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryCard, createGsm8kExampleCards } from "../message-card/message-card.fixture.ts";
import { listDistinctRecordedCards } from "../recording/index.ts";
import { createScriptedRecording } from "../recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_TURN_LIMIT_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  type ScriptedSample,
  SCRIPTED_GSM8K_SAMPLES,
  SCRIPTED_TIMEOUT_SAMPLE,
} from "../recording/scripted-samples.fixture.ts";
import {
  type Delegation,
  buildSampleDelegationForests,
  type SampleDelegationForest,
  listWorkSpans,
} from "./index.ts";
import { flattenDelegations } from "./sample-delegation-forests.ts";

function getSingleExchange(script: ScriptedSample): SampleDelegationForest {
  const [exchange] = buildSampleDelegationForests(createScriptedRecording([script]));
  if (!exchange) throw new Error("The script has no card.");
  return exchange;
}

/** Formats a delegation as text: task, reply, and subtasks. */
function summarizeDelegation(one: Delegation): unknown {
  const said = [one.task.content, one.reply?.content, ...one.relatedCards.map(({ card }) => card.content)];
  return one.subtasks.length > 0 ? [...said, one.subtasks.map(summarizeDelegation)] : said;
}

describe("delegations", () => {
  it("form a tree with the tasks of the solver below that of the planner", () => {
    const { roots, unassigned: loose } = getSingleExchange(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE);
    expect(loose).toEqual([]);
    expect(roots.map(summarizeDelegation)).toEqual([
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

  it("are also found without IDs, as in the cards of the specification", () => {
    const bare = createGsm8kExampleCards().map((card) => ({ ...card, metadata: {} }));
    const shape = (one: Delegation): unknown => [
      one.task.content,
      one.reply?.content,
      one.subtasks.map(shape),
    ];
    expect(buildSampleDelegationForests(bare).flatMap(({ roots }) => roots.map(shape))).toEqual([
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

  it("separate parallel tasks with their queries", () => {
    const [root] = getSingleExchange(SCRIPTED_PARALLEL_TASKS_SAMPLE).roots;
    expect(root?.subtasks.map(summarizeDelegation)).toEqual([
      ["How many bolts of blue?", "2"],
      ["How many bolts of white?", "1", "Half of how many?", "2 bolts"],
      ["Is anything lost in cutting?", "Nothing"],
    ]);
  });

  it("do not treat notices and control cards as replies", () => {
    expect(
      getSingleExchange(SCRIPTED_TURN_LIMIT_SAMPLE).roots.map(({ reply, relatedCards: asides }) => [
        reply?.content,
        ...asides.map(({ card }) => card.content),
      ]),
    ).toEqual([["50000", "2 turns were not enough"]]);
    const [root] = getSingleExchange(SCRIPTED_TIMEOUT_SAMPLE).roots;
    expect(root?.relatedCards.map(({ card }) => card.content)).toEqual(["stop"]);
    expect(root?.subtasks.map(summarizeDelegation)).toEqual([
      ["How many sprints?", "Stopped before there was an answer", "stop"],
    ]);
  });

  it("are open without a reply", () => {
    const cards = listDistinctRecordedCards(
      createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]),
    ).slice(0, 4);
    const [root] = buildSampleDelegationForests(cards).flatMap(({ roots }) => roots);
    expect(root?.reply).toBeUndefined();
    expect(root?.subtasks.map(({ reply }) => reply?.content)).toEqual(["9", undefined]);
  });
});

describe("work spans", () => {
  it("have one span for each card with the duration that its sender reported", () => {
    expect(
      getSingleExchange(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE)
        .roots.flatMap((root) => flattenDelegations([root]).flatMap(({ workSpans: spans }) => spans))
        .toSorted((a, b) => a.start - b.start)
        .map(({ role, start, end, isMeasured: measured }) => [role, start, end, measured]),
    ).toEqual([
      ["planner", 1, 821, true],
      ["solver", 822, 1292, true],
      ["planner", 1293, 2013, true],
      ["solver", 2014, 2444, true],
      ["planner", 2445, 3055, true],
    ]);
  });

  it("are derived from card times without reported durations", () => {
    expect(
      listWorkSpans(createGsm8kExampleCards()).map(({ role, start, end, isMeasured: measured }) => [
        role,
        start,
        end,
        measured,
      ]),
    ).toEqual([
      ["planner", 0, 1000, false],
      ["solver", 1000, 2000, false],
      ["planner", 2000, 3000, false],
      ["solver", 3000, 4000, false],
      ["planner", 4000, 5000, false],
    ]);
  });

  it("lie within the task and do not overlap, for arbitrary cards", () => {
    const anyRun = fc.oneof(
      fc.array(arbitraryRelatedCard, { maxLength: 12 }),
      fc
        .constantFrom(...SCRIPTED_GSM8K_SAMPLES)
        .map((script) => listDistinctRecordedCards(createScriptedRecording([script]))),
    );
    fc.assert(
      fc.property(anyRun, (cards) => {
        const exchanges = buildSampleDelegationForests(cards);
        for (const {
          startMs: begun,
          doneMs: done,
          sentMs: sent,
          answeredMs: answered,
          workSpans: spans,
        } of flattenDelegations(exchanges.flatMap(({ roots }) => roots))) {
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

/** Arbitrary cards of few roles that often reply to each other. */
const arbitraryRelatedCard = fc
  .tuple(
    arbitraryCard,
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
