import { describe, expect, it } from "vitest";
import type { Artifact, JsonObject, Part, StreamResponse, TaskState } from "../../protocol/index.ts";
import type { AdkEvent } from "../types.ts";
import { Aggregation } from "./aggregation.ts";

const place = { taskId: "T", contextId: "C" };

/** `a1:Hel a` is a chunk of a1 that appends; `l` is the last one. */
function chunk(said: string, metadata?: JsonObject): StreamResponse {
  const [, artifactId = "", text = "", flags = ""] = /^(\w+):(.*?)(?: (a?l?))?$/.exec(said) ?? [];
  return chunkOf(artifactId, [{ text }], flags, metadata);
}

function chunkOf(artifactId: string, parts: Part[], flags: string, metadata?: JsonObject): StreamResponse {
  return {
    artifactUpdate: {
      ...place,
      artifact: { artifactId, parts },
      ...(flags.includes("a") && { append: true }),
      ...(flags.includes("l") && { lastChunk: true }),
      ...(metadata && { metadata }),
    },
  };
}

const status = (state: TaskState, parts?: Part[]): StreamResponse => ({
  statusUpdate: {
    ...place,
    status: { state, ...(parts && { message: { messageId: "m", role: "ROLE_AGENT", parts } }) },
  },
});
const task = (state: TaskState, artifacts: Artifact[] = []): StreamResponse => ({
  task: { id: "T", contextId: "C", status: { state }, artifacts },
});
const completed = status("TASK_STATE_COMPLETED");
const thought = (text: string): Part => ({ text, metadata: { adk_thought: true } });

function events(said: readonly StreamResponse[]): AdkEvent[] {
  const aggregation = new Aggregation({ author: "r", newId: () => "mock" });
  return [...said.flatMap((one) => aggregation.take(one)), ...aggregation.end()];
}

/** p(…) is partial, F(…) is kept, T ends the turn. */
function gist(said: readonly StreamResponse[]): string {
  return events(said)
    .map(({ partial, content, turnComplete }) => {
      const texts = content?.parts?.map(({ text, thought: isThought }) => (isThought ? `*${text}*` : text));
      const what = texts ? `${partial ? "p" : "F"}(${texts.join("|")})` : "";
      return what + (turnComplete ? "T" : "");
    })
    .join(" ");
}

describe("the chunks of a peer, as events of a session", () => {
  const yes = { adk_partial: true };
  const no = { adk_partial: false };

  it.each<[title: string, said: StreamResponse[], expected: string]>([
    [
      "marked as partial or whole [G01]",
      [chunk("a1:Hel", yes), chunk("a1:lo", yes), chunk("a1:Hello", no), completed],
      "p(Hel) p(lo) F(Hello) T",
    ],
    [
      "a task in their place [G02]",
      [
        chunk("a1:ignore me"),
        task("TASK_STATE_COMPLETED", [{ artifactId: "a2", parts: [{ text: "done" }] }]),
      ],
      "p(ignore me) F(done)T",
    ],
    [
      "a snapshot between them [G03]",
      [chunk("a1:foo a"), task("TASK_STATE_WORKING"), chunk("a1:bar a"), completed],
      "p(foo) p(bar) F(bar) T",
    ],
    [
      "a snapshot that has what was missed",
      [
        chunk("a1:foo a"),
        task("TASK_STATE_WORKING", [{ artifactId: "a1", parts: [{ text: "foo and " }] }]),
        chunk("a1:bar a"),
        completed,
      ],
      "p(foo) p( and ) p(bar) F(foo and bar) T",
    ],
    ["until the end [G04, J14]", [chunk("a1:Hel a"), chunk("a1:lo a"), completed], "p(Hel) p(lo) F(Hello) T"],
    [
      "of two artifacts [G05]",
      [chunk("a1:Foo a"), chunk("a2:Bar a"), completed],
      "p(Foo) p(Bar) F(Foo) F(Bar) T",
    ],
    [
      "of two artifacts at once [G06]",
      [chunk("a1:Foo a"), chunk("a2:Bar a"), chunk("a1:Baz a"), completed],
      "p(Foo) p(Bar) p(Baz) F(Bar) F(FooBaz) T",
    ],
    [
      "with a last one that grows [G07]",
      [chunk("a1:Hel a"), chunk("a1:lo al"), chunk("a2:bar a"), completed],
      "p(Hel) p(lo) F(Hello) p(bar) F(bar) T",
    ],
    [
      "with a last one that replaces [G08]",
      [chunk("a1:Hel a"), chunk("a1:Hello l"), chunk("a2:bar a"), completed],
      "p(Hel) F(Hello) p(bar) F(bar) T",
    ],
    [
      "of which one is whole [G09]",
      [chunk("a1:Hello l"), chunk("a2:bar a"), completed],
      "F(Hello) p(bar) F(bar) T",
    ],
    [
      "of which one replaces [G10]",
      [chunk("a1:Foo a"), chunk("a1:Bar"), completed],
      "p(Foo) p(Bar) F(Bar) T",
    ],
    [
      "of a thought and text [G11]",
      [chunkOf("a1", [thought("thinking...")], "a"), chunk("a1:done a"), completed],
      "p(*thinking...*) p(done) F(*thinking...*|done) T",
    ],
    [
      "of thoughts and texts [G12]",
      [
        chunkOf("a1", [thought("t1")], "a"),
        chunk("a1:x1 a"),
        chunkOf("a1", [thought("t2")], "a"),
        chunk("a1:x2 a"),
        completed,
      ],
      "p(*t1*) p(x1) p(*t2*) p(x2) F(*t1*|x1|*t2*|x2) T",
    ],
    ["that are cut off [J14]", [chunk("a1:Hel a"), chunk("a1:lo a")], "p(Hel) p(lo) F(Hello)"],
    [
      "told whole, and again in the task that ends it",
      [chunk("a1:Hello l"), task("TASK_STATE_COMPLETED", [{ artifactId: "a1", parts: [{ text: "Hello" }] }])],
      "F(Hello) T",
    ],
  ])("%s", (_, said, expected) => expect(gist(said)).toBe(expected));

  it("keep what they say beside their content, and whose task they are of", () => {
    const usage = { adk_usage_metadata: { totalTokenCount: 3 } };
    const [, , whole] = events([chunk("a1:a a", { adk_custom_metadata: { k: 1 } }), chunk("a1:b al", usage)]);
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

  it("tell a call once, though it comes again in the status [J16]", () => {
    const call: Part = {
      data: { id: "c", name: "f", args: {} },
      metadata: { adk_type: "function_call", adk_is_long_running: true },
    };
    const said = events([
      chunkOf("a1", [{ text: "Hm." }, call], "l"),
      status("TASK_STATE_INPUT_REQUIRED", [call]),
    ]);
    expect(said).toMatchObject([
      { content: { parts: [{ text: "Hm." }, { functionCall: { id: "c" } }] }, longRunningToolIds: ["c"] },
      { turnComplete: true },
    ]);
    expect(said[1]).not.toHaveProperty("content");
    expect(said[1]).not.toHaveProperty("longRunningToolIds");
  });

  it("end with the actions of a status that says nothing else [J13]", () => {
    const end: StreamResponse = {
      statusUpdate: {
        ...place,
        status: { state: "TASK_STATE_COMPLETED" },
        metadata: { adk_escalate: true },
      },
    };
    expect(events([chunk("a1:x a"), end]).at(-1)).toMatchObject({
      turnComplete: true,
      actions: { escalate: true },
    });
  });
});
