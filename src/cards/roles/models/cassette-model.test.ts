import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../protocol/index.ts";
import { runRoleInFakeTaskContext } from "../fake-task-context.fixture.ts";
import type { RoleModel } from "../role-model.ts";
import { createPlanner } from "../planner.ts";
import { createBaselineAnswerer, createSolver } from "../solver.ts";
import { toCanonicalJson } from "./cassette-model.ts";
import { createCassetteModel, type CassetteStore, createScriptedModel, type CassetteEntry } from "./index.ts";

function createMemoryCassette(): CassetteStore & { takes: Map<string, CassetteEntry> } {
  const takes = new Map<string, CassetteEntry>();
  return { takes, get: (key) => takes.get(key), put: (take) => void takes.set(take.key, take) };
}

const usage = { input_tokens: 3, output_tokens: 1, source: "reported" as const };
const createLiveModel = (...replies: string[]): RoleModel =>
  createScriptedModel(
    replies.map((text) => ({ text, usage })),
    { id: "openai:m", evidenceKind: "live-model" },
  );
const runSolver = (model: RoleModel, task = "1 + 1?") =>
  runRoleInFakeTaskContext(createSolver(), { task, model });

describe("a cassette", () => {
  it("replays a run with its usage without calling the model, independent of card ids and times", async () => {
    const store = createMemoryCassette();
    const planned = (model: RoleModel, ids: number) =>
      runRoleInFakeTaskContext(createPlanner(), {
        // Ids count from 1 in every run. Additional cards before the run change them.
        task: "How much?",
        sampleId: `sample_${ids}`,
        model,
        delegates: { solver: { role: createSolver(), model } },
      });
    const inner = createLiveModel(
      '{"action":"call_solver","subtask":"1 + 1?"}',
      "2",
      '{"action":"final_answer","answer":"2"}',
    );
    const first = await planned(createCassetteModel(store, { inner, mode: "record" }), 1);
    const second = await planned(createCassetteModel(store, { id: "openai:m", mode: "replay" }), 2);
    expect(second.run.cards.map(({ content }) => content)).toEqual(
      first.run.cards.map(({ content }) => content),
    );
    expect(second.run.usages).toEqual([usage, usage, usage]);
    expect(store.takes.size).toBe(3);
  });

  it("calls the model once in auto, always in record, and never in replay", async () => {
    const store = createMemoryCassette();
    const auto = createCassetteModel(store, { inner: createLiveModel("2", "3") });
    expect([(await runSolver(auto)).reply.content, (await runSolver(auto)).reply.content]).toEqual([
      "2",
      "2",
    ]);
    expect(
      (await runSolver(createCassetteModel(store, { inner: createLiveModel("3"), mode: "record" }))).reply
        .content,
    ).toBe("3");
    expect(
      (await runSolver(createCassetteModel(store, { inner: createLiveModel("4"), mode: "replay" }))).reply
        .content,
    ).toBe("3");
  });

  it("names the missing entry", async () => {
    const { reply } = await runSolver(
      createCassetteModel(createMemoryCassette(), { id: "openai:m", mode: "replay" }),
    );
    expect(reply.content).toMatch(
      /^The cassette has no entry [0-9a-f]{64} of openai:m for the solver, whose prompt ends with "Subtask: 1 \+ 1\?"\. Record it/,
    );
  });

  it("has an entry for each sample and for every part of the request", async () => {
    const store = createMemoryCassette();
    const inner = createLiveModel("Answer: 1");
    await runRoleInFakeTaskContext(createBaselineAnswerer({ style: "cot", samples: 3 }), {
      task: "?",
      model: createCassetteModel(store, { inner }),
    });
    expect(store.takes.size).toBe(3);
    for (const options of [
      { style: "cot", temperature: 0.5 },
      { style: "cot", seed: 1 },
      { style: "direct" },
    ] as const)
      await runRoleInFakeTaskContext(createBaselineAnswerer(options), {
        task: "?",
        model: createCassetteModel(store, { inner }),
      });
    await runRoleInFakeTaskContext(createBaselineAnswerer({ style: "cot" }), {
      task: "?",
      model: createCassetteModel(store, { inner, id: "other" }),
    });
    expect(store.takes.size).toBe(7);
  });

  it("reports the kind of evidence", () => {
    const store = createMemoryCassette();
    const inner = createLiveModel("2");
    expect(createCassetteModel(store, { inner, mode: "record" }).evidenceKind).toBe("live-model");
    expect(createCassetteModel(store, { inner }).evidenceKind).toBe("recorded-model");
    expect(createCassetteModel(store, { inner: createScriptedModel([]), mode: "replay" }).evidenceKind).toBe(
      "simulated",
    );
    expect(createCassetteModel(store, { id: "m", mode: "replay" }).evidenceKind).toBe("recorded-model");
  });

  it("does not store failures", async () => {
    const store = createMemoryCassette();
    await runSolver(createCassetteModel(store, { inner: createScriptedModel([new Error("429")]) }));
    expect(store.takes.size).toBe(0);
  });

  it("requires a model or its id", () => {
    expect(() => createCassetteModel(createMemoryCassette(), { mode: "replay" })).toThrow(
      "Set id to the id of the recorded model",
    );
    expect(() => createCassetteModel(createMemoryCassette(), { id: "m" })).toThrow(
      'mode "auto" requires the option inner',
    );
  });

  it("compares requests independent of the order of members", () => {
    expect(toCanonicalJson({ b: [1, { d: null, c: "x" }], a: true })).toBe(
      '{"a":true,"b":[1,{"c":"x","d":null}]}',
    );
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(toCanonicalJson(value as JsonValue))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
