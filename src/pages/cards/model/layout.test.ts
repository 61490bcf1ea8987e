import { describe, expect, it } from "vitest";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  createScriptedRecording,
  SCRIPTED_TIMEOUT_SAMPLE,
} from "../recording/recording.fixture.ts";
import { collectCriticalCards } from "./sample-critical-path-and-findings.ts";
import { computeCardCauses } from "./card-causes.ts";
import { computeDagLayout } from "./layout/dag-layout.ts";
import { computeRoleGraphLayout } from "./layout/role-graph-layout.ts";
import { computeSequenceLayout } from "./layout/sequence-layout.ts";
import { computeTimelineLayout } from "./layout/timeline-layout.ts";
import { summarizeRun } from "./run-statistics.ts";
import { buildCardRunData } from "./card-run-data.ts";
import { type PageSample, RunModel, type PageCard } from "./run-model.ts";

const model = RunModel.fromRunData(buildCardRunData(createScriptedRecording(), "run"));
const getSampleAt = (at: number): PageSample =>
  model.samples[at] ?? { id: "", cards: [], calls: [], score: undefined, skip: undefined, version: 0 };
const getSampleById = (id: string): PageSample => model.findSample(id) ?? getSampleAt(-1);
const janetCards = getSampleById(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE.id).cards;

describe("a sequence diagram", () => {
  it("has a line for each role and an arrow for each card, in the order of their sending", () => {
    const { roles, arrows, width, height } = computeSequenceLayout(janetCards, 900);
    expect(roles.map(({ name }) => name)).toEqual(["controller", "planner", "solver"]);
    expect(arrows.map(({ pageCard: seen }) => seen)).toEqual(janetCards);
    const ys = arrows.map(({ y }) => y);
    expect(ys).toEqual(ys.toSorted((a, b) => a - b));
    for (const { from, to, y } of arrows) {
      expect(from).not.toBe(to);
      expect(Math.max(from, to)).toBeLessThan(width);
      expect(y).toBeLessThan(height);
    }
  });

  it("has a bar from each task to its reply", () => {
    const { bars, arrows } = computeSequenceLayout(janetCards, 900);
    const ys = arrows.map(({ y }) => y);
    expect(bars.map(({ top, bottom }) => [ys.indexOf(top), ys.indexOf(bottom)])).toEqual([
      [0, 5],
      [1, 2],
      [3, 4],
    ]);
  });
});

describe("a timeline", () => {
  it("separates overlapping bars of a lane and keeps them within the scale", () => {
    for (const { cards } of model.samples) {
      const { lanes } = computeTimelineLayout(cards);
      for (const { bars: spans, rowCount: rows } of lanes)
        for (const [at, span] of spans.entries()) {
          expect(span.row).toBeLessThan(rows);
          expect(span.start).toBeGreaterThanOrEqual(0);
          expect(span.start + span.length).toBeLessThanOrEqual(1 + 1e-9);
          const before = spans.slice(0, at).filter(({ row }) => row === span.row);
          for (const other of before)
            expect(other.start + other.length).toBeLessThanOrEqual(span.start + 1e-9);
        }
    }
  });

  it("has a few marks at round times", () => {
    const { ticks, totalMs: span } = computeTimelineLayout(janetCards);
    expect(ticks).toEqual([0, 1000, 2000, 3000]);
    expect(span).toBeGreaterThan(3000);
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
      const { nodes, edges } = computeDagLayout(cards);
      expect(nodes).toHaveLength(cards.length);
      for (const { from, to } of edges) expect(to.y).toBeGreaterThan(from.y);
      expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
    }
  });
});

describe("the graph of all problems", () => {
  it("has an edge for each pair of roles and each direction", () => {
    const { roleEdges: edges } = summarizeRun(model);
    const layout = computeRoleGraphLayout(edges);
    expect(layout.edges.map(({ edge }) => edge)).toEqual(edges);
    expect(edges.reduce((sum, { cardCount: cards }) => sum + cards, 0)).toBe(model.cardCount);
  });
});
