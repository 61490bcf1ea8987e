import { describe, expect, it } from "vitest";
import type { Artifact, JsonObject, Part, StreamResponse, TaskState } from "../../../protocol/index.ts";
import type { AdkEvent } from "../adk-structural-types.ts";
import { StreamAggregator } from "./stream-aggregator.ts";

const taskIds = { taskId: "T", contextId: "C" };

/** Parses a chunk: `a1:Hel a` appends to artifact a1, and `l` marks the last chunk. */
function parseChunk(notation: string, metadata?: JsonObject): StreamResponse {
  const [, artifactId = "", text = "", flags = ""] = /^(\w+):(.*?)(?: (a?l?))?$/.exec(notation) ?? [];
  return createChunk(artifactId, [{ text }], flags, metadata);
}

function createChunk(
  artifactId: string,
  parts: Part[],
  flags: string,
  metadata?: JsonObject,
): StreamResponse {
  return {
    artifactUpdate: {
      ...taskIds,
      artifact: { artifactId, parts },
      ...(flags.includes("a") && { append: true }),
      ...(flags.includes("l") && { lastChunk: true }),
      ...(metadata && { metadata }),
    },
  };
}

const createStatusUpdate = (state: TaskState, parts?: Part[]): StreamResponse => ({
  statusUpdate: {
    ...taskIds,
    status: { state, ...(parts && { message: { messageId: "m", role: "ROLE_AGENT", parts } }) },
  },
});
const createTask = (state: TaskState, artifacts: Artifact[] = []): StreamResponse => ({
  task: { id: "T", contextId: "C", status: { state }, artifacts },
});
const completed = createStatusUpdate("TASK_STATE_COMPLETED");
const createThoughtPart = (text: string): Part => ({ text, metadata: { adk_thought: true } });

function aggregateEvents(responses: readonly StreamResponse[]): AdkEvent[] {
  const aggregation = new StreamAggregator({ author: "r", newId: () => "mock" });
  return [...responses.flatMap((one) => aggregation.process(one)), ...aggregation.finish()];
}

/** Summarizes events: p(…) is partial, F(…) is stored, and T ends the turn. */
function summarizeEvents(responses: readonly StreamResponse[]): string {
  return aggregateEvents(responses)
    .map(({ partial, content, turnComplete }) => {
      const texts = content?.parts?.map(({ text, thought: isThought }) => (isThought ? `*${text}*` : text));
      const summary = texts ? `${partial ? "p" : "F"}(${texts.join("|")})` : "";
      return summary + (turnComplete ? "T" : "");
    })
    .join(" ");
}

describe("the chunks of a peer as session events", () => {
  const yes = { adk_partial: true };
  const no = { adk_partial: false };

  it.each<[title: string, responses: StreamResponse[], expected: string]>([
    [
      "marked as partial or complete [G01]",
      [parseChunk("a1:Hel", yes), parseChunk("a1:lo", yes), parseChunk("a1:Hello", no), completed],
      "p(Hel) p(lo) F(Hello) T",
    ],
    [
      "replaced by a task [G02]",
      [
        parseChunk("a1:ignore me"),
        createTask("TASK_STATE_COMPLETED", [{ artifactId: "a2", parts: [{ text: "done" }] }]),
      ],
      "p(ignore me) F(done)T",
    ],
    [
      "with a snapshot in between [G03]",
      [parseChunk("a1:foo a"), createTask("TASK_STATE_WORKING"), parseChunk("a1:bar a"), completed],
      "p(foo) p(bar) F(bar) T",
    ],
    [
      "with a snapshot that contains missed chunks",
      [
        parseChunk("a1:foo a"),
        createTask("TASK_STATE_WORKING", [{ artifactId: "a1", parts: [{ text: "foo and " }] }]),
        parseChunk("a1:bar a"),
        completed,
      ],
      "p(foo) p( and ) p(bar) F(foo and bar) T",
    ],
    [
      "until the end [G04, J14]",
      [parseChunk("a1:Hel a"), parseChunk("a1:lo a"), completed],
      "p(Hel) p(lo) F(Hello) T",
    ],
    [
      "of two artifacts [G05]",
      [parseChunk("a1:Foo a"), parseChunk("a2:Bar a"), completed],
      "p(Foo) p(Bar) F(Foo) F(Bar) T",
    ],
    [
      "of two artifacts at once [G06]",
      [parseChunk("a1:Foo a"), parseChunk("a2:Bar a"), parseChunk("a1:Baz a"), completed],
      "p(Foo) p(Bar) p(Baz) F(Bar) F(FooBaz) T",
    ],
    [
      "with a last chunk that grows [G07]",
      [parseChunk("a1:Hel a"), parseChunk("a1:lo al"), parseChunk("a2:bar a"), completed],
      "p(Hel) p(lo) F(Hello) p(bar) F(bar) T",
    ],
    [
      "with a last chunk that replaces [G08]",
      [parseChunk("a1:Hel a"), parseChunk("a1:Hello l"), parseChunk("a2:bar a"), completed],
      // Unlike ADK for Go, the aggregator also emits the text that only the last chunk contains. The partial
      // events of an answer therefore contain its entire text.
      "p(Hel) p(lo) F(Hello) p(bar) F(bar) T",
    ],
    [
      "of which one is complete [G09]",
      [parseChunk("a1:Hello l"), parseChunk("a2:bar a"), completed],
      "F(Hello) p(bar) F(bar) T",
    ],
    [
      "of which one replaces [G10]",
      [parseChunk("a1:Foo a"), parseChunk("a1:Bar"), completed],
      "p(Foo) p(Bar) F(Bar) T",
    ],
    [
      "of a thought and text [G11]",
      [createChunk("a1", [createThoughtPart("thinking...")], "a"), parseChunk("a1:done a"), completed],
      "p(*thinking...*) p(done) F(*thinking...*|done) T",
    ],
    [
      "of thoughts and texts [G12]",
      [
        createChunk("a1", [createThoughtPart("t1")], "a"),
        parseChunk("a1:x1 a"),
        createChunk("a1", [createThoughtPart("t2")], "a"),
        parseChunk("a1:x2 a"),
        completed,
      ],
      "p(*t1*) p(x1) p(*t2*) p(x2) F(*t1*|x1|*t2*|x2) T",
    ],
    ["without an end [J14]", [parseChunk("a1:Hel a"), parseChunk("a1:lo a")], "p(Hel) p(lo) F(Hello)"],
    [
      "complete, and repeated in the final task",
      [
        parseChunk("a1:Hello l"),
        createTask("TASK_STATE_COMPLETED", [{ artifactId: "a1", parts: [{ text: "Hello" }] }]),
      ],
      "F(Hello) T",
    ],
  ])("%s", (_, responses, expected) => expect(summarizeEvents(responses)).toBe(expected));

  it("keep their metadata and the ids of their task", () => {
    const usage = { adk_usage_metadata: { totalTokenCount: 3 } };
    const [, , whole] = aggregateEvents([
      parseChunk("a1:a a", { adk_custom_metadata: { k: 1 } }),
      parseChunk("a1:b al", usage),
    ]);
    expect(whole).toEqual({
      author: "r",
      content: { role: "model", parts: [{ text: "ab" }] },
      usageMetadata: { totalTokenCount: 3 },
      customMetadata: {
        k: 1,
        "a2a:task_id": "T",
        "a2a:context_id": "C",
        "a2a:aggregated": true,
        "a2a:artifact_ids": ["a1"],
      },
    });
  });

  it("contain a call once, even if the status repeats it [J16]", () => {
    const call: Part = {
      data: { id: "c", name: "f", args: {} },
      metadata: { adk_type: "function_call", adk_is_long_running: true },
    };
    const events = aggregateEvents([
      createChunk("a1", [{ text: "Hm." }, call], "l"),
      createStatusUpdate("TASK_STATE_INPUT_REQUIRED", [call]),
    ]);
    expect(events).toMatchObject([
      { content: { parts: [{ text: "Hm." }, { functionCall: { id: "c" } }] }, longRunningToolIds: ["c"] },
      { turnComplete: true },
    ]);
    expect(events[1]).not.toHaveProperty("content");
    expect(events[1]).not.toHaveProperty("longRunningToolIds");
  });

  it("end with the actions of progress updates, which the session does not store", () => {
    const progress: StreamResponse = {
      statusUpdate: {
        ...taskIds,
        status: { state: "TASK_STATE_WORKING" },
        metadata: { adk_actions: { escalate: true } },
      },
    };
    const end: StreamResponse = { statusUpdate: { ...taskIds, status: { state: "TASK_STATE_COMPLETED" } } };
    expect(aggregateEvents([progress, end])).toMatchObject([
      { turnComplete: true, actions: { escalate: true } },
    ]);
  });

  it("end with the actions of a status without content [J13]", () => {
    const end: StreamResponse = {
      statusUpdate: {
        ...taskIds,
        status: { state: "TASK_STATE_COMPLETED" },
        metadata: { adk_escalate: true },
      },
    };
    expect(aggregateEvents([parseChunk("a1:x a"), end]).at(-1)).toMatchObject({
      turnComplete: true,
      actions: { escalate: true },
    });
  });
});

it("an aggregator remembers the ids of the peer's task", () => {
  const aggregator = new StreamAggregator({ author: "r" });
  expect(aggregator.peerTaskIdMetadata).toEqual({});
  aggregator.process(createStatusUpdate("TASK_STATE_WORKING"));
  expect(aggregator.peerTaskIdMetadata).toEqual({ "a2a:task_id": "T", "a2a:context_id": "C" });
});
