import { describe, expect, it } from "vitest";
import { createGsm8kExampleCards } from "../message-card/message-card.fixture.ts";
import { createScriptedRecording } from "../recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_TURN_LIMIT_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  type ScriptedSample,
  SCRIPTED_TIMEOUT_SAMPLE,
} from "../recording/scripted-samples.fixture.ts";
import { buildDelegations, type Delegation } from "./index.ts";

function listRoots(script: ScriptedSample): Delegation[] {
  return buildDelegations(createScriptedRecording([script]).cards);
}

/** Formats a delegation as text: task, reply, and subtasks. */
function summarizeDelegation(one: Delegation): unknown {
  const said = [one.task.content, one.reply?.content, ...one.relatedCards.map(({ content }) => content)];
  return one.subtasks.length > 0 ? [...said, one.subtasks.map(summarizeDelegation)] : said;
}

describe("delegations", () => {
  it("form a tree with the tasks of the solver below that of the planner", () => {
    expect(listRoots(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE).map(summarizeDelegation)).toEqual([
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
    expect(buildDelegations(bare).map(shape)).toEqual([
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
    const [root] = listRoots(SCRIPTED_PARALLEL_TASKS_SAMPLE);
    expect(root?.subtasks.map(summarizeDelegation)).toEqual([
      ["How many bolts of blue?", "2"],
      ["How many bolts of white?", "1", "Half of how many?", "2 bolts"],
      ["Is anything lost in cutting?", "Nothing"],
    ]);
  });

  it("do not treat notices and control cards as replies", () => {
    expect(
      listRoots(SCRIPTED_TURN_LIMIT_SAMPLE).map(({ reply, relatedCards: asides }) => [
        reply?.content,
        ...asides.map(({ content }) => content),
      ]),
    ).toEqual([["50000", "2 turns were not enough"]]);
    const [root] = listRoots(SCRIPTED_TIMEOUT_SAMPLE);
    expect(root?.relatedCards.map(({ content }) => content)).toEqual(["stop"]);
    expect(root?.subtasks.map(summarizeDelegation)).toEqual([
      ["How many sprints?", "Stopped before there was an answer", "stop"],
    ]);
  });

  it("are open without a reply", () => {
    const cards = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards.slice(0, 4);
    const [root] = buildDelegations(cards);
    expect(root?.reply).toBeUndefined();
    expect(root?.subtasks.map(({ reply }) => reply?.content)).toEqual(["9", undefined]);
  });
});
