import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SequenceItem } from "../../trace/index.ts";
import { alignSteps } from "./align-steps.ts";

const createStep = (label: string, kind: SequenceItem["kind"] = "events", to = "user"): SequenceItem =>
  ({
    kind,
    from: "agent",
    to,
    label,
    startMs: 0,
    endMs: 0,
    count: 1,
    isError: false,
    marks: [],
  }) as unknown as SequenceItem;
const listPairs = (first: readonly SequenceItem[], second: readonly SequenceItem[]): unknown[] =>
  alignSteps(first, second).map(({ first: a, second: b, isEqual }) => [a?.label, b?.label, isEqual]);

describe("two tasks side by side", () => {
  it("align equal messages, and show the messages of only one task", () => {
    const [a, b, c] = [createStep("a"), createStep("b", "state"), createStep("c")];
    expect(listPairs([a, b, c], [a, c])).toEqual([
      ["a", "a", true],
      ["b", undefined, false],
      ["c", "c", true],
    ]);
    expect(listPairs([a, c], [a, b, c])).toEqual([
      ["a", "a", true],
      [undefined, "b", false],
      ["c", "c", true],
    ]);
  });

  it("pair messages of the same kind between the same parties as a change", () => {
    expect(listPairs([createStep("3 events")], [createStep("4 events")])).toEqual([
      ["3 events", "4 events", false],
    ]);
    expect(listPairs([createStep("3 events")], [createStep("4 events", "events", "solver")])).toEqual([
      [undefined, "4 events", false],
      ["3 events", undefined, false],
    ]);
  });

  it("contain each message of both tasks once, in the order of its task", () => {
    const arbitrarySteps = fc.array(
      fc.record({
        label: fc.constantFrom("a", "b", "c"),
        kind: fc.constantFrom("state", "events", "request"),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(arbitrarySteps, arbitrarySteps, (one, other) => {
        const toSteps = (list: typeof one): SequenceItem[] =>
          list.map(({ label, kind }) => createStep(label, kind as SequenceItem["kind"]));
        const [first, second] = [toSteps(one), toSteps(other)];
        const aligned = alignSteps(first, second);
        expect(aligned.flatMap((step) => step.first ?? [])).toEqual(first);
        expect(aligned.flatMap((step) => step.second ?? [])).toEqual(second);
        for (const { first: a, second: b, isEqual } of aligned)
          if (isEqual) expect([a?.kind, a?.label]).toEqual([b?.kind, b?.label]);
      }),
    );
  });
});
