import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SequenceItem } from "../model/traffic-sequence.ts";
import { alignTaskSequences, MAX_ALIGNED_MESSAGES } from "./compare-tasks.ts";

const createMessage = (label: string, kind: SequenceItem["kind"] = "events", to = "user"): SequenceItem =>
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
  alignTaskSequences(first, second).map(({ first: a, second: b, isEqual }) => [a?.label, b?.label, isEqual]);

describe("two tasks side by side", () => {
  it("align equal messages, and show the messages of only one task", () => {
    const [a, b, c] = [createMessage("a"), createMessage("b", "state"), createMessage("c")];
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
    expect(listPairs([createMessage("3 events")], [createMessage("4 events")])).toEqual([
      ["3 events", "4 events", false],
    ]);
    expect(listPairs([createMessage("3 events")], [createMessage("4 events", "events", "solver")])).toEqual([
      [undefined, "4 events", false],
      ["3 events", undefined, false],
    ]);
  });

  it("are limited to the first messages", () => {
    const many = Array.from({ length: MAX_ALIGNED_MESSAGES + 5 }, (_, at) => createMessage(`${at}`));
    const aligned = alignTaskSequences(many, many.slice(1));
    expect(aligned).toHaveLength(MAX_ALIGNED_MESSAGES + 1);
    expect(aligned.filter(({ isEqual }) => !isEqual)).toHaveLength(2);
  });

  it("contain each message of both tasks once, in the order of its task", () => {
    const messages = fc.array(
      fc.record({
        label: fc.constantFrom("a", "b", "c"),
        kind: fc.constantFrom("state", "events", "request"),
      }),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(messages, messages, (one, other) => {
        const toMessages = (list: typeof one): SequenceItem[] =>
          list.map(({ label, kind }) => createMessage(label, kind as SequenceItem["kind"]));
        const [first, second] = [toMessages(one), toMessages(other)];
        const aligned = alignTaskSequences(first, second);
        expect(aligned.flatMap((pair) => pair.first ?? [])).toEqual(first);
        expect(aligned.flatMap((pair) => pair.second ?? [])).toEqual(second);
        for (const { first: a, second: b, isEqual } of aligned)
          if (isEqual) expect([a?.kind, a?.label]).toEqual([b?.kind, b?.label]);
      }),
    );
  });
});
