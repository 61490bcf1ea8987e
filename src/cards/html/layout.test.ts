import { describe, expect, it } from "vitest";
import { JANET, PARALLEL, recorded, STOPPED } from "../record/record.fixture.ts";
import { criticalOf } from "./analysis.ts";
import { causesOf } from "./causes.ts";
import { dagLayout } from "./layout/dag.ts";
import { graphLayout } from "./layout/graph.ts";
import { sequenceLayout } from "./layout/sequence.ts";
import { timelineLayout } from "./layout/timeline.ts";
import { overviewOf } from "./overview.ts";
import { pageDataOf } from "./page-data.ts";
import { type PageSample, RunModel, type SeenCard } from "./run-model.ts";

const model = RunModel.of(pageDataOf(recorded(), "run"));
const sampleAt = (at: number): PageSample =>
  model.samples[at] ?? { id: "", cards: [], calls: [], score: undefined, version: 0 };
const sampleNamed = (id: string): PageSample => model.sample(id) ?? sampleAt(-1);
const janet = sampleNamed(JANET.id).cards;

describe("a sequence diagram", () => {
  it("has a line for each role and an arrow for each card, in the order of their sending", () => {
    const { roles, arrows, width, height } = sequenceLayout(janet, 900);
    expect(roles.map(({ name }) => name)).toEqual(["controller", "planner", "solver"]);
    expect(arrows.map(({ seen }) => seen)).toEqual(janet);
    const ys = arrows.map(({ y }) => y);
    expect(ys).toEqual(ys.toSorted((a, b) => a - b));
    for (const { from, to, y } of arrows) {
      expect(from).not.toBe(to);
      expect(Math.max(from, to)).toBeLessThan(width);
      expect(y).toBeLessThan(height);
    }
  });

  it("has a bar from each task to its reply", () => {
    const { bars, arrows } = sequenceLayout(janet, 900);
    const ys = arrows.map(({ y }) => y);
    expect(bars.map(({ top, bottom }) => [ys.indexOf(top), ys.indexOf(bottom)])).toEqual([
      [0, 5],
      [1, 2],
      [3, 4],
    ]);
  });
});

describe("a timeline", () => {
  it("keeps what overlaps in one lane apart, and all of it within the scale", () => {
    for (const { cards } of model.samples) {
      const { lanes } = timelineLayout(cards);
      for (const { spans, rows } of lanes)
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

  it("has round marks, few of them", () => {
    const { ticks, span } = timelineLayout(janet);
    expect(ticks).toEqual([0, 1000, 2000, 3000]);
    expect(span).toBeGreaterThan(3000);
  });
});

describe("the causes of cards", () => {
  it("are one chain where one card waits for the other", () => {
    const causes = causesOf(janet);
    expect(janet.map((seen) => (causes.get(seen) ?? []).map((cause) => janet.indexOf(cause)))).toEqual([
      [],
      [0],
      [1],
      [2],
      [3],
      [4],
    ]);
    expect([...criticalOf(sampleNamed(JANET.id), model)]).toEqual(janet);
  });

  it("fork into parallel tasks and come together again; the path goes through the slowest", () => {
    const { cards } = sampleNamed(PARALLEL.id);
    const causes = causesOf(cards);
    const nameOf = ({ card }: SeenCard): string =>
      card.metadata.card_id?.replace(`${PARALLEL.id}.`, "") ?? "";
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
    expect([...criticalOf(sampleNamed(PARALLEL.id), model)].map(nameOf)).toEqual([
      "q",
      "s2",
      "ask",
      "told",
      "r2",
      "10",
    ]);
  });

  it("of what is said while a task is stopped, are the stop", () => {
    const { cards } = sampleNamed(STOPPED.id);
    const causes = causesOf(cards);
    const stops = cards.filter(({ card }) => card.message_type === "control");
    expect(stops[1] && causes.get(stops[1])).toEqual([stops[0]]);
  });

  it("put a card below all that it came of", () => {
    for (const { cards } of model.samples) {
      const { nodes, edges } = dagLayout(cards);
      expect(nodes).toHaveLength(cards.length);
      for (const { from, to } of edges) expect(to.y).toBeGreaterThan(from.y);
      expect(new Set(nodes.map(({ x, y }) => `${x} ${y}`)).size).toBe(nodes.length);
    }
  });
});

describe("the graph of all problems", () => {
  it("has an edge for each two roles and direction", () => {
    const { edges } = overviewOf(model);
    const layout = graphLayout(edges);
    expect(layout.edges.map(({ edge }) => edge)).toEqual(edges);
    expect(edges.reduce((sum, { cards }) => sum + cards, 0)).toBe(model.cards);
  });
});
