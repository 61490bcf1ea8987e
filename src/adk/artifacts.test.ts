import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../engine/index.ts";
import {
  type Artifact,
  fold,
  isRefusal,
  type JsonObject,
  type Part,
  type Task,
  textOf,
} from "../protocol/index.ts";
import { Artifacts } from "./artifacts.ts";

type ArtifactEvent = Extract<AgentEvent, { artifact: unknown }>;

function counted(): () => string {
  let count = 0;
  return () => `A${++count}`;
}

interface Stage {
  artifacts: Artifacts;
  events: ArtifactEvent[];
  tell: (event: ArtifactEvent | undefined) => void;
  /** Of each event the artifact, the content and the flags. */
  said: () => unknown[];
}

/** By default every piece comes in a frame of its own. */
function start(frameMs = 20): Stage {
  const events: ArtifactEvent[] = [];
  let now = 0;
  return {
    artifacts: new Artifacts(counted(), () => (now += frameMs)),
    events,
    tell: (event) => {
      if (event) events.push(event);
    },
    said: () =>
      events.map(({ artifact, append, lastChunk }) => [
        artifact.artifactId,
        artifact.parts.map((part) => ("text" in part ? part.text : part)),
        [append && "append", lastChunk && "last"].filter(Boolean).join(" "),
      ]),
  };
}

const text = (value: string): Part[] => [{ text: value }];
const thought = (value: string): Part => ({ text: value, metadata: { adk_thought: true } });
const nothing = (): JsonObject => ({});

/** What a reader has who keeps to A2A: the fold of the events. */
function taskOf(events: readonly ArtifactEvent[]): Task {
  let task: Task = { id: "T", contextId: "C", status: { state: "TASK_STATE_WORKING" } };
  for (const event of events) {
    const next = fold(task, { artifactUpdate: { taskId: "T", contextId: "C", ...event } });
    if (isRefusal(next)) throw new Error(next.refused);
    task = next;
  }
  return task;
}

describe("the pieces of an ADK event chain", () => {
  it("are the artifact's chunks, and the whole ends it without saying anything twice [V21, J2]", () => {
    const { artifacts, events, said, tell } = start();
    for (const piece of ["Hello, ", "wor", "ld!"]) tell(artifacts.addPiece("a", text(piece), nothing, false));
    tell(artifacts.addWhole("a", text("Hello, world!"), {}));
    expect(said()).toEqual([
      ["A1", ["Hello, "], ""],
      ["A1", ["wor"], "append"],
      ["A1", ["ld!"], "append last"],
    ]);
    expect(events[0]?.artifact).not.toHaveProperty("metadata");
    expect(taskOf(events).artifacts).toEqual([{ artifactId: "A1", parts: [{ text: "Hello, world!" }] }]);
  });

  it("come with what the whole has beyond them", () => {
    const { artifacts, said, tell } = start();
    const call = { data: { name: "f" } };
    for (const piece of ["a", "b"]) tell(artifacts.addPiece("x", text(piece), nothing, false));
    tell(artifacts.addWhole("x", [{ text: "a" }, { text: "bc" }, call], {}));
    expect(said()).toEqual([
      ["A1", ["a"], ""],
      ["A1", ["bc", call], "append last"],
    ]);
  });

  it("are replaced by a whole that says something else [V37]", () => {
    const { artifacts, said, tell } = start();
    tell(artifacts.addPiece("a", [thought("Thinking")], nothing, false));
    tell(artifacts.addPiece("a", [thought("...")], nothing, false));
    tell(artifacts.addWhole("a", text("Done"), {}));
    expect(said()).toEqual([
      ["A1", ["Thinking"], ""],
      ["A1", ["Done"], "last"],
    ]);
  });

  it("are not said again because the whole is signed", () => {
    const { artifacts, said, tell } = start();
    for (const piece of [[thought("Hm")], [{ text: "Hel" }], [{ text: "lo" }]]) {
      tell(artifacts.addPiece("a", piece, nothing, false));
    }
    const signed = { adk_thought_signature: "c2ln" };
    const whole = [
      { text: "Hm", metadata: { adk_thought: true, ...signed } },
      { text: "Hello", metadata: signed },
    ];
    tell(artifacts.addWhole("a", whole, {}));
    expect(said()).toEqual([
      ["A1", ["Hm"], ""],
      ["A1", ["Hel"], "append"],
      ["A1", ["lo"], "append last"],
    ]);
  });

  it("stay when the whole repeats none of them, as when it only calls a long-running tool", () => {
    const { artifacts, said, tell } = start();
    tell(artifacts.addPiece("a", text("I "), nothing, false));
    tell(artifacts.addPiece("a", text("ask."), nothing, false));
    tell(artifacts.addWhole("a", [], {}));
    expect(said()).toEqual([
      ["A1", ["I "], ""],
      ["A1", ["ask."], "append last"],
    ]);
  });

  it("of several chains do not mix [V36, J23], and a new chain is a new artifact [V39]", () => {
    const { artifacts, said, tell } = start();
    for (const [chain, piece] of ["a H", "b W", "a e", "b o"].map(
      (said) => said.split(" ") as [string, string],
    )) {
      tell(artifacts.addPiece(chain, text(piece), nothing, false));
    }
    tell(artifacts.addWhole("a", text("He"), {}));
    tell(artifacts.addWhole("b", text("Wo"), {}));
    tell(artifacts.addPiece("a", text("2"), nothing, false));
    tell(artifacts.addWhole("a", text("2"), {}));
    expect(said()).toEqual([
      ["A1", ["H"], ""],
      ["A2", ["W"], ""],
      ["A1", ["e"], "append last"],
      ["A2", ["o"], "append last"],
      ["A3", ["2"], "last"],
    ]);
  });

  it("are told together when they come within a frame, but for the first", () => {
    const { artifacts, events, said, tell } = start(5);
    const about = (): JsonObject => ({ adk_usage_metadata: { totalTokenCount: 3 } });
    for (const piece of ["a", "b", "c", "d", "e", "f"]) {
      tell(artifacts.addPiece("x", text(piece), piece === "d" ? about : nothing, piece === "d"));
    }
    tell(artifacts.addWhole("x", text("abcdef"), {}));
    expect(said()).toEqual([
      ["A1", ["a"], ""],
      ["A1", ["bcde"], "append"],
      ["A1", ["f"], "append last"],
    ]);
    expect(events[1]?.metadata).toEqual(about());
  });

  it("are let go when nothing follows for a while, up to the last character", () => {
    const { artifacts, events, said, tell } = start();
    tell(artifacts.addPiece("a", text("Page 1 🙂"), nothing, false));
    expect(artifacts.holding).toBe(true);
    events.push(...artifacts.release());
    expect(artifacts.holding).toBe(false);
    expect(artifacts.release()).toEqual([]);
    tell(artifacts.addPiece("a", text("!"), nothing, false));
    tell(artifacts.addWhole("a", text("Page 1 🙂!"), {}));
    expect(said()).toEqual([
      ["A1", ["Page 1 "], ""],
      ["A1", ["🙂"], "append"],
      ["A1", ["!"], "append last"],
    ]);
  });

  it("that never became whole are sealed as they are, and say so [J3]", () => {
    const { artifacts, events, said, tell } = start();
    tell(artifacts.addPiece("a", text("half "), nothing, false));
    tell(artifacts.addPiece("a", text("done"), nothing, false));
    events.push(...artifacts.seal());
    expect(said()).toEqual([
      ["A1", ["half "], ""],
      ["A1", ["done"], "append last"],
    ]);
    expect(taskOf(events).artifacts?.[0]?.metadata).toEqual({ adk_partial: true });
    expect(artifacts.seal()).toEqual([]);
  });

  it("carry their metadata on the artifact and on the event, once [J12]", () => {
    const { artifacts, events, tell } = start();
    const about = (): JsonObject => ({ adk_author: "a" });
    for (const piece of ["1", "2", "3"]) tell(artifacts.addPiece("a", text(piece), about, false));
    tell(
      artifacts.addWhole("a", text("123"), { adk_author: "a", adk_usage_metadata: { totalTokenCount: 3 } }),
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

/** How much time passes between two pieces. */
const frames = fc.constantFrom(0, 5, 20);

/** Text in pieces of several kinds, as a model streams it, and what is done between the pieces. */
const pieces = fc.array(
  fc.record({
    chain: fc.constantFrom("a", "b"),
    text: fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }),
    isThought: fc.boolean(),
    pause: fc.boolean(),
  }),
  { maxLength: 30 },
);

function wholeOf(parts: Part[]): Part[] {
  const whole: Part[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last && "text" in last && "text" in part && Boolean(last.metadata) === Boolean(part.metadata)) {
      whole[whole.length - 1] = { ...last, text: last.text + part.text };
    } else whole.push(part);
  }
  return whole;
}

describe("whatever a run streams", () => {
  it("the joined chunks of each artifact are its content, once, and the last one says so", () => {
    fc.assert(
      fc.property(pieces, fc.boolean(), fc.string({ maxLength: 3 }), frames, (script, isCut, rest, frame) => {
        const { artifacts, events, tell } = start(frame);
        const expected = new Map<string, Part[]>();
        for (const { chain, text: value, isThought, pause } of script) {
          const part = isThought ? thought(value) : { text: value };
          expected.set(chain, [...(expected.get(chain) ?? []), part]);
          tell(artifacts.addPiece(chain, [part], nothing, false));
          if (pause) events.push(...artifacts.release());
        }
        if (isCut) events.push(...artifacts.seal());
        else {
          for (const [chain, parts] of expected) {
            if (rest) parts.push({ text: rest });
            tell(artifacts.addWhole(chain, wholeOf(parts), {}));
          }
        }
        const contents = [...expected.values()].map((parts) => textOf(parts));
        const joined = new Map<string, { text: string; sealed: boolean }>();
        for (const { artifact, append, lastChunk } of events) {
          const known = joined.get(artifact.artifactId);
          expect(Boolean(append)).toBe(known !== undefined);
          expect(known?.sealed ?? false).toBe(false);
          expect(artifact.parts.length).toBeGreaterThan(0);
          const text = (known?.text ?? "") + textOf(artifact.parts);
          joined.set(artifact.artifactId, { text, sealed: lastChunk ?? false });
        }
        expect([...joined.values()].map(({ text }) => text).toSorted()).toEqual(contents.toSorted());
        expect([...joined.values()].every(({ sealed }) => sealed)).toBe(true);
        const folded = taskOf(events).artifacts ?? [];
        expect(folded.map(({ parts }: Artifact) => textOf(parts)).toSorted()).toEqual(contents.toSorted());
      }),
      { numRuns: 500 },
    );
  });

  it("an artifact ends as its whole, also when that is not what was streamed", () => {
    fc.assert(
      fc.property(
        pieces,
        fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 3 }),
        (script, end) => {
          const { artifacts, events, tell } = start();
          for (const { text: value, pause } of script) {
            tell(artifacts.addPiece("a", [{ text: value }], nothing, false));
            if (pause) events.push(...artifacts.release());
          }
          tell(
            artifacts.addWhole(
              "a",
              end.map((value) => ({ text: value })),
              {},
            ),
          );
          const [artifact, ...others] = taskOf(events).artifacts ?? [];
          expect(others).toEqual([]);
          expect(textOf(artifact?.parts ?? [])).toBe(end.join(""));
          expect(events.filter(({ lastChunk }) => lastChunk)).toHaveLength(1);
        },
      ),
      { numRuns: 300 },
    );
  });
});
