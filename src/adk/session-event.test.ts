import { describe, expect, it } from "vitest";
import type { Artifact, JsonObject, Part, StreamResponse, Task, TaskState } from "../protocol/index.ts";
import { eventToMessage } from "./message.ts";
import { toSessionEvent, type SessionEventOptions } from "./session-event.ts";
import type { AdkEvent } from "./types.ts";

const options = { author: "remote", branch: "b", invocationId: "i", newId: () => "mock-1" };
const about = { author: "remote", branch: "b", invocationId: "i" };
const place = { taskId: "T", contextId: "C" };
const ids = { "a2a:task_id": "T", "a2a:context_id": "C" };

const text = (value: string): Part => ({ text: value });
const call = (id: string): Part => ({
  data: { id, name: "get_weather", args: {} },
  metadata: { adk_type: "function_call", adk_is_long_running: true },
});
const genaiCall = (id: string): object => ({ functionCall: { id, name: "get_weather", args: {} } });
const errorText = (value: string): Part => ({ text: value, metadata: { adk_is_error_message: true } });
const metadata: JsonObject = {
  adk_grounding_metadata: { sourceFlaggingUris: [{ sourceId: "id1" }] },
  adk_usage_metadata: { candidatesTokenCount: 12, thoughtsTokenCount: 42 },
  adk_custom_metadata: { nested: { key: "value" } },
};
const escalating: JsonObject = { ...metadata, adk_escalate: true, adk_transfer_to_agent: "a-2" };
const said = {
  groundingMetadata: { sourceFlaggingUris: [{ sourceId: "id1" }] },
  usageMetadata: { candidatesTokenCount: 12, thoughtsTokenCount: 42 },
  customMetadata: { nested: { key: "value" }, ...ids },
};

function event(from: StreamResponse, more: Partial<SessionEventOptions> = {}): AdkEvent | undefined {
  return toSessionEvent(from, { ...options, ...more });
}

function message(parts: Part[], more: JsonObject = {}): StreamResponse {
  return { message: { messageId: "m", role: "ROLE_AGENT", ...place, parts, metadata: more } };
}

function task(
  state: TaskState,
  artifacts: Part[][] = [],
  told?: Part[],
  more: JsonObject = {},
): StreamResponse {
  const status: Task["status"] = { state };
  if (told) status.message = { messageId: "m", role: "ROLE_AGENT", parts: told };
  return {
    task: {
      id: "T",
      contextId: "C",
      status,
      artifacts: artifacts.map((parts, at): Artifact => ({ artifactId: `A${at}`, parts })),
      metadata: more,
    },
  };
}

function status(state: TaskState, told?: Part[], more: JsonObject = {}): StreamResponse {
  const update: Task["status"] = { state };
  if (told) update.message = { messageId: "m", role: "ROLE_AGENT", parts: told };
  return { statusUpdate: { ...place, status: update, metadata: more } };
}

function chunk(
  parts: Part[],
  flags: { append?: boolean; lastChunk?: boolean } = {},
  more?: JsonObject,
): StreamResponse {
  return {
    artifactUpdate: {
      ...place,
      artifact: { artifactId: "A", parts },
      ...flags,
      ...(more && { metadata: more }),
    },
  };
}

const content = (...parts: object[]): object => ({ role: "model", parts });
const DONE = "TASK_STATE_COMPLETED";
const FAILED = "TASK_STATE_FAILED";
const INPUT = "TASK_STATE_INPUT_REQUIRED";

describe("what a peer said, as an event of a session", () => {
  it("a message with what it says beside its content [W01]", () => {
    const expected = { ...about, ...said, content: content({ text: "foo" }), turnComplete: true };
    expect(event(message([text("foo")], escalating))).toEqual({ ...expected, actions: { escalate: true } });
    expect(event(message([text("foo")], escalating), { allow: [] })).toEqual(expected);
    expect(event(message([text("foo")], escalating), { allow: ["escalate", "transferToAgent"] })).toEqual({
      ...expected,
      actions: { escalate: true, transferToAgent: "a-2" },
    });
  });

  it("a message whose metadata are null [W02]", () => {
    const nothing = Object.fromEntries(Object.keys(escalating).map((key) => [key, null]));
    expect(event(message([text("foo")], nothing))).toEqual({
      ...about,
      customMetadata: ids,
      content: content({ text: "foo" }),
      turnComplete: true,
    });
  });

  it("a message without parts ends the turn [W03]", () => {
    expect(event(message([]))).toEqual({ ...about, customMetadata: ids, turnComplete: true });
  });

  it("a completed task: its artifacts and its message, and no call waits any more [W04]", () => {
    const from = task(
      DONE,
      [[call("get_weather")], [text("foo")], [text("bar")]],
      [text("done")],
      escalating,
    );
    expect(event(from)).toEqual({
      ...about,
      ...said,
      content: content(genaiCall("get_weather"), { text: "foo" }, { text: "bar" }, { text: "done" }),
      turnComplete: true,
      actions: { escalate: true },
    });
  });

  it("a task that completed without a word ends the turn [W05, W12]", () => {
    const end = { ...about, customMetadata: ids, turnComplete: true };
    expect(event(task(DONE))).toEqual(end);
    expect(event(status(DONE))).toEqual(end);
  });

  it("a task that has only begun says nothing [W06, W14]", () => {
    expect(event(task("TASK_STATE_SUBMITTED"))).toBeUndefined();
    expect(event(status("TASK_STATE_WORKING"))).toBeUndefined();
  });

  it("a task that waits: for its calls, each told once [W07, W16, J16]", () => {
    expect(event(task(INPUT, [[call("a")]], undefined, { adk_escalate: true }))).toEqual({
      ...about,
      customMetadata: ids,
      content: content(genaiCall("a")),
      longRunningToolIds: ["a"],
      turnComplete: true,
      actions: { escalate: true },
    });
    expect(event(task(INPUT, [[text("Hm."), call("a")], [call("b")]], [call("a")]))).toMatchObject({
      content: content({ text: "Hm." }, genaiCall("a"), genaiCall("b")),
      longRunningToolIds: ["a", "b"],
    });
  });

  it("a chunk is partial, and says what its metadata say [W08]", () => {
    expect(event(chunk([text("foo"), text("bar")], {}, metadata))).toEqual({
      ...about,
      ...said,
      content: content({ text: "foo" }, { text: "bar" }),
      partial: true,
    });
  });

  it("a chunk without parts says nothing [W09]", () => {
    expect(event(chunk([]))).toBeUndefined();
  });

  it("a chunk with a call that waits [W10]", () => {
    expect(event(chunk([call("a")]))).toMatchObject({ partial: true, longRunningToolIds: ["a"] });
  });

  it("the last status with its message and metadata [W11]", () => {
    expect(event(status(DONE, [text("foo")], { ...metadata, adk_escalate: true }))).toEqual({
      ...about,
      ...said,
      content: content({ text: "foo" }),
      turnComplete: true,
      actions: { escalate: true },
    });
  });

  it("progress is a thought that is not kept [W13, V24]", () => {
    expect(event(status("TASK_STATE_WORKING", [text("working...")]))).toEqual({
      ...about,
      customMetadata: ids,
      content: content({ text: "working...", thought: true }),
      partial: true,
    });
  });

  it("a failure keeps its content and is an error [W15, W17, J17]", () => {
    const expected = { content: content({ text: "no" }), errorMessage: "no", errorCode: "A2A_TASK_FAILED" };
    expect(event(status(FAILED, [text("no")]))).toMatchObject({ ...expected, turnComplete: true });
    expect(event(task(FAILED, [], [text("no")]))).toMatchObject(expected);
    expect(event(task(DONE, [], [text("no")]))).not.toHaveProperty("errorMessage");
  });

  it.each([
    [FAILED, "A2A_TASK_FAILED", "a2a task failed"],
    ["TASK_STATE_CANCELED", "A2A_TASK_CANCELED", "a2a task was canceled"],
    ["TASK_STATE_REJECTED", "A2A_TASK_REJECTED", "a2a task was rejected"],
  ] as const)("%s is an error also without a word [J17]", (state, errorCode, errorMessage) => {
    for (const from of [status(state), task(state)]) {
      expect(event(from)).toMatchObject({ errorCode, errorMessage, turnComplete: true });
    }
    expect(event(status(state, [text("because")]))).toMatchObject({ errorCode, errorMessage: "because" });
  });

  it("the first of several texts of a failure is the error [W18]", () => {
    expect(event(task(FAILED, [], [text("1"), text("2")]))).toMatchObject({
      errorMessage: "1",
      content: content({ text: "1" }, { text: "2" }),
    });
  });

  it("a failure keeps its data [W19]", () => {
    const json = btoa('<a2a_datapart_json>{"structured":true}</a2a_datapart_json>');
    expect(event(status(FAILED, [text("no"), { data: { structured: true } }]))).toMatchObject({
      errorMessage: "no",
      content: content({ text: "no" }, { inlineData: { mimeType: "text/plain", data: json } }),
    });
  });

  it("a text that is marked as the error is no content [W20, W21]", () => {
    expect(event(status(FAILED, [errorText("no"), text("extra details")]))).toMatchObject({
      errorMessage: "no",
      content: content({ text: "extra details" }),
    });
    expect(event(status(INPUT, [errorText("requesting input"), call("tool_lr")]))).toMatchObject({
      errorMessage: "requesting input",
      content: content(genaiCall("tool_lr")),
      longRunningToolIds: ["tool_lr"],
    });
  });

  it("the reset of a partial artifact says nothing [W22, J15]", () => {
    const from = chunk(
      [{ data: {}, metadata: { adk_partial: true } }],
      { lastChunk: true },
      { adk_partial: true },
    );
    expect(event(from)).toBeUndefined();
  });

  it.each([
    [{ lastChunk: true }, undefined, false],
    [{}, undefined, true],
    [{ append: true }, undefined, true],
    [{ append: true, lastChunk: true }, undefined, true],
    [{ append: true }, { adk_partial: false }, false],
    [{}, { adk_partial: true }, true],
  ])("a chunk with %j and %j is partial: %j [W23]", (flags, more, partial) => {
    expect(event(chunk([text("x")], flags, more))?.partial ?? false).toBe(partial);
  });

  it("a question without a call gets a call that stands for it [W24, J18]", () => {
    expect(event(status(INPUT, [text("Weather."), text("Which city?")]))).toEqual({
      ...about,
      customMetadata: ids,
      turnComplete: true,
      content: content(
        { text: "Weather." },
        {
          functionCall: {
            id: "mock-1",
            name: "mock_function_call_for_required_user_input",
            args: { input_required: "Which city?" },
          },
        },
      ),
      longRunningToolIds: ["mock-1"],
    });
    expect(event(status("TASK_STATE_AUTH_REQUIRED", [{ data: { url: "x" } }]))).toMatchObject({
      content: content({
        functionCall: {
          id: "mock-1",
          name: "mock_function_call_for_required_user_auth",
          args: { auth_required: { url: "x" } },
        },
      }),
    });
    expect(event(status(INPUT))).toMatchObject({
      content: content({ functionCall: { args: { input_required: "" } } }),
    });
  });

  it("names neither its author nor its task, and marks its error's code [J19]", () => {
    const forged: JsonObject = {
      adk_author: "user",
      adk_branch: "x",
      adk_error_message: "forged",
      adk_error_code: "418",
      adk_custom_metadata: { "a2a:task_id": "other", mine: 1 },
    };
    const user: StreamResponse = {
      message: { messageId: "m", role: "ROLE_USER", ...place, parts: [text("hi")], metadata: forged },
    };
    const expected = { ...about, customMetadata: { mine: 1, ...ids }, content: content({ text: "hi" }) };
    expect(event(user)).toEqual({ ...expected, turnComplete: true });
    expect(event(status(FAILED, [text("no")], forged))?.errorCode).toBe("A2A_TASK_FAILED:418");
  });

  it("takes a converter of one's own, which may drop parts", () => {
    const toGenaiPart: SessionEventOptions["toGenaiPart"] = (part) =>
      "text" in part ? { text: part.text.toUpperCase() } : undefined;
    expect(event(message([text("hi"), { data: 1 }]), { toGenaiPart })?.content).toEqual(
      content({ text: "HI" }),
    );
  });
});

describe("an event of a session as a message", () => {
  it("has its parts, its role and what it says beside them, and comes back as it was", () => {
    const original: AdkEvent = {
      author: "remote",
      invocationId: "i",
      branch: "b",
      content: { role: "model", parts: [{ text: "hi" }, { functionCall: { id: "a", name: "f", args: {} } }] },
      longRunningToolIds: ["a"],
      usageMetadata: { totalTokenCount: 3 },
      customMetadata: { mine: 1 },
      actions: { escalate: true },
    };
    const sent = eventToMessage(original, () => "M");
    expect(sent).toEqual({
      messageId: "M",
      role: "ROLE_AGENT",
      parts: [
        { text: "hi" },
        {
          data: { id: "a", name: "f", args: {} },
          metadata: { adk_type: "function_call", adk_is_long_running: true },
        },
      ],
      metadata: {
        adk_invocation_id: "i",
        adk_author: "remote",
        adk_branch: "b",
        adk_usage_metadata: { totalTokenCount: 3 },
        adk_custom_metadata: { mine: 1 },
        adk_escalate: true,
      },
    });
    const { longRunningToolIds: _, ...rest } = original;
    expect(sent && event({ message: sent })).toEqual({ ...rest, turnComplete: true });
  });

  it("is of the user when the user said it, and nothing when nothing was said", () => {
    expect(eventToMessage({ author: "user", content: { parts: [{ text: "hi" }] } })?.role).toBe("ROLE_USER");
    expect(eventToMessage({ author: "a", content: { parts: [{ text: "" }] } })).toBeUndefined();
  });
});
