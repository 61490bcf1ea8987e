import { describe, expect, it } from "vitest";
import type {
  Artifact,
  JsonObject,
  Message,
  Part,
  StreamResponse,
  Task,
  TaskState,
} from "../../protocol/index.ts";
import { eventToMessage } from "./event-to-message.ts";
import { toSessionEvent, type SessionEventOptions } from "./to-session-event.ts";
import type { AdkEvent } from "./adk-structural-types.ts";

const options = { author: "remote", branch: "b", invocationId: "i", newId: () => "mock-1" };
const expectedOrigin = { author: "remote", branch: "b", invocationId: "i" };
const taskIds = { taskId: "T", contextId: "C" };
const taskIdMetadata = { "a2a:task_id": "T", "a2a:context_id": "C" };

const toNulls = (...names: string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [`adk_${name}`, null]));
const createTextPart = (value: string): Part => ({ text: value });
const createCallPart = (id: string): Part => ({
  data: { id, name: "get_weather", args: {} },
  metadata: { adk_type: "function_call", adk_is_long_running: true },
});
const createGenaiCall = (id: string): object => ({ functionCall: { id, name: "get_weather", args: {} } });
const createErrorPart = (value: string): Part => ({ text: value, metadata: { adk_is_error_message: true } });
const metadata: JsonObject = {
  adk_grounding_metadata: { sourceFlaggingUris: [{ sourceId: "id1" }] },
  adk_usage_metadata: { candidatesTokenCount: 12, thoughtsTokenCount: 42 },
  adk_custom_metadata: { nested: { key: "value" } },
};
const escalatingMetadata: JsonObject = { ...metadata, adk_escalate: true, adk_transfer_to_agent: "a-2" };
const expectedMetadata = {
  groundingMetadata: { sourceFlaggingUris: [{ sourceId: "id1" }] },
  usageMetadata: { candidatesTokenCount: 12, thoughtsTokenCount: 42 },
  customMetadata: { nested: { key: "value" }, ...taskIdMetadata },
};

function buildEvent(from: StreamResponse, more: Partial<SessionEventOptions> = {}): AdkEvent | undefined {
  return toSessionEvent(from, { ...options, ...more });
}

function createMessage(parts: Part[], more: JsonObject = {}): StreamResponse {
  return { message: { messageId: "m", role: "ROLE_AGENT", ...taskIds, parts, metadata: more } };
}

function createTask(
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

function createStatusUpdate(state: TaskState, told?: Part[], more: JsonObject = {}): StreamResponse {
  const update: Task["status"] = { state };
  if (told) update.message = { messageId: "m", role: "ROLE_AGENT", parts: told };
  return { statusUpdate: { ...taskIds, status: update, metadata: more } };
}

function createChunk(
  parts: Part[],
  flags: { append?: boolean; lastChunk?: boolean } = {},
  more?: JsonObject,
): StreamResponse {
  return {
    artifactUpdate: {
      ...taskIds,
      artifact: { artifactId: "A", parts },
      ...flags,
      ...(more && { metadata: more }),
    },
  };
}

const createContent = (...parts: object[]): object => ({ role: "model", parts });
const COMPLETED = "TASK_STATE_COMPLETED";
const FAILED = "TASK_STATE_FAILED";
const INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED";

describe("the output of a peer as a session event", () => {
  it("a message with metadata [W01]", () => {
    const expected = {
      ...expectedOrigin,
      ...expectedMetadata,
      content: createContent({ text: "foo" }),
      turnComplete: true,
    };
    expect(buildEvent(createMessage([createTextPart("foo")], escalatingMetadata))).toEqual({
      ...expected,
      actions: { escalate: true },
    });
    expect(
      buildEvent(createMessage([createTextPart("foo")], escalatingMetadata), { allowedActions: [] }),
    ).toEqual(expected);
    expect(
      buildEvent(createMessage([createTextPart("foo")], escalatingMetadata), {
        allowedActions: ["escalate", "transferToAgent"],
      }),
    ).toEqual({
      ...expected,
      actions: { escalate: true, transferToAgent: "a-2" },
    });
  });

  it.each(["a message", "a task", "a status update", "an artifact update"])(
    "%s in which all metadata are null is the same event as without metadata [W02]",
    (kind) => {
      const createResponse = (of: JsonObject, ofPart: JsonObject): StreamResponse => {
        const parts = [
          { text: "foo", metadata: ofPart },
          { data: { id: "f", name: "f", args: {} }, metadata: ofPart },
        ];
        if (kind === "a message") return createMessage(parts, of);
        if (kind === "a task") return createTask("TASK_STATE_FAILED", [parts], [createTextPart("no")], of);
        if (kind === "a status update") return createStatusUpdate("TASK_STATE_FAILED", parts, of);
        const artifact = { artifactId: "a", parts, metadata: of };
        return { artifactUpdate: { ...taskIds, artifact, append: true, metadata: of } };
      };
      const nothing = toNulls(
        ..."grounding_metadata usage_metadata citation_metadata custom_metadata escalate".split(" "),
        ..."transfer_to_agent error_code error_message partial invocation_id author branch".split(" "),
        ..."finish_reason model_version actions".split(" "),
      );
      const nothingOfPart = toNulls(
        ..."type thought thought_signature video_metadata is_long_running is_error_message more".split(" "),
      );
      // Go's bridge writes this key without its prefix.
      nothingOfPart["video_metadata"] = null;
      const actionNames = ["escalate", "skipSummarization", "transferToAgent"] as const;
      const permissions = { allowedActions: actionNames, stateKeys: ["color"] };
      const nullActions = {
        escalate: null,
        skipSummarization: null,
        transferToAgent: null,
        stateDelta: null,
        skip_summarization: null,
        transfer_to_agent: null,
        state_delta: null,
      };
      const events = [{}, nothing, { ...nothing, adk_actions: nullActions }].map((metadata) =>
        buildEvent(createResponse(metadata, metadata === nothing ? nothingOfPart : {}), permissions),
      );
      const wrappedCall = `<a2a_datapart_json>{"id":"f","name":"f","args":{}}</a2a_datapart_json>`;
      const [event] = events;
      for (const other of events) expect(other).toStrictEqual(event);
      expect(event?.content?.parts).toStrictEqual([
        { text: "foo" },
        { inlineData: { mimeType: "text/plain", data: btoa(wrappedCall) } },
        ...(kind === "a task" ? [{ text: "no" }] : []),
      ]);
      // The event of an ended task has this action in any case.
      expect(event?.actions).toEqual(kind === "a task" ? { skipSummarization: true } : undefined);
    },
  );

  it("a message without parts ends the turn [W03]", () => {
    expect(buildEvent(createMessage([]))).toEqual({
      ...expectedOrigin,
      customMetadata: taskIdMetadata,
      turnComplete: true,
    });
  });

  it("a completed task has its artifacts and message, and no pending calls [W04]", () => {
    const from = createTask(
      COMPLETED,
      [[createCallPart("get_weather")], [createTextPart("foo")], [createTextPart("bar")]],
      [createTextPart("done")],
      escalatingMetadata,
    );
    expect(buildEvent(from)).toEqual({
      ...expectedOrigin,
      ...expectedMetadata,
      content: createContent(
        createGenaiCall("get_weather"),
        { text: "foo" },
        { text: "bar" },
        { text: "done" },
      ),
      turnComplete: true,
      actions: { escalate: true, skipSummarization: true },
    });
  });

  it("a task that completed without output ends the turn [W05, W12]", () => {
    const end = { ...expectedOrigin, customMetadata: taskIdMetadata, turnComplete: true };
    expect(buildEvent(createTask(COMPLETED))).toEqual(end);
    expect(buildEvent(createStatusUpdate(COMPLETED))).toEqual(end);
  });

  // Measured: ADK for Python 2.13.0, `to_a2a`.
  it.each([
    ["on an artifact", { artifacts: { adk_actions: { stateDelta: {}, escalate: true } } }],
    [
      "on the task, as in ADK's legacy executor",
      { task: { adk_actions: { escalate: true, stateDelta: {} } } },
    ],
    ["on the task, as a JSON string", { task: { adk_actions: '{"escalate": true}' } }],
    ["on a message of the turn", { message: { adk_actions: { escalate: true, stateDelta: {} } } }],
  ])("a task escalates if ADK for Python writes the action %s", (_, where) => {
    const { artifacts, task: taskMetadata, message }: Record<string, JsonObject | undefined> = where;
    const { task } = createTask(COMPLETED, [[createTextPart("stop")]], undefined, taskMetadata) as {
      task: Task;
    };
    for (const artifact of task.artifacts ?? []) if (artifacts) artifact.metadata = artifacts;
    const user: Message = { messageId: "u", role: "ROLE_USER", parts: [createTextPart("go")] };
    const agentMessage: Message = { messageId: "a", role: "ROLE_AGENT", parts: [] };
    if (message) task.history = [user, { ...agentMessage, metadata: message }];
    expect(buildEvent({ task })?.actions).toEqual({ escalate: true, skipSummarization: true });
    if (message) {
      task.history = [{ ...agentMessage, metadata: message }, user];
      expect(buildEvent({ task })?.actions, "an earlier turn").toEqual({ skipSummarization: true });
    }
  });

  it("a working task shows its progress message as a thought", () => {
    const from = createTask("TASK_STATE_WORKING", [[createTextPart("half")]], [createTextPart("Looking …")]);
    expect(buildEvent(from)).toEqual({
      ...expectedOrigin,
      customMetadata: taskIdMetadata,
      partial: true,
      content: createContent({ text: "Looking …", thought: true }, { text: "half" }),
    });
    expect(buildEvent(createTask("TASK_STATE_WORKING", [], [createTextPart("Looking …")]))?.content).toEqual(
      createContent({ text: "Looking …", thought: true }),
    );
  });

  it("has the reason for which the model stopped, the model's version, and its usage", () => {
    const event = buildEvent(
      createStatusUpdate("TASK_STATE_FAILED", [createTextPart("stopped")], {
        adk_finish_reason: "SAFETY",
        adk_model_version: "m-1",
        adk_usage_metadata: { promptTokenCount: 7 },
      }),
    );
    expect(event).toMatchObject({
      finishReason: "SAFETY",
      modelVersion: "m-1",
      usageMetadata: { promptTokenCount: 7 },
    });
  });

  it("a task that has just started produces no event [W06, W14]", () => {
    expect(buildEvent(createTask("TASK_STATE_SUBMITTED"))).toBeUndefined();
    expect(buildEvent(createStatusUpdate("TASK_STATE_WORKING"))).toBeUndefined();
  });

  it("a waiting task contains each pending call once [W07, W16, J16]", () => {
    expect(
      buildEvent(createTask(INPUT_REQUIRED, [[createCallPart("a")]], undefined, { adk_escalate: true })),
    ).toEqual({
      ...expectedOrigin,
      customMetadata: taskIdMetadata,
      content: createContent(createGenaiCall("a")),
      longRunningToolIds: ["a"],
      turnComplete: true,
      actions: { escalate: true },
    });
    expect(
      buildEvent(
        createTask(
          INPUT_REQUIRED,
          [[createTextPart("Hm."), createCallPart("a")], [createCallPart("b")]],
          [createCallPart("a")],
        ),
      ),
    ).toMatchObject({
      content: createContent({ text: "Hm." }, createGenaiCall("a"), createGenaiCall("b")),
      longRunningToolIds: ["a", "b"],
    });
  });

  it("a chunk is partial and has its metadata [W08]", () => {
    expect(buildEvent(createChunk([createTextPart("foo"), createTextPart("bar")], {}, metadata))).toEqual({
      ...expectedOrigin,
      ...expectedMetadata,
      content: createContent({ text: "foo" }, { text: "bar" }),
      partial: true,
    });
  });

  it("a chunk without parts produces no event [W09]", () => {
    expect(buildEvent(createChunk([]))).toBeUndefined();
  });

  it("a chunk with a pending call [W10]", () => {
    expect(buildEvent(createChunk([createCallPart("a")]))).toMatchObject({
      partial: true,
      longRunningToolIds: ["a"],
    });
  });

  it("the last status with its message and metadata [W11]", () => {
    expect(
      buildEvent(createStatusUpdate(COMPLETED, [createTextPart("foo")], { ...metadata, adk_escalate: true })),
    ).toEqual({
      ...expectedOrigin,
      ...expectedMetadata,
      content: createContent({ text: "foo" }),
      turnComplete: true,
      actions: { escalate: true },
    });
  });

  it("progress is a partial thought [W13, V24]", () => {
    expect(buildEvent(createStatusUpdate("TASK_STATE_WORKING", [createTextPart("working...")]))).toEqual({
      ...expectedOrigin,
      customMetadata: taskIdMetadata,
      content: createContent({ text: "working...", thought: true }),
      partial: true,
    });
  });

  it("a failure keeps its content and is an error [W15, W17, J17]", () => {
    const expected = {
      content: createContent({ text: "no" }),
      errorMessage: "no",
      errorCode: "A2A_TASK_FAILED",
    };
    expect(buildEvent(createStatusUpdate(FAILED, [createTextPart("no")]))).toMatchObject({
      ...expected,
      turnComplete: true,
    });
    expect(buildEvent(createTask(FAILED, [], [createTextPart("no")]))).toMatchObject(expected);
    expect(buildEvent(createTask(COMPLETED, [], [createTextPart("no")]))).not.toHaveProperty("errorMessage");
  });

  it.each([
    [FAILED, "A2A_TASK_FAILED", "a2a task failed"],
    ["TASK_STATE_CANCELED", "A2A_TASK_CANCELED", "a2a task was canceled"],
    ["TASK_STATE_REJECTED", "A2A_TASK_REJECTED", "a2a task was rejected"],
  ] as const)("%s is an error even without a message [J17]", (state, errorCode, errorMessage) => {
    for (const from of [createStatusUpdate(state), createTask(state)]) {
      expect(buildEvent(from)).toMatchObject({ errorCode, errorMessage, turnComplete: true });
    }
    expect(buildEvent(createStatusUpdate(state, [createTextPart("because")]))).toMatchObject({
      errorCode,
      errorMessage: "because",
    });
  });

  it("the first of several texts of a failure is the error [W18]", () => {
    expect(buildEvent(createTask(FAILED, [], [createTextPart("1"), createTextPart("2")]))).toMatchObject({
      errorMessage: "1",
      content: createContent({ text: "1" }, { text: "2" }),
    });
  });

  it("a failure keeps its data [W19]", () => {
    const json = btoa('<a2a_datapart_json>{"structured":true}</a2a_datapart_json>');
    expect(
      buildEvent(createStatusUpdate(FAILED, [createTextPart("no"), { data: { structured: true } }])),
    ).toMatchObject({
      errorMessage: "no",
      content: createContent({ text: "no" }, { inlineData: { mimeType: "text/plain", data: json } }),
    });
  });

  it("a text that is marked as an error is not content [W20, W21]", () => {
    expect(
      buildEvent(createStatusUpdate(FAILED, [createErrorPart("no"), createTextPart("extra details")])),
    ).toMatchObject({
      errorMessage: "no",
      content: createContent({ text: "extra details" }),
    });
    expect(
      buildEvent(
        createStatusUpdate(INPUT_REQUIRED, [createErrorPart("requesting input"), createCallPart("tool_lr")]),
      ),
    ).toMatchObject({
      errorMessage: "requesting input",
      content: createContent(createGenaiCall("tool_lr")),
      longRunningToolIds: ["tool_lr"],
    });
  });

  it("the reset of a partial artifact produces no event [W22, J15]", () => {
    const from = createChunk(
      [{ data: {}, metadata: { adk_partial: true } }],
      { lastChunk: true },
      { adk_partial: true },
    );
    expect(buildEvent(from)).toBeUndefined();
  });

  it.each([
    [{ lastChunk: true }, undefined, false],
    [{}, undefined, true],
    [{ append: true }, undefined, true],
    [{ append: true, lastChunk: true }, undefined, true],
    [{ append: true }, { adk_partial: false }, false],
    [{}, { adk_partial: true }, true],
  ])("a chunk with %j and %j is partial: %j [W23]", (flags, more, partial) => {
    expect(buildEvent(createChunk([createTextPart("x")], flags, more))?.partial ?? false).toBe(partial);
  });

  it("a question without a call becomes a placeholder call [W24, J18]", () => {
    expect(
      buildEvent(
        createStatusUpdate(INPUT_REQUIRED, [createTextPart("Weather."), createTextPart("Which city?")]),
      ),
    ).toEqual({
      ...expectedOrigin,
      customMetadata: taskIdMetadata,
      turnComplete: true,
      content: createContent(
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
    expect(
      buildEvent(createStatusUpdate("TASK_STATE_AUTH_REQUIRED", [{ data: { url: "x" } }])),
    ).toMatchObject({
      content: createContent({
        functionCall: {
          id: "mock-1",
          name: "mock_function_call_for_required_user_auth",
          args: { auth_required: { url: "x" } },
        },
      }),
    });
    expect(buildEvent(createStatusUpdate(INPUT_REQUIRED))).toMatchObject({
      content: createContent({ functionCall: { args: { input_required: "" } } }),
    });
  });

  it("cannot choose its author or task, and has a prefixed error code [J19]", () => {
    const forged: JsonObject = {
      adk_author: "user",
      adk_branch: "x",
      adk_error_message: "forged",
      adk_error_code: "418",
      adk_custom_metadata: { "a2a:task_id": "other", mine: 1 },
    };
    const user: StreamResponse = {
      message: {
        messageId: "m",
        role: "ROLE_USER",
        ...taskIds,
        parts: [createTextPart("hi")],
        metadata: forged,
      },
    };
    const expected = {
      ...expectedOrigin,
      customMetadata: { mine: 1, ...taskIdMetadata },
      content: createContent({ text: "hi" }),
    };
    expect(buildEvent(user)).toEqual({ ...expected, turnComplete: true });
    expect(buildEvent(createStatusUpdate(FAILED, [createTextPart("no")], forged))?.errorCode).toBe(
      "A2A_TASK_FAILED:418",
    );
  });

  it("accepts a custom converter, which may drop parts", () => {
    const toGenaiPart: SessionEventOptions["toGenaiPart"] = (part) =>
      "text" in part ? { text: part.text.toUpperCase() } : undefined;
    expect(buildEvent(createMessage([createTextPart("hi"), { data: 1 }]), { toGenaiPart })?.content).toEqual(
      createContent({ text: "HI" }),
    );
  });
});

describe("a session event as a message", () => {
  it("has its parts, role, and metadata, and converts back unchanged", () => {
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
        adk_actions: { escalate: true },
      },
    });
    const { longRunningToolIds: _, ...rest } = original;
    expect(sent && buildEvent({ message: sent })).toEqual({ ...rest, turnComplete: true });
  });

  it("has the user role for user events, and is dropped without content", () => {
    expect(eventToMessage({ author: "user", content: { parts: [{ text: "hi" }] } })?.role).toBe("ROLE_USER");
    expect(eventToMessage({ author: "a", content: { parts: [{ text: "" }] } })).toBeUndefined();
  });
});
