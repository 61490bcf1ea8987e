import { describe, expect, it } from "vitest";
import { createScriptedRecording } from "../../../../cards/recording/recording.fixture.ts";
import { SCRIPTED_SEQUENTIAL_TASKS_SAMPLE } from "../../../../cards/recording/scripted-samples.fixture.ts";
import { nestActivations } from "../../flow/sequence-layout.ts";
import { buildCardSequence } from "./card-drawings.ts";
import { buildCardRunData, RunModel } from "./run-model.ts";

const model = RunModel.fromRunData(buildCardRunData(createScriptedRecording(), "run"));
const janetCards = model.findSample(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE.id)?.timedCards ?? [];

describe("a sequence diagram", () => {
  it("has a lifeline for each role and an arrow for each card, in the order of their sending", () => {
    const { participants, messages } = buildCardSequence(janetCards);
    expect(participants).toEqual(["controller", "planner", "solver"]);
    expect(messages.map(({ from, to, label }) => [from, to, label])).toEqual(
      janetCards.map(({ card }) => [card.sender, card.recipient, card.content]),
    );
  });

  it("has a bar from each task to its reply", () => {
    const { activations } = buildCardSequence(janetCards);
    expect(activations.map(({ fromRow, toRow }) => [fromRow, toRow])).toEqual([
      [1, 2],
      [3, 4],
      [0, 5],
    ]);
  });

  it("moves overlapping bars of a participant apart", () => {
    const bar = (fromRow: number, toRow: number, participant = "solver") => ({ participant, fromRow, toRow });
    expect(
      nestActivations([bar(4, 6), bar(1, 4), bar(2, 9), bar(2, 3, "planner")]).map(({ fromRow, depth }) => [
        fromRow,
        depth,
      ]),
    ).toEqual([
      [1, 0],
      [2, 1],
      [2, 0],
      [4, 0],
    ]);
  });
});
