import { describe, expect, it } from "vitest";
import type { Part } from "../../protocol/index.ts";
import type { AdkEvent, GenaiPart } from "../types.ts";
import { type Outgoing, toOutgoing } from "./outgoing.ts";

const by = (author: string, ...parts: (string | GenaiPart)[]): AdkEvent => ({
  author,
  content: { parts: parts.map((part) => (typeof part === "string" ? { text: part } : part)) },
});
const inTask = (taskId: string, contextId: string, event: AdkEvent): AdkEvent => ({
  ...event,
  customMetadata: { "a2a:task_id": taskId, "a2a:context_id": contextId },
});
const sent = (...events: AdkEvent[]): Outgoing => toOutgoing(events, { name: "a2a" })[0];
const texts = (parts: readonly Part[]): unknown[] => parts.map((part) => ("text" in part ? part.text : part));

const answer = (id: string, response: Record<string, unknown>, name = "fn"): GenaiPart => ({
  functionResponse: { id, name, response },
});

describe("what a remote agent is told of a session", () => {
  it("what the user says first [R01]", () => {
    expect(sent(by("user", "hello"))).toEqual({ parts: [{ text: "hello" }] });
  });

  it("what other agents said, as context [R02]", () => {
    const { parts } = sent(by("user", "hello"), by("not-a2a", "hi"), by("user", "how are you?"));
    expect(texts(parts)).toEqual(["hello", "For context:", "[not-a2a] said: hi", "how are you?"]);
  });

  it("only what is new since it spoke, in the same conversation [R03]", () => {
    const { parts, contextId, taskId } = sent(
      by("user", "msg1"),
      by("not-a2a", "resp1"),
      inTask("t", "ctx-123", by("a2a", "resp2")),
      by("user", "msg3"),
      by("not-a2a", "resp3"),
    );
    expect(texts(parts)).toEqual(["msg3", "For context:", "[not-a2a] said: resp3"]);
    expect([contextId, taskId]).toEqual(["ctx-123", undefined]);
  });

  const asking = inTask("task-1", "ctx-1", {
    ...by("a2a", { functionCall: { id: "call-1", name: "fn", args: {} } }),
    longRunningToolIds: ["call-1"],
  });

  it("the answer to what it asked, for the task that asked [R04]", () => {
    const session = [
      by("user", "start"),
      asking,
      inTask("task-1", "ctx-1", by("a2a", answer("call-1", { status: "pending" }), "I wait.")),
      by("user", "lgtm:", answer("call-1", { status: "approved" })),
    ];
    expect(sent(...session)).toEqual({
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
  ])("the answer %j to a question that came without a call, without one [W24]", (response, part) => {
    const name = "mock_function_call_for_required_user_input";
    const question = inTask("T", "C", by("a2a", { functionCall: { id: "m", name, args: {} } }));
    expect(sent(question, by("user", answer("m", response, name)))).toEqual({
      taskId: "T",
      contextId: "C",
      parts: [part],
    });
  });

  const inWords = inTask("T", "C", {
    ...by("a2a", { functionCall: { id: "m", name: "mock_function_call_for_required_user_input", args: {} } }),
    longRunningToolIds: ["m"],
  });
  const inText = inTask("T", "C", by("a2a", "Which city?"));
  inText.customMetadata = { ...inText.customMetadata, "a2a:state": "TASK_STATE_INPUT_REQUIRED" };

  it.each([
    ["that stands as a call", inWords],
    ["that stands as text", inText],
  ])("what is said after a question in words %s, as its answer [W24]", (_, question) => {
    const answered = [by("user", "weather?"), question, by("user", "Warsaw")];
    expect(sent(...answered)).toEqual({ taskId: "T", contextId: "C", parts: [{ text: "Warsaw" }] });
    // But not once it was answered.
    const more = [inTask("T", "C", by("a2a", "Sunny.")), by("user", "thanks")];
    expect(sent(...answered, ...more)).toEqual({ contextId: "C", parts: [{ text: "thanks" }] });
  });

  it("what is said while a call waits, as something else: the call can still be answered", () => {
    const session = [by("user", "start"), asking, by("user", "what time is it?")];
    expect(sent(...session)).toEqual({ contextId: "ctx-1", parts: [{ text: "what time is it?" }] });
    const later = [inTask("task-2", "ctx-1", by("a2a", "Noon.")), by("user", answer("call-1", { ok: true }))];
    expect(sent(...session, ...later).taskId).toBe("task-1");
  });

  it("answers to several tasks, each to its own", () => {
    const second = inTask("task-2", "ctx-1", {
      ...by("a2a", { functionCall: { id: "call-2", name: "fn", args: {} } }),
      longRunningToolIds: ["call-2"],
    });
    const answers = by("user", "both:", answer("call-2", { ok: 2 }), answer("call-1", { ok: 1 }));
    const all = toOutgoing([asking, second, answers], { name: "a2a" });
    expect(all.map(({ taskId, parts }) => [taskId, parts.length])).toEqual([
      ["task-2", 2],
      ["task-1", 1],
    ]);
  });

  it("an answer without a name has the name of its call", () => {
    const nameless = { functionResponse: { id: "call-1", response: {} } };
    expect(sent(asking, by("user", nameless)).parts).toMatchObject([{ data: { id: "call-1", name: "fn" } }]);
  });

  it("what it was told in vain, again", () => {
    const lost: AdkEvent = { author: "a2a", errorCode: "A2A_UNAVAILABLE", errorMessage: "gone" };
    const session = [inWords, by("user", "Warsaw"), lost, by("user", "hello?")];
    expect(sent(...session)).toEqual({
      taskId: "T",
      contextId: "C",
      parts: [{ text: "Warsaw" }, { text: "hello?" }],
    });
  });

  it("an answer that was told in vain, again, though its peer was heard in another task since", () => {
    const second = inTask("task-2", "ctx-1", {
      ...by("a2a", { functionCall: { id: "call-2", name: "fn", args: {} } }),
      longRunningToolIds: ["call-2"],
    });
    const answers = by("user", "both:", answer("call-1", { ok: 1 }), answer("call-2", { ok: 2 }));
    const session = [asking, second, answers, inTask("task-1", "ctx-1", by("a2a", "Done."))];
    const again = by("user", "hello?");
    expect(sent(...session, again)).toMatchObject({
      taskId: "task-2",
      parts: [{ data: { id: "call-2" } }, { text: "hello?" }],
    });
    // And not a third time.
    const heard = [...session, again, inTask("task-2", "ctx-1", by("a2a", "Done, too.")), by("user", "bye")];
    expect(sent(...heard)).toEqual({ contextId: "ctx-1", parts: [{ text: "bye" }] });
  });

  it("nothing of how it was handed the conversation", () => {
    const { parts } = sent(
      by("user", "hi"),
      by("boss", { functionCall: { name: "transfer_to_agent", args: { agentName: "a2a" } } }),
      by("boss", { functionResponse: { name: "transfer_to_agent", response: {} } }),
    );
    expect(texts(parts)).toEqual(["hi"]);
  });

  it("what its owner makes of the parts", () => {
    const toA2aPart = ({ text }: GenaiPart): Part | undefined =>
      text ? { text: text.toUpperCase() } : undefined;
    const events = [by("user", "hi", { inlineData: { data: "", mimeType: "image/png" } })];
    expect(toOutgoing(events, { name: "a2a", toA2aPart })).toEqual([{ parts: [{ text: "HI" }] }]);
  });

  it("an answer to somebody else's call in words, and none about credentials", () => {
    const { parts, taskId } = sent(
      by("user", answer("z", { ok: 1 }, "f"), answer("y", { token: "s" }, "adk_request_credential")),
    );
    expect(texts(parts)).toEqual(['Tool f returned: {"ok":1}']);
    expect(taskId).toBeUndefined();
  });

  it("other agents' calls and results in words [R05, R06]", () => {
    const { parts } = sent(
      by("some agent", { functionCall: { name: "get_weather", args: { city: "Warsaw" } } }),
      by("some agent", { functionResponse: { name: "get_weather", response: { temp: "1C" } } }),
      by("some agent", { functionCall: { name: "adk_request_credential", args: { secret: 1 } } }),
    );
    expect(texts(parts)).toEqual([
      "For context:",
      '[some agent] called tool get_weather with parameters: {"city":"Warsaw"}',
      "For context:",
      '[some agent] get_weather tool returned result: {"temp":"1C"}',
    ]);
  });

  it("other agents' files and code as they are [R07]", () => {
    const { parts } = sent(
      by(
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

  it("no thoughts of others, nothing partial, and nothing where there is nothing new [R08, R09]", () => {
    expect(sent(by("x", { text: "Hm.", thought: true })).parts).toEqual([]);
    expect(sent({ ...by("x", "Hel"), partial: true }).parts).toEqual([]);
    expect(sent(by("user", "hi"), inTask("t", "c", by("a2a", "hello"))).parts).toEqual([]);
    expect(sent().parts).toEqual([]);
  });

  it("nothing of branches beside its own", () => {
    const events = ["p.a", "p.b", "p", "p.a.x"].map((branch) => ({ ...by("x", branch), branch }));
    expect(texts(toOutgoing(events, { name: "a2a", branch: "p.a" })[0].parts)).toEqual([
      "For context:",
      "[x] said: p.a",
      "For context:",
      "[x] said: p",
    ]);
  });
});
