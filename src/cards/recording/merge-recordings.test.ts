import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CardLine,
  listDistinctRecordedCards,
  decodeRecording,
  mergeRecordings,
  computeCardTransitTimes,
  type NamedRecording,
  type Recording,
  collectRecordedSamples,
} from "./index.ts";
import { createScriptedRecording, createScriptedRecordFileText } from "./recording.fixture.ts";
import { SCRIPTED_GSM8K_SAMPLES } from "./scripted-samples.fixture.ts";

const ROLES = ["controller", "planner", "solver"] as const;

/** Creates the recording of a role's process: without the run line, and with its own clocks. */
function createRoleRecording(role: string, { skew = 0, origin = 0 } = {}): NamedRecording {
  const file = `${role}.cards.jsonl`;
  const lines = createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { roles: [role] })
    .split("\n")
    .filter((text) => role === "controller" || /"kind":"(card|call)"/.test(text))
    .map((text) => {
      if (!text.includes(`"mono_ms"`)) return text;
      const line = JSON.parse(text) as CardLine;
      const at = new Date(Date.parse(line.at) + skew).toISOString();
      return JSON.stringify({ ...line, at, mono_ms: line.mono_ms + origin });
    });
  return { file, recording: decodeRecording(lines, file) };
}

const listCardIds = (recording: Recording): unknown[] =>
  listDistinctRecordedCards(recording).map(({ metadata }) => metadata["card_id"]);

describe("recordings of one run by several processes", () => {
  it("merge into the recording that one process would have written", () => {
    const merged = mergeRecordings(
      ROLES.map((role, index) => createRoleRecording(role, { origin: index * 5_000 })),
    );
    const whole = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES);
    expect(listCardIds(merged)).toEqual(listCardIds(whole));
    expect(
      computeCardTransitTimes(merged.cards).map(({ sentMs: sent, arrivedMs: arrived }) => [sent, arrived]),
    ).toEqual(
      computeCardTransitTimes(whole.cards).map(({ sentMs: sent, arrivedMs: arrived }) => [sent, arrived]),
    );
    expect(merged.run).toEqual(whole.run);
    expect(merged.scores).toEqual(whole.scores);
    expect(merged.calls).toHaveLength(whole.calls.length);
  });

  it("are aligned by the wall clocks of their processes, in any order of the files", () => {
    const origin = fc.integer({ min: 0, max: 1e6 });
    const whole = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES);
    fc.assert(
      fc.property(
        origin,
        origin,
        fc.shuffledSubarray([...ROLES], { minLength: 3 }),
        (planner, solver, order) => {
          const files = {
            controller: createRoleRecording("controller"),
            planner: createRoleRecording("planner", { origin: planner }),
            solver: createRoleRecording("solver", { origin: solver }),
          };
          expect(listCardIds(mergeRecordings(order.map((role) => files[role])))).toEqual(listCardIds(whole));
        },
      ),
    );
  });

  it("show no card that arrives before it is sent, although the clocks of two machines differ", () => {
    const merged = mergeRecordings([
      createRoleRecording("controller"),
      createRoleRecording("planner", { skew: 90_000 }),
      createRoleRecording("solver", { skew: -90_000 }),
    ]);
    for (const { sentMs, arrivedMs } of computeCardTransitTimes(merged.cards))
      expect(arrivedMs).toBeGreaterThanOrEqual(sentMs);
  });

  it("exclude the work on an attempt that the file of the controller marks as interrupted", () => {
    const ids = SCRIPTED_GSM8K_SAMPLES.map(({ id }) => id);
    const again = (text: string): string => text.replaceAll("gsm8k_1.", "gsm8k_1-again.");
    const first = (roles: string[]): string =>
      createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES.slice(0, 2), { roles, sample_ids: ids });
    const second = (roles: string[]): string =>
      again(createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES.slice(1), { roles, sample_ids: ids }));
    // The controller was killed before the reply arrived. The planner and the solver continued.
    const killed = first(["controller"])
      .split("\n")
      .filter((line) => !/gsm8k_1.*"(dir":"in"|kind":"score)|"kind":"end"/.test(line))
      .filter((line) => !(line.includes(`"kind":"score"`) && line.includes("gsm8k_1")))
      .join("\n");
    const bare = (text: string): string =>
      text
        .split("\n")
        .filter((line) => /"kind":"(card|call)"/.test(line))
        .join("\n");
    const controller = decodeRecording(`${killed}${second(["controller"])}`, "controller");
    expect(controller.abandoned.cards).toHaveLength(1);
    const others = ["planner", "solver"];
    const roles = decodeRecording(`${bare(first(others))}\n${bare(second(others))}`, "roles");
    expect(roles.abandoned.cards).toEqual([]);

    const merged = mergeRecordings([
      { file: "controller", recording: controller },
      { file: "roles", recording: roles },
    ]);
    expect(collectRecordedSamples(merged).map(({ cards, calls }) => [cards.length, calls.length])).toEqual(
      collectRecordedSamples(createScriptedRecording(SCRIPTED_GSM8K_SAMPLES)).map(({ cards, calls }) => [
        cards.length,
        calls.length,
      ]),
    );
    expect(merged.abandoned.cards.every(({ sample_id }) => sample_id === "gsm8k_1")).toBe(true);
    expect(merged.abandoned.calls).toHaveLength(7);
  });
});

describe("a role that was restarted", () => {
  it("has a new clock, which is aligned with the first one", () => {
    const [first = "", ...rest] = createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { roles: ["solver"] })
      .split("\n")
      .filter((line) => line.includes(`"kind":"card"`));
    const restarted = rest.map((text, index) => {
      const line = JSON.parse(text) as CardLine;
      return JSON.stringify({ ...line, seq: index + 1, mono_ms: line.mono_ms - 500 });
    });
    const whole = decodeRecording([first, ...rest], "solver").cards.map(({ mono_ms }) => mono_ms);
    const { cards, abandoned } = decodeRecording([first, ...restarted], "solver");
    expect(cards.map(({ mono_ms }) => mono_ms)).toEqual(whole);
    expect(abandoned.cards).toEqual([]);
  });
});
