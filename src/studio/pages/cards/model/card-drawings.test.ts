import { describe, expect, it } from "vitest";
import { createScriptedRecording } from "../../../../cards/recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  SCRIPTED_TIMEOUT_SAMPLE,
} from "../../../../cards/recording/scripted-samples.fixture.ts";
import { computeGraphLayout } from "../../flow/graph-layout.ts";
import { nestActivations } from "../../flow/sequence-layout.ts";
import { computeTimelineLayout, type TimelineLayout } from "../../flow/timeline-layout.ts";
import { buildCardRunData } from "../card-run-data.ts";
import { buildCardGraph, buildCardSequence, buildCardTimeline, buildRoleGraph } from "./card-drawings.ts";
import { computeCardCauses } from "./card-causes.ts";
import { type PageSample, RunModel, type PageCard } from "./run-model.ts";
import { summarizeRun } from "./run-statistics.ts";
import { analyzeCriticalPathAndFindings, collectCriticalCards } from "./sample-critical-path-and-findings.ts";

const model = RunModel.fromRunData(buildCardRunData(createScriptedRecording(), "run"));
const getSampleAt = (at: number): PageSample =>
  model.samples[at] ?? { id: "", cards: [], calls: [], score: undefined, skip: undefined, version: 0 };
const getSampleById = (id: string): PageSample => model.findSample(id) ?? getSampleAt(-1);
const janet = getSampleById(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE.id);
const janetCards = janet.cards;
const layOutTimeline = (sample: PageSample): TimelineLayout => {
  const { criticalPath } = analyzeCriticalPathAndFindings(sample, model);
  const { works, lanes, endMs } = buildCardTimeline(sample.cards, criticalPath);
  return computeTimelineLayout(works, lanes, endMs);
};

describe("a sequence diagram", () => {
  it("has a lifeline for each role and an arrow for each card, in the order of their sending", () => {
    const { participants, messages } = buildCardSequence(janetCards, new Set());
    expect(participants).toEqual(["controller", "planner", "solver"]);
    expect(messages.map(({ from, to, label }) => [from, to, label])).toEqual(
      janetCards.map(({ card }) => [card.sender, card.recipient, card.content]),
    );
  });

  it("has a bar from each task to its reply", () => {
    const { activations } = buildCardSequence(janetCards, new Set());
    expect(activations.map(({ fromRow, toRow }) => [fromRow, toRow])).toEqual([
      [0, 5],
      [1, 2],
      [3, 4],
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

describe("a timeline", () => {
  it("separates overlapping bars of a lane and keeps them within the scale", () => {
    for (const sample of model.samples)
      for (const { bars, rowCount } of layOutTimeline(sample).lanes)
        for (const [at, span] of bars.entries()) {
          expect(span.row).toBeLessThan(rowCount);
          expect(span.start).toBeGreaterThanOrEqual(0);
          expect(span.start + span.length).toBeLessThanOrEqual(1 + 1e-9);
          const before = bars.slice(0, at).filter(({ row }) => row === span.row);
          for (const other of before)
            expect(other.start + other.length).toBeLessThanOrEqual(span.start + 1e-9);
        }
  });

  it("has a few marks at round times", () => {
    const { ticks, totalMs } = layOutTimeline(janet);
    expect(ticks).toEqual([0, 1000, 2000, 3000]);
    expect(totalMs).toBeGreaterThan(3000);
  });

  it("marks the thinking of a parallel turn as critical, although another card of the turn reports it", () => {
    const sample = getSampleById(SCRIPTED_PARALLEL_TASKS_SAMPLE.id);
    const { criticalPath } = analyzeCriticalPathAndFindings(sample, model);
    const { works } = buildCardTimeline(sample.cards, criticalPath);
    // The first of three task cards reports the planner's work. The path continues with the second card.
    const thinking = works.find(({ lane, fromMs, toMs }) => lane === "planner" && toMs > fromMs);
    expect(thinking).toMatchObject({ key: "2", isCritical: true });
    expect(works.filter(({ lane }) => lane === "solver").some(({ isCritical }) => !isCritical)).toBe(true);
  });
});

describe("the causes of cards", () => {
  it("form one chain if each card waits for the previous card", () => {
    const causes = computeCardCauses(janetCards);
    expect(
      janetCards.map((seen) => (causes.get(seen) ?? []).map((cause) => janetCards.indexOf(cause))),
    ).toEqual([[], [0], [1], [2], [3], [4]]);
    expect([...collectCriticalCards(getSampleById(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE.id), model)]).toEqual(
      janetCards,
    );
  });

  it("fork into parallel tasks and join again, with the critical path through the slowest task", () => {
    const { cards } = getSampleById(SCRIPTED_PARALLEL_TASKS_SAMPLE.id);
    const causes = computeCardCauses(cards);
    const nameOf = ({ card }: PageCard): string =>
      card.metadata.card_id?.replace(`${SCRIPTED_PARALLEL_TASKS_SAMPLE.id}.`, "") ?? "";
    expect(
      Object.fromEntries(cards.map((seen) => [nameOf(seen), (causes.get(seen) ?? []).map(nameOf)])),
    ).toEqual({
      q: [],
      s1: ["q"],
      s2: ["q"],
      s3: ["q"],
      r1: ["s1"],
      ask: ["s2"],
      told: ["ask"],
      r2: ["told"],
      r3: ["s3"],
      "10": ["r1", "r3", "r2"],
    });
    expect(
      [...collectCriticalCards(getSampleById(SCRIPTED_PARALLEL_TASKS_SAMPLE.id), model)].map(nameOf),
    ).toEqual(["q", "s2", "ask", "told", "r2", "10"]);
  });

  it("of cards after a stop are the stop", () => {
    const { cards } = getSampleById(SCRIPTED_TIMEOUT_SAMPLE.id);
    const causes = computeCardCauses(cards);
    const stops = cards.filter(({ card }) => card.message_type === "control");
    expect(stops[1] && causes.get(stops[1])).toEqual([stops[0]]);
  });

  it("place a card below all its causes", () => {
    for (const { cards } of model.samples) {
      const { nodes: cardNodes, edges: causeEdges } = buildCardGraph(cards, new Set());
      const options = { nodeWidth: 220, nodeHeight: 66, direction: "down" } as const;
      const { nodes } = computeGraphLayout(cardNodes, causeEdges, options);
      expect(nodes).toHaveLength(cards.length);
      const tops = new Map(nodes.map(({ node, y }) => [node.key, y]));
      for (const { from, to } of causeEdges) expect(tops.get(to)).toBeGreaterThan(tops.get(from) ?? Infinity);
      expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
    }
  });
});

describe("the graph of all problems", () => {
  it("has an edge for each pair of roles and each direction", () => {
    const { roleEdges } = summarizeRun(model);
    const { nodes, edges } = buildRoleGraph(roleEdges);
    expect(nodes.map(({ key }) => key)).toEqual(["controller", "planner", "solver"]);
    expect(edges.map(({ from, to }) => [from, to])).toEqual(roleEdges.map(({ from, to }) => [from, to]));
    expect(roleEdges.reduce((sum, { cardCount }) => sum + cardCount, 0)).toBe(model.cardCount);
  });
});
