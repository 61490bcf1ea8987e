import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ArtifactContentTracker, type NewArtifactContent } from "./artifact-content-tracker.ts";
import { getText, type Part } from "./message.ts";

const texts = (...values: string[]): Part[] => values.map((text) => ({ text }));

function readUpdates(...updates: { parts: Part[]; append?: boolean; id?: string }[]): NewArtifactContent[] {
  const tracker = new ArtifactContentTracker();
  return updates.map(({ parts, append, id = "a" }) =>
    tracker.addUpdate({ artifact: { artifactId: id, parts }, ...(append === undefined ? {} : { append }) }),
  );
}

describe("the new content of an artifact update", () => {
  it("is the rest if the last update repeats the artifact", () => {
    const updates = [
      { parts: texts("Hel") },
      { parts: texts("lo"), append: true },
      { parts: texts("Hello, ", "Ada") },
    ];
    expect(readUpdates(...updates)).toEqual([
      { parts: texts("Hel"), isContinuation: false },
      { parts: texts("lo"), isContinuation: true },
      { parts: texts(", ", "Ada"), isContinuation: true },
    ]);
    expect(readUpdates({ parts: texts("Hi") }, { parts: texts("Hi") })[1]).toEqual({
      parts: [],
      isContinuation: true,
    });
  });

  it("is the entire update if the update differs from the known content", () => {
    for (const whole of [texts("Hallo"), texts("He"), [], [{ data: 1 }]])
      expect(readUpdates({ parts: texts("Hello") }, { parts: whole })[1]).toEqual({
        parts: whole,
        isContinuation: false,
      });
  });

  it("does not depend on the metadata of texts", () => {
    const whole = [{ text: "Hello", metadata: { adk_thought_signature: "c2ln" } }];
    expect(readUpdates({ parts: texts("Hel") }, { parts: whole })[1]?.parts).toEqual([
      { text: "lo", metadata: { adk_thought_signature: "c2ln" } },
    ]);
  });

  it("does not repeat data parts", () => {
    const call = { data: { name: "f" } };
    expect(readUpdates({ parts: [call] }, { parts: [call, ...texts("done")] })[1]?.parts).toEqual(
      texts("done"),
    );
    expect(readUpdates({ parts: [call] }, { parts: texts("done") })[1]?.isContinuation).toBe(false);
  });

  it("is separate for each artifact, and excludes artifacts that the task already has", () => {
    const tracker = new ArtifactContentTracker();
    const status = { state: "TASK_STATE_WORKING" } as const;
    tracker.addKnownArtifacts({
      id: "t",
      contextId: "c",
      status,
      artifacts: [{ artifactId: "a", parts: texts("Hel") }],
    });
    const addUpdate = (artifactId: string) =>
      tracker.addUpdate({ artifact: { artifactId, parts: texts("Hello") } });
    expect(addUpdate("a").parts).toEqual(texts("lo"));
    expect(addUpdate("b")).toEqual({ parts: texts("Hello"), isContinuation: false });
  });

  it("does not change the update, which other readers share", () => {
    const first = Object.freeze(texts("a"));
    const tracker = new ArtifactContentTracker();
    tracker.addUpdate({ artifact: { artifactId: "a", parts: first as Part[] } });
    tracker.addUpdate({ artifact: { artifactId: "a", parts: texts("b") }, append: true });
    expect(first).toEqual(texts("a"));
  });

  it("compares many small parts in one pass, so that an agent cannot freeze its reader", () => {
    const parts = Array.from({ length: 200_000 }, (_, data): Part => ({ data }));
    const [, repeated] = readUpdates({ parts }, { parts: [...parts, { data: "new" }] });
    expect(repeated).toEqual({ parts: [{ data: "new" }], isContinuation: true });
  });

  it("joins to the whole, however the whole was cut", () => {
    const content = fc.array(
      fc.oneof(fc.record({ text: fc.string({ unit: "grapheme" }) }), fc.record({ data: fc.nat() })),
    );
    fc.assert(
      fc.property(content, content, fc.boolean(), (said, rest, endsWithWhole) => {
        const updates = said.map((part, at) => ({ parts: [part], append: at > 0 }));
        const last = endsWithWhole
          ? { parts: [...said, ...rest], append: false }
          : { parts: rest, append: true };
        const contents = readUpdates(...updates, last).map(({ parts }) => parts);
        expect(getText(contents.flat())).toBe(getText([...said, ...rest]));
        expect(contents.flat().filter((part) => "data" in part)).toEqual(
          [...said, ...rest].filter((part) => "data" in part),
        );
      }),
    );
  });
});
