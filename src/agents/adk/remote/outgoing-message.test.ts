import { describe, expect, it } from "vitest";
import type { Part } from "../../../protocol/index.ts";
import type { AdkEvent, GenaiPart } from "../adk-structural-types.ts";
import { type OutgoingMessage, sessionEventsToOutgoingMessages } from "./outgoing-message.ts";

const createAuthoredEvent = (author: string, ...parts: (string | GenaiPart)[]): AdkEvent => ({
  author,
  content: { parts: parts.map((part) => (typeof part === "string" ? { text: part } : part)) },
});
const withTaskId = (taskId: string, contextId: string, event: AdkEvent): AdkEvent => ({
  ...event,
  customMetadata: { "a2a:task_id": taskId, "a2a:context_id": contextId },
});
const buildFirstMessage = (...events: AdkEvent[]): OutgoingMessage =>
  sessionEventsToOutgoingMessages(events, { name: "a2a" })[0];
const listTexts = (parts: readonly Part[]): unknown[] =>
  parts.map((part) => ("text" in part ? part.text : part));

const createResponsePart = (id: string, response: Record<string, unknown>, name = "fn"): GenaiPart => ({
  functionResponse: { id, name, response },
});

describe("the messages of a session for a remote agent", () => {
  it("contain the first user message [R01]", () => {
    expect(buildFirstMessage(createAuthoredEvent("user", "hello"))).toEqual({ parts: [{ text: "hello" }] });
  });

  it("contain messages of other agents as context [R02]", () => {
    const { parts } = buildFirstMessage(
      createAuthoredEvent("user", "hello"),
      createAuthoredEvent("not-a2a", "hi"),
      createAuthoredEvent("user", "how are you?"),
    );
    expect(listTexts(parts)).toEqual(["hello", "For context:", "[not-a2a] said: hi", "how are you?"]);
  });

  it("contain only new events, in the same conversation [R03]", () => {
    const { parts, contextId, taskId } = buildFirstMessage(
      createAuthoredEvent("user", "msg1"),
      createAuthoredEvent("not-a2a", "resp1"),
      withTaskId("t", "ctx-123", createAuthoredEvent("a2a", "resp2")),
      createAuthoredEvent("user", "msg3"),
      createAuthoredEvent("not-a2a", "resp3"),
    );
    expect(listTexts(parts)).toEqual(["msg3", "For context:", "[not-a2a] said: resp3"]);
    expect([contextId, taskId]).toEqual(["ctx-123", undefined]);
  });

  it("exclude everything before the agent's own output, even without `a2a:` keys", () => {
    const { parts } = buildFirstMessage(
      createAuthoredEvent("user", "hello"),
      createAuthoredEvent("a2a", "hi"),
      createAuthoredEvent("user", "foo"),
    );
    expect(listTexts(parts)).toEqual(["foo"]);
  });

  it("include messages that an error or a request for a credential left undelivered", () => {
    const failed = { author: "a2a", errorCode: "A2A_UNAVAILABLE", errorMessage: "no peer" };
    const request = createAuthoredEvent("a2a", { functionCall: { id: "c", name: "adk_request_credential" } });
    const { parts } = buildFirstMessage(createAuthoredEvent("user", "hello"), failed, request);
    expect(listTexts(parts)).toEqual(["hello"]);
  });

  const asking = withTaskId("task-1", "ctx-1", {
    ...createAuthoredEvent("a2a", { functionCall: { id: "call-1", name: "fn", args: {} } }),
    longRunningToolIds: ["call-1"],
  });

  it("contain the answer for the task that asked [R04]", () => {
    const session = [
      createAuthoredEvent("user", "start"),
      asking,
      withTaskId(
        "task-1",
        "ctx-1",
        createAuthoredEvent("a2a", createResponsePart("call-1", { status: "pending" }), "I wait."),
      ),
      createAuthoredEvent("user", "lgtm:", createResponsePart("call-1", { status: "approved" })),
    ];
    expect(buildFirstMessage(...session)).toEqual({
      taskId: "task-1",
      contextId: "ctx-1",
      parts: [
        { text: "lgtm:" },
        {
          data: { id: "call-1", name: "fn", response: { status: "approved" } },
          metadata: { adk_type: "function_response" },
        },
      ],
    });
  });

  it.each([
    [{ result: "Warsaw" }, { text: "Warsaw" }],
    [{ city: "Warsaw", zip: 1 }, { data: { city: "Warsaw", zip: 1 } }],
  ])("contain the answer %j to a placeholder call as text or data [W24]", (response, part) => {
    const name = "mock_function_call_for_required_user_input";
    const question = withTaskId(
      "T",
      "C",
      createAuthoredEvent("a2a", { functionCall: { id: "m", name, args: {} } }),
    );
    expect(
      buildFirstMessage(question, createAuthoredEvent("user", createResponsePart("m", response, name))),
    ).toEqual({
      taskId: "T",
      contextId: "C",
      parts: [part],
    });
  });

  const inWords = withTaskId("T", "C", {
    ...createAuthoredEvent("a2a", {
      functionCall: { id: "m", name: "mock_function_call_for_required_user_input", args: {} },
    }),
    longRunningToolIds: ["m"],
  });
  const inText = withTaskId("T", "C", createAuthoredEvent("a2a", "Which city?"));
  inText.customMetadata = { ...inText.customMetadata, "a2a:state": "TASK_STATE_INPUT_REQUIRED" };

  it.each([
    ["sent as a call", inWords],
    ["sent as text", inText],
  ])("contain the next message as the answer to a question %s [W24]", (_, question) => {
    const answered = [
      createAuthoredEvent("user", "weather?"),
      question,
      createAuthoredEvent("user", "Warsaw"),
    ];
    expect(buildFirstMessage(...answered)).toEqual({
      taskId: "T",
      contextId: "C",
      parts: [{ text: "Warsaw" }],
    });
    // A delivered answer is not sent again.
    const more = [
      withTaskId("T", "C", createAuthoredEvent("a2a", "Sunny.")),
      createAuthoredEvent("user", "thanks"),
    ];
    expect(buildFirstMessage(...answered, ...more)).toEqual({ contextId: "C", parts: [{ text: "thanks" }] });
  });

  it("start another task while a call waits, which can still be answered", () => {
    const session = [
      createAuthoredEvent("user", "start"),
      asking,
      createAuthoredEvent("user", "what time is it?"),
    ];
    expect(buildFirstMessage(...session)).toEqual({
      contextId: "ctx-1",
      parts: [{ text: "what time is it?" }],
    });
    const later = [
      withTaskId("task-2", "ctx-1", createAuthoredEvent("a2a", "Noon.")),
      createAuthoredEvent("user", createResponsePart("call-1", { ok: true })),
    ];
    expect(buildFirstMessage(...session, ...later).taskId).toBe("task-1");
  });

  it("contain separate answers for several tasks", () => {
    const second = withTaskId("task-2", "ctx-1", {
      ...createAuthoredEvent("a2a", { functionCall: { id: "call-2", name: "fn", args: {} } }),
      longRunningToolIds: ["call-2"],
    });
    const answers = createAuthoredEvent(
      "user",
      "both:",
      createResponsePart("call-2", { ok: 2 }),
      createResponsePart("call-1", { ok: 1 }),
    );
    const all = sessionEventsToOutgoingMessages([asking, second, answers], { name: "a2a" });
    expect(all.map(({ taskId, parts }) => [taskId, parts.length])).toEqual([
      ["task-2", 2],
      ["task-1", 1],
    ]);
  });

  it("take the name of a response from its call", () => {
    const nameless = { functionResponse: { id: "call-1", response: {} } };
    expect(buildFirstMessage(asking, createAuthoredEvent("user", nameless)).parts).toMatchObject([
      { data: { id: "call-1", name: "fn" } },
    ]);
  });

  it("repeat undelivered messages", () => {
    const lost: AdkEvent = { author: "a2a", errorCode: "A2A_UNAVAILABLE", errorMessage: "gone" };
    const session = [
      inWords,
      createAuthoredEvent("user", "Warsaw"),
      lost,
      createAuthoredEvent("user", "hello?"),
    ];
    expect(buildFirstMessage(...session)).toEqual({
      taskId: "T",
      contextId: "C",
      parts: [{ text: "Warsaw" }, { text: "hello?" }],
    });
  });

  it("repeat an undelivered answer even if another task has responded since", () => {
    const second = withTaskId("task-2", "ctx-1", {
      ...createAuthoredEvent("a2a", { functionCall: { id: "call-2", name: "fn", args: {} } }),
      longRunningToolIds: ["call-2"],
    });
    const answers = createAuthoredEvent(
      "user",
      "both:",
      createResponsePart("call-1", { ok: 1 }),
      createResponsePart("call-2", { ok: 2 }),
    );
    const session = [
      asking,
      second,
      answers,
      withTaskId("task-1", "ctx-1", createAuthoredEvent("a2a", "Done.")),
    ];
    const again = createAuthoredEvent("user", "hello?");
    expect(buildFirstMessage(...session, again)).toMatchObject({
      taskId: "task-2",
      parts: [{ data: { id: "call-2" } }, { text: "hello?" }],
    });
    // The answer is not sent a third time.
    const deliveredEvents = [
      ...session,
      again,
      withTaskId("task-2", "ctx-1", createAuthoredEvent("a2a", "Done, too.")),
      createAuthoredEvent("user", "bye"),
    ];
    expect(buildFirstMessage(...deliveredEvents)).toEqual({ contextId: "ctx-1", parts: [{ text: "bye" }] });
  });

  it("contain no transfer calls", () => {
    const { parts } = buildFirstMessage(
      createAuthoredEvent("user", "hi"),
      createAuthoredEvent("boss", {
        functionCall: { name: "transfer_to_agent", args: { agentName: "a2a" } },
      }),
      createAuthoredEvent("boss", { functionResponse: { name: "transfer_to_agent", response: {} } }),
    );
    expect(listTexts(parts)).toEqual(["hi"]);
  });

  it("contain converted parts", () => {
    const toA2aPart = ({ text }: GenaiPart): Part | undefined =>
      text ? { text: text.toUpperCase() } : undefined;
    const events = [createAuthoredEvent("user", "hi", { inlineData: { data: "", mimeType: "image/png" } })];
    expect(sessionEventsToOutgoingMessages(events, { name: "a2a", toA2aPart })).toEqual([
      { parts: [{ text: "HI" }] },
    ]);
  });

  it("contain answers to other agents' calls as text, except credentials", () => {
    const { parts, taskId } = buildFirstMessage(
      createAuthoredEvent(
        "user",
        createResponsePart("z", { ok: 1 }, "f"),
        createResponsePart("y", { token: "s" }, "adk_request_credential"),
      ),
    );
    expect(listTexts(parts)).toEqual(['Tool f returned: {"ok":1}']);
    expect(taskId).toBeUndefined();
  });

  it("contain other agents' calls and results as text [R05, R06]", () => {
    const { parts } = buildFirstMessage(
      createAuthoredEvent("some agent", { functionCall: { name: "get_weather", args: { city: "Warsaw" } } }),
      createAuthoredEvent("some agent", {
        functionResponse: { name: "get_weather", response: { temp: "1C" } },
      }),
      createAuthoredEvent("some agent", {
        functionCall: { name: "adk_request_credential", args: { secret: 1 } },
      }),
    );
    expect(listTexts(parts)).toEqual([
      "For context:",
      '[some agent] called tool get_weather with parameters: {"city":"Warsaw"}',
      "For context:",
      '[some agent] get_weather tool returned result: {"temp":"1C"}',
    ]);
  });

  it("contain other agents' files and code unchanged [R07]", () => {
    const { parts } = buildFirstMessage(
      createAuthoredEvent(
        "x",
        { inlineData: { data: "/w==", mimeType: "image/png" } },
        { executableCode: { code: "1" } },
        { codeExecutionResult: { output: "1" } },
      ),
    );
    expect(parts).toMatchObject([
      { text: "For context:" },
      { raw: "/w==" },
      { metadata: { adk_type: "executable_code" } },
      { metadata: { adk_type: "code_execution_result" } },
    ]);
  });

  it("contain no thoughts, no partial events, and no old events [R08, R09]", () => {
    expect(buildFirstMessage(createAuthoredEvent("x", { text: "Hm.", thought: true })).parts).toEqual([]);
    expect(buildFirstMessage({ ...createAuthoredEvent("x", "Hel"), partial: true }).parts).toEqual([]);
    expect(
      buildFirstMessage(
        createAuthoredEvent("user", "hi"),
        withTaskId("t", "c", createAuthoredEvent("a2a", "hello")),
      ).parts,
    ).toEqual([]);
    expect(buildFirstMessage().parts).toEqual([]);
  });

  it("contain no events of parallel branches", () => {
    const events = ["p.a", "p.b", "p", "p.a.x"].map((branch) => ({
      ...createAuthoredEvent("x", branch),
      branch,
    }));
    expect(
      listTexts(sessionEventsToOutgoingMessages(events, { name: "a2a", branch: "p.a" })[0].parts),
    ).toEqual(["For context:", "[x] said: p.a", "For context:", "[x] said: p"]);
  });
});
