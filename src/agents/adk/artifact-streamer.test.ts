import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../engine/index.ts";
import {
  type Artifact,
  type ArtifactEnding,
  fold,
  isEventRefusal,
  type JsonObject,
  type Part,
  type Task,
  getText,
} from "../../protocol/index.ts";
import { ArtifactStreamer } from "./artifact-streamer.ts";

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

function createIdCounter(): () => string {
  let count = 0;
  return () => `A${++count}`;
}

interface StreamerFixture {
  artifacts: ArtifactStreamer;
  events: ArtifactEvent[];
  record: (event: ArtifactEvent | undefined) => void;
  /** Returns the artifact, content, and flags of each event. */
  listRecorded: () => unknown[];
}

/** By default, every partial event arrives in a new frame. */
function createStreamerFixture(frameMs = 20, ending: ArtifactEnding = "pieces"): StreamerFixture {
  const events: ArtifactEvent[] = [];
  let now = 0;
  return {
    artifacts: new ArtifactStreamer(createIdCounter(), () => (now += frameMs), ending),
    events,
    record: (event) => {
      if (event) events.push(event);
    },
    listRecorded: () =>
      events.map(({ artifact, append, lastChunk }) => [
        artifact.artifactId,
        artifact.parts.map((part) => ("text" in part ? part.text : part)),
        [append && "append", lastChunk && "last"].filter(Boolean).join(" "),
      ]),
  };
}

const createTextParts = (value: string): Part[] => [{ text: value }];
const createThoughtPart = (value: string): Part => ({ text: value, metadata: { adk_thought: true } });
const getEmptyMetadata = (): JsonObject => ({});

/** Returns the task that a conforming A2A client computes from the events. */
function foldTask(events: readonly ArtifactEvent[]): Task {
  let task: Task = { id: "T", contextId: "C", status: { state: "TASK_STATE_WORKING" } };
  for (const event of events) {
    const next = fold(task, { artifactUpdate: { taskId: "T", contextId: "C", ...event } });
    if (isEventRefusal(next)) throw new Error(next.refusalReason);
    task = next;
  }
  return task;
}

describe("the partial events of a chain, in pieces", () => {
  it("become chunks, and the complete event ends the artifact without repetition [V21, J2]", () => {
    const { artifacts, events, listRecorded: said, record: tell } = createStreamerFixture();
    for (const piece of ["Hello, ", "wor", "ld!"])
      tell(artifacts.addPartsOfPartialEvent("a", createTextParts(piece), getEmptyMetadata, false));
    tell(artifacts.addPartsOfCompleteEvent("a", createTextParts("Hello, world!"), {}));
    expect(said()).toEqual([
      ["A1", ["Hello, "], ""],
      ["A1", ["wor"], "append"],
      ["A1", ["ld!"], "append last"],
    ]);
    expect(events[0]?.artifact).not.toHaveProperty("metadata");
    expect(foldTask(events).artifacts).toEqual([{ artifactId: "A1", parts: [{ text: "Hello, world!" }] }]);
  });

  it("are followed by the additional content of the complete event", () => {
    const { artifacts, listRecorded: said, record: tell } = createStreamerFixture();
    const call = { data: { name: "f" } };
    for (const piece of ["a", "b"])
      tell(artifacts.addPartsOfPartialEvent("x", createTextParts(piece), getEmptyMetadata, false));
    tell(artifacts.addPartsOfCompleteEvent("x", [{ text: "a" }, { text: "bc" }, call], {}));
    expect(said()).toEqual([
      ["A1", ["a"], ""],
      ["A1", ["bc", call], "append last"],
    ]);
  });

  it("are replaced by a different complete event [V37]", () => {
    const { artifacts, listRecorded: said, record: tell } = createStreamerFixture();
    tell(artifacts.addPartsOfPartialEvent("a", [createThoughtPart("Thinking")], getEmptyMetadata, false));
    tell(artifacts.addPartsOfPartialEvent("a", [createThoughtPart("...")], getEmptyMetadata, false));
    tell(artifacts.addPartsOfCompleteEvent("a", createTextParts("Done"), {}));
    expect(said()).toEqual([
      ["A1", ["Thinking"], ""],
      ["A1", ["Done"], "last"],
    ]);
  });

  it("are replaced by a complete event with other data [V37]", () => {
    const { artifacts, events, record } = createStreamerFixture();
    for (const part of [{ data: { code: 1 } }, { text: "so" }])
      record(artifacts.addPartsOfPartialEvent("a", [part], getEmptyMetadata, false));
    record(artifacts.addPartsOfPartialEvent("a", createTextParts(" on"), getEmptyMetadata, false));
    const complete: Part[] = [{ data: { code: 2 } }, { text: "so on" }];
    record(artifacts.addPartsOfCompleteEvent("a", complete, {}));
    expect(foldTask(events).artifacts).toEqual([{ artifactId: "A1", parts: complete }]);
  });

  it("are not repeated if the complete event has a signature", () => {
    const { artifacts, listRecorded: said, record: tell } = createStreamerFixture();
    for (const piece of [[createThoughtPart("Hm")], [{ text: "Hel" }], [{ text: "lo" }]]) {
      tell(artifacts.addPartsOfPartialEvent("a", piece, getEmptyMetadata, false));
    }
    const signed = { adk_thought_signature: "c2ln" };
    const complete = [
      { text: "Hm", metadata: { adk_thought: true, ...signed } },
      { text: "Hello", metadata: signed },
    ];
    tell(artifacts.addPartsOfCompleteEvent("a", complete, {}));
    expect(said()).toEqual([
      ["A1", ["Hm"], ""],
      ["A1", ["Hel"], "append"],
      ["A1", ["lo"], "append last"],
    ]);
  });

  it("are kept if the complete event repeats none of them", () => {
    const { artifacts, listRecorded: said, record: tell } = createStreamerFixture();
    tell(artifacts.addPartsOfPartialEvent("a", createTextParts("I "), getEmptyMetadata, false));
    tell(artifacts.addPartsOfPartialEvent("a", createTextParts("ask."), getEmptyMetadata, false));
    tell(artifacts.addPartsOfCompleteEvent("a", [], {}));
    expect(said()).toEqual([
      ["A1", ["I "], ""],
      ["A1", ["ask."], "append last"],
    ]);
  });

  it("of several chains do not mix [V36, J23], and a new chain is a new artifact [V39]", () => {
    const { artifacts, listRecorded: said, record: tell } = createStreamerFixture();
    for (const [chain, piece] of ["a H", "b W", "a e", "b o"].map(
      (said) => said.split(" ") as [string, string],
    )) {
      tell(artifacts.addPartsOfPartialEvent(chain, createTextParts(piece), getEmptyMetadata, false));
    }
    tell(artifacts.addPartsOfCompleteEvent("a", createTextParts("He"), {}));
    tell(artifacts.addPartsOfCompleteEvent("b", createTextParts("Wo"), {}));
    tell(artifacts.addPartsOfPartialEvent("a", createTextParts("2"), getEmptyMetadata, false));
    tell(artifacts.addPartsOfCompleteEvent("a", createTextParts("2"), {}));
    expect(said()).toEqual([
      ["A1", ["H"], ""],
      ["A2", ["W"], ""],
      ["A1", ["e"], "append last"],
      ["A2", ["o"], "append last"],
      ["A3", ["2"], "last"],
    ]);
  });

  it("are merged within a frame, except the first one", () => {
    const { artifacts, events, listRecorded: said, record: tell } = createStreamerFixture(5);
    const getMetadata = (): JsonObject => ({ adk_usage_metadata: { totalTokenCount: 3 } });
    for (const piece of ["a", "b", "c", "d", "e", "f"]) {
      tell(
        artifacts.addPartsOfPartialEvent(
          "x",
          createTextParts(piece),
          piece === "d" ? getMetadata : getEmptyMetadata,
          piece === "d",
        ),
      );
    }
    tell(artifacts.addPartsOfCompleteEvent("x", createTextParts("abcdef"), {}));
    expect(said()).toEqual([
      ["A1", ["a"], ""],
      ["A1", ["bcde"], "append"],
      ["A1", ["f"], "append last"],
    ]);
    expect(events[1]?.metadata).toEqual(getMetadata());
  });

  it("are flushed up to the last character when idle", () => {
    const { artifacts, events, listRecorded: said, record: tell } = createStreamerFixture();
    tell(artifacts.addPartsOfPartialEvent("a", createTextParts("Page 1 🙂"), getEmptyMetadata, false));
    expect(artifacts.hasBufferedParts).toBe(true);
    events.push(...artifacts.flush());
    expect(artifacts.hasBufferedParts).toBe(false);
    expect(artifacts.flush()).toEqual([]);
    tell(artifacts.addPartsOfPartialEvent("a", createTextParts("!"), getEmptyMetadata, false));
    tell(artifacts.addPartsOfCompleteEvent("a", createTextParts("Page 1 🙂!"), {}));
    expect(said()).toEqual([
      ["A1", ["Page 1 "], ""],
      ["A1", ["🙂!"], "append last"],
    ]);
  });

  it("without a complete event are closed and marked [J3]", () => {
    const { artifacts, events, listRecorded: said, record: tell } = createStreamerFixture();
    tell(artifacts.addPartsOfPartialEvent("a", createTextParts("half "), getEmptyMetadata, false));
    tell(artifacts.addPartsOfPartialEvent("a", createTextParts("done"), getEmptyMetadata, false));
    events.push(...artifacts.closeOpenArtifacts());
    expect(said()).toEqual([
      ["A1", ["half "], ""],
      ["A1", ["done"], "append last"],
    ]);
    expect(foldTask(events).artifacts?.[0]?.metadata).toEqual({ adk_partial: true });
    expect(artifacts.closeOpenArtifacts()).toEqual([]);
  });

  it("carry their metadata on the artifact and on the event, once [J12]", () => {
    const { artifacts, events, record: tell } = createStreamerFixture();
    const getMetadata = (): JsonObject => ({ adk_author: "a" });
    for (const piece of ["1", "2", "3"])
      tell(artifacts.addPartsOfPartialEvent("a", createTextParts(piece), getMetadata, false));
    tell(
      artifacts.addPartsOfCompleteEvent("a", createTextParts("123"), {
        adk_author: "a",
        adk_usage_metadata: { totalTokenCount: 3 },
      }),
    );
    expect(events.map(({ artifact, metadata }) => [artifact.metadata, metadata])).toEqual([
      [{ adk_author: "a" }, { adk_author: "a" }],
      [undefined, undefined],
      [
        { adk_author: "a", adk_usage_metadata: { totalTokenCount: 3 } },
        { adk_author: "a", adk_usage_metadata: { totalTokenCount: 3 } },
      ],
    ]);
  });
});

describe("the partial events of a chain, with the whole at the end", () => {
  it("become chunks, and the complete event replaces them [V21, V22, V37]", () => {
    const { artifacts, events, listRecorded, record } = createStreamerFixture(20, "whole");
    for (const piece of ["Hello, ", "wor", "ld!"])
      record(artifacts.addPartsOfPartialEvent("a", createTextParts(piece), getEmptyMetadata, false));
    record(artifacts.addPartsOfCompleteEvent("a", createTextParts("Hello, world!"), { adk_author: "a" }));
    expect(listRecorded()).toEqual([
      ["A1", ["Hello, wor"], ""],
      ["A1", ["ld!"], "append"],
      ["A1", ["Hello, world!"], "last"],
    ]);
    expect(foldTask(events).artifacts).toEqual([
      { artifactId: "A1", parts: [{ text: "Hello, world!" }], metadata: { adk_author: "a" } },
    ]);
  });

  it("are not repeated if nothing was sent before the complete event", () => {
    const { artifacts, listRecorded, record } = createStreamerFixture(20, "whole");
    record(artifacts.addPartsOfPartialEvent("a", createTextParts("Hi"), getEmptyMetadata, false));
    record(artifacts.addPartsOfCompleteEvent("a", createTextParts("Hi"), {}));
    expect(listRecorded()).toEqual([["A1", ["Hi"], "last"]]);
  });

  it("are flushed completely when idle, and the next partial event is sent at once", () => {
    const { artifacts, events, listRecorded, record } = createStreamerFixture(20, "whole");
    record(artifacts.addPartsOfPartialEvent("a", createTextParts("Page 1 🙂"), getEmptyMetadata, false));
    events.push(...artifacts.flush(), ...artifacts.flush());
    record(artifacts.addPartsOfPartialEvent("a", createTextParts("!"), getEmptyMetadata, false));
    record(artifacts.addPartsOfCompleteEvent("a", [], {}));
    expect(listRecorded()).toEqual([
      ["A1", ["Page 1 🙂"], ""],
      ["A1", ["!"], "append"],
      ["A1", ["Page 1 🙂!"], "last"],
    ]);
  });

  it("without a complete event are repeated and marked [J3]", () => {
    const { artifacts, events, listRecorded, record } = createStreamerFixture(20, "whole");
    for (const piece of [
      createThoughtPart("Hm"),
      createThoughtPart("m"),
      { text: "half " },
      { text: "done" },
    ])
      record(artifacts.addPartsOfPartialEvent("a", [piece], getEmptyMetadata, false));
    events.push(...artifacts.closeOpenArtifacts());
    expect(listRecorded().at(-1)).toEqual(["A1", ["Hmm", "half done"], "last"]);
    // The update must not have the mark, because ADK's remote agents drop marked content.
    expect(events.at(-1)).not.toHaveProperty("metadata");
    expect(foldTask(events).artifacts).toEqual([
      {
        artifactId: "A1",
        parts: [createThoughtPart("Hmm"), { text: "half done" }],
        metadata: { adk_partial: true },
      },
    ]);
  });
});

/** Milliseconds between two partial events. */
const frameGaps = fc.constantFrom(0, 5, 20);

/** Text chunks of several kinds, as a model streams them, with actions between the chunks. */
const streamSteps = fc.array(
  fc.record({
    chain: fc.constantFrom("a", "b"),
    text: fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }),
    isThought: fc.boolean(),
    pause: fc.boolean(),
  }),
  { maxLength: 30 },
);

function mergeTextParts(parts: Part[]): Part[] {
  const complete: Part[] = [];
  for (const part of parts) {
    const last = complete.at(-1);
    if (last && "text" in last && "text" in part && Boolean(last.metadata) === Boolean(part.metadata)) {
      complete[complete.length - 1] = { ...last, text: last.text + part.text };
    } else complete.push(part);
  }
  return complete;
}

describe("any stream of a run", () => {
  it("folds to the complete content once, and its last chunk alone contains the complete content", () => {
    fc.assert(
      fc.property(streamSteps, fc.boolean(), frameGaps, (script, isCut, frame) => {
        const { artifacts, events, record } = createStreamerFixture(frame, "whole");
        const expected = new Map<string, Part[]>();
        for (const { chain, text: value, isThought, pause } of script) {
          const part = isThought ? createThoughtPart(value) : { text: value };
          expected.set(chain, [...(expected.get(chain) ?? []), part]);
          record(artifacts.addPartsOfPartialEvent(chain, [part], getEmptyMetadata, false));
          if (pause) events.push(...artifacts.flush());
        }
        if (isCut) events.push(...artifacts.closeOpenArtifacts());
        else
          for (const [chain, parts] of expected)
            record(artifacts.addPartsOfCompleteEvent(chain, mergeTextParts(parts), {}));
        const contents = [...expected.values()].map(mergeTextParts);
        expect(events.every(({ artifact }) => artifact.parts.length > 0)).toBe(true);
        const lastChunks = events.filter(({ lastChunk }) => lastChunk);
        expect(lastChunks.map(({ artifact }) => artifact.parts)).toEqual(expect.arrayContaining(contents));
        expect(lastChunks).toHaveLength(contents.length);
        expect(lastChunks.some(({ append }) => append)).toBe(false);
        const folded = (foldTask(events).artifacts ?? []).map(({ parts }) => parts);
        expect(folded).toHaveLength(contents.length);
        expect(folded).toEqual(expect.arrayContaining(contents));
        // The chunks before the last one never contain more than the content.
        for (const { artifact } of lastChunks) {
          const earlier = events
            .filter((event) => event.artifact.artifactId === artifact.artifactId && !event.lastChunk)
            .map((event) => getText(event.artifact.parts))
            .join("");
          expect(getText(artifact.parts).startsWith(earlier)).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("has joined chunks that equal the content of each artifact once, and a marked last chunk", () => {
    fc.assert(
      fc.property(
        streamSteps,
        fc.boolean(),
        fc.string({ maxLength: 3 }),
        frameGaps,
        (script, isCut, rest, frame) => {
          const { artifacts, events, record: tell } = createStreamerFixture(frame);
          const expected = new Map<string, Part[]>();
          for (const { chain, text: value, isThought, pause } of script) {
            const part = isThought ? createThoughtPart(value) : { text: value };
            expected.set(chain, [...(expected.get(chain) ?? []), part]);
            tell(artifacts.addPartsOfPartialEvent(chain, [part], getEmptyMetadata, false));
            if (pause) events.push(...artifacts.flush());
          }
          if (isCut) events.push(...artifacts.closeOpenArtifacts());
          else {
            for (const [chain, parts] of expected) {
              if (rest) parts.push({ text: rest });
              tell(artifacts.addPartsOfCompleteEvent(chain, mergeTextParts(parts), {}));
            }
          }
          const contents = [...expected.values()].map((parts) => getText(parts));
          const joined = new Map<string, { text: string; sealed: boolean }>();
          for (const { artifact, append, lastChunk } of events) {
            const known = joined.get(artifact.artifactId);
            expect(Boolean(append)).toBe(known !== undefined);
            expect(known?.sealed ?? false).toBe(false);
            expect(artifact.parts.length).toBeGreaterThan(0);
            const text = (known?.text ?? "") + getText(artifact.parts);
            joined.set(artifact.artifactId, { text, sealed: lastChunk ?? false });
          }
          expect([...joined.values()].map(({ text }) => text).toSorted()).toEqual(contents.toSorted());
          expect([...joined.values()].every(({ sealed }) => sealed)).toBe(true);
          const folded = foldTask(events).artifacts ?? [];
          expect(folded.map(({ parts }: Artifact) => getText(parts)).toSorted()).toEqual(contents.toSorted());
        },
      ),
      { numRuns: 500 },
    );
  });

  it("ends each artifact with its complete event, even if it differs from the chunks", () => {
    fc.assert(
      fc.property(
        streamSteps,
        fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }),
        (script, end) => {
          const { artifacts, events, record: tell } = createStreamerFixture();
          for (const { text: value, pause } of script) {
            tell(artifacts.addPartsOfPartialEvent("a", [{ text: value }], getEmptyMetadata, false));
            if (pause) events.push(...artifacts.flush());
          }
          tell(
            artifacts.addPartsOfCompleteEvent(
              "a",
              end.map((value) => ({ text: value })),
              {},
            ),
          );
          const [artifact, ...others] = foldTask(events).artifacts ?? [];
          expect(others).toEqual([]);
          expect(getText(artifact?.parts ?? [])).toBe(end.join(""));
          expect(events.filter(({ lastChunk }) => lastChunk)).toHaveLength(1);
        },
      ),
      { numRuns: 300 },
    );
  });
});
