import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../protocol/index.ts";
import { runRole } from "../desk.fixture.ts";
import type { RoleModel } from "../model.ts";
import { createPlanner } from "../planner/index.ts";
import { createAnswerer, createSolver } from "../solver/index.ts";
import { stable } from "./cassette.ts";
import { cassette, type CassetteStore, scripted, type Take } from "./index.ts";

function tape(): CassetteStore & { takes: Map<string, Take> } {
  const takes = new Map<string, Take>();
  return { takes, get: (key) => takes.get(key), put: (take) => void takes.set(take.key, take) };
}

const usage = { input_tokens: 3, output_tokens: 1, source: "reported" as const };
const live = (...replies: string[]): RoleModel =>
  scripted(
    replies.map((text) => ({ text, usage })),
    { id: "openai:m", evidence: "live-model" },
  );
const solve = (model: RoleModel, task = "1 + 1?") => runRole(createSolver(), { task, model });

describe("a cassette", () => {
  it("replays a run with its usage, without asking the model, whatever ids and times the cards have", async () => {
    const store = tape();
    const planned = (model: RoleModel, ids: number) =>
      runRole(createPlanner(), {
        // Ids count from 1 in every run; some cards before make them others.
        task: "How much?",
        sampleId: `sample_${ids}`,
        model,
        colleagues: { solver: { role: createSolver(), model } },
      });
    const inner = live(
      '{"action":"call_solver","subtask":"1 + 1?"}',
      "2",
      '{"action":"final_answer","answer":"2"}',
    );
    const first = await planned(cassette(store, { inner, mode: "record" }), 1);
    const second = await planned(cassette(store, { id: "openai:m", mode: "replay" }), 2);
    expect(second.run.cards.map(({ content }) => content)).toEqual(
      first.run.cards.map(({ content }) => content),
    );
    expect(second.run.spent).toEqual([usage, usage, usage]);
    expect(store.takes.size).toBe(3);
  });

  it("in auto asks once, in record every time, in replay never", async () => {
    const store = tape();
    const auto = cassette(store, { inner: live("2", "3") });
    expect([(await solve(auto)).reply.content, (await solve(auto)).reply.content]).toEqual(["2", "2"]);
    expect((await solve(cassette(store, { inner: live("3"), mode: "record" }))).reply.content).toBe("3");
    expect((await solve(cassette(store, { inner: live("4"), mode: "replay" }))).reply.content).toBe("3");
  });

  it("names what it has no take of", async () => {
    const { reply } = await solve(cassette(tape(), { id: "openai:m", mode: "replay" }));
    expect(reply.content).toMatch(
      /^The cassette has no take [0-9a-f]{64} of openai:m for the solver, that was told "Subtask: 1 \+ 1\?"; record it/,
    );
  });

  it("has a take for each sample, and for all that a reply may hang on", async () => {
    const store = tape();
    const inner = live("Answer: 1");
    await runRole(createAnswerer({ style: "cot", samples: 3 }), {
      task: "?",
      model: cassette(store, { inner }),
    });
    expect(store.takes.size).toBe(3);
    for (const options of [
      { style: "cot", temperature: 0.5 },
      { style: "cot", seed: 1 },
      { style: "direct" },
    ] as const)
      await runRole(createAnswerer(options), { task: "?", model: cassette(store, { inner }) });
    await runRole(createAnswerer({ style: "cot" }), {
      task: "?",
      model: cassette(store, { inner, id: "other" }),
    });
    expect(store.takes.size).toBe(7);
  });

  it("says what its answers are worth", () => {
    const store = tape();
    const inner = live("2");
    expect(cassette(store, { inner, mode: "record" }).evidence).toBe("live-model");
    expect(cassette(store, { inner }).evidence).toBe("recorded-model");
    expect(cassette(store, { inner: scripted([]), mode: "replay" }).evidence).toBe("simulated");
    expect(cassette(store, { id: "m", mode: "replay" }).evidence).toBe("recorded-model");
  });

  it("does not keep what failed", async () => {
    const store = tape();
    await solve(cassette(store, { inner: scripted([new Error("429")]) }));
    expect(store.takes.size).toBe(0);
  });

  it("needs a model or its name", () => {
    expect(() => cassette(tape(), { mode: "replay" })).toThrow("needs the id of the one that was recorded");
    expect(() => cassette(tape(), { id: "m" })).toThrow("mode auto needs a model to ask: inner");
  });

  it("knows equal requests by their values, not by the order of members", () => {
    expect(stable({ b: [1, { d: null, c: "x" }], a: true })).toBe('{"a":true,"b":[1,{"c":"x","d":null}]}');
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(stable(value as JsonValue))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
