import { createEvent } from "@google/adk";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../engine/index.ts";
import { type Artifact, fold, isEventRefusal, type Part, type Task, getText } from "../../protocol/index.ts";
import { RunEventProcessor, type RunEventProcessorOptions } from "./run-event-processor.ts";
import type { AdkEvent, GenaiPart } from "./adk-structural-types.ts";

const sessionKey = { appName: "app", userId: "A2A_USER_C", sessionId: "C" };
const sessionMetadata = { adk_app_name: "app", adk_user_id: "A2A_USER_C", adk_session_id: "C" };
const extensionMetadata = { "https://google.github.io/adk-docs/a2a/a2a-extension/": true };

function createProcessor(options: Partial<RunEventProcessorOptions> = {}): RunEventProcessor {
  let count = 0;
  let frames = 0;
  return new RunEventProcessor({
    session: sessionKey,
    newId: () => `A${++count}`,
    now: () => ++frames * 20,
    ...options,
  });
}

function processEvents(
  events: readonly AdkEvent[],
  options: Partial<RunEventProcessorOptions> = {},
): AgentEvent[] {
  const processor = createProcessor(options);
  const processed = events.flatMap((event) => processor.process(event));
  return [...processed, ...processor.finish().events];
}

const createContentEvent = (...parts: GenaiPart[]): AdkEvent => ({ content: { role: "model", parts } });
const createTextEvent = (value: string): AdkEvent => createContentEvent({ text: value });
const createErrorEvent = (code: string, message: string): AdkEvent => ({
  errorCode: code,
  errorMessage: message,
});

/** Returns the states and the artifact parts of the events. */
function summarizeEvents(events: readonly AgentEvent[]): unknown[] {
  return events.map((event) => {
    if ("artifact" in event) return event.artifact.parts;
    if ("status" in event) return event.status.state.slice("TASK_STATE_".length);
    return event;
  });
}

const weatherCall: GenaiPart = {
  functionCall: { id: "get_weather", name: "weather", args: { city: "Warsaw" } },
};
const weatherCallPart = {
  data: { id: "get_weather", name: "weather", args: { city: "Warsaw" } },
  metadata: { adk_type: "function_call", adk_is_long_running: true },
};
const pendingResponse: GenaiPart = {
  functionResponse: { id: "get_weather", name: "weather", response: { status: "pending" } },
};
const pendingResponsePart = {
  data: { id: "get_weather", name: "weather", response: { status: "pending" } },
  metadata: { adk_type: "function_response" },
};
const longRunningCallEvent: AdkEvent = {
  ...createContentEvent(weatherCall),
  longRunningToolIds: ["get_weather"],
};

describe("a run", () => {
  it("without output completes with session metadata [V13]", () => {
    expect(processEvents([])).toEqual([
      { status: { state: "TASK_STATE_COMPLETED" }, metadata: { ...sessionMetadata, ...extensionMetadata } },
    ]);
  });

  it("reports the tokens of a model call once, also with text before its function call and with saved files", () => {
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 4 };
    const call = { functionCall: { id: "c", name: "add", args: {} } };
    const savedFiles = [{ filename: "a.txt", version: 0, part: { text: "content" } }];
    const events = processEvents([
      { ...createTextEvent("I add."), usageMetadata },
      { ...createContentEvent(call), usageMetadata },
      { content: { role: "user", parts: [{ functionResponse: { id: "c", name: "add", response: {} } }] } },
      { ...createTextEvent("Saved."), usageMetadata: { promptTokenCount: 20 }, savedFiles },
    ]);
    const usages = events.flatMap((event) =>
      "artifact" in event ? [event.metadata?.["adk_usage_metadata"]] : [],
    );
    expect(usages).toEqual([usageMetadata, undefined, undefined, { promptTokenCount: 20 }, undefined]);
  });

  it("starts with session metadata", () => {
    expect(createProcessor().buildWorkingEvent()).toEqual({
      status: { state: "TASK_STATE_WORKING" },
      metadata: { ...sessionMetadata, ...extensionMetadata },
    });
  });

  it("omits metadata that its task already has", () => {
    const status = { state: "TASK_STATE_WORKING" };
    expect(
      createProcessor().buildWorkingEvent({ ...sessionMetadata, ...extensionMetadata, more: 1 }),
    ).toEqual({ status });
    expect(
      createProcessor().buildWorkingEvent({ ...sessionMetadata, adk_session_id: "other" }),
    ).toHaveProperty("metadata");
  });

  it("emits each complete event as an artifact", () => {
    const code = { code: "get_the_answer()", language: "PYTHON" };
    const events = [
      createContentEvent({ text: "Hello" }, { text: ", world!" }),
      createContentEvent({ executableCode: code }),
    ];
    expect(summarizeEvents(processEvents(events))).toEqual([
      [{ text: "Hello" }, { text: ", world!" }],
      [{ data: code, metadata: { adk_type: "executable_code" } }],
      "COMPLETED",
    ]);
  });

  it("keeps thoughts and text in their order [V38]", () => {
    expect(
      summarizeEvents(
        processEvents([createContentEvent({ text: "Thought part", thought: true }, { text: "Text part" })]),
      ),
    ).toEqual([
      [{ text: "Thought part", metadata: { adk_thought: true } }, { text: "Text part" }],
      "COMPLETED",
    ]);
  });

  it("calls a tool and continues [V30]", () => {
    const [artifact, end] = processEvents([
      createContentEvent({ functionCall: { name: "get_weather", args: { city: "Warsaw" } } }),
    ]);
    expect(artifact).toMatchObject({
      artifact: {
        parts: [
          {
            data: { name: "get_weather", args: { city: "Warsaw" } },
            metadata: { adk_type: "function_call", adk_is_long_running: false },
          },
        ],
      },
      lastChunk: true,
    });
    expect(summarizeEvents([end as AgentEvent])).toEqual(["COMPLETED"]);
  });

  it.each([
    ["no content", {}],
    ["content without parts", { content: { role: "model" } }],
    ["no parts", createContentEvent()],
    ["empty text", createTextEvent("")],
    ["actions only", createEvent({ author: "a", actions: { stateDelta: { x: 1 } } }) as AdkEvent],
  ])("makes no artifact of an event with %s [V43]", (_, event) => {
    expect(summarizeEvents(processEvents([event]))).toEqual(["COMPLETED"]);
  });

  it("reports escalation and the last transfer in its final status [V14, V32]", () => {
    const events: AdkEvent[] = [
      { actions: { escalate: true, transferToAgent: "a-2" } },
      { actions: { transferToAgent: "a-3" } },
    ];
    expect(processEvents(events).at(-1)).toEqual({
      status: { state: "TASK_STATE_COMPLETED" },
      metadata: {
        ...sessionMetadata,
        ...extensionMetadata,
        adk_escalate: true,
        adk_transfer_to_agent: "a-3",
        adk_actions: { escalate: true, transferToAgent: "a-3" },
      },
    });
  });

  it("reports escalation where the clients of ADK read it: on artifacts and on status messages", () => {
    const exitLoop: AdkEvent = {
      ...createContentEvent({ functionResponse: { id: "c1", name: "exit_loop", response: {} } }),
      actions: { escalate: true, skipSummarization: true },
    };
    const adk_actions = { escalate: true, skipSummarization: true };
    // ADK for JavaScript reads the metadata of the artifact update.
    expect(processEvents([exitLoop])).toMatchObject([
      { artifact: { metadata: { adk_actions } }, metadata: { adk_escalate: true } },
      { metadata: { adk_actions } },
    ]);
    expect(processEvents([exitLoop, longRunningCallEvent]).at(-1)).toMatchObject({
      status: { state: "TASK_STATE_INPUT_REQUIRED", message: { metadata: { adk_actions } } },
    });
    expect(processEvents([exitLoop, createErrorEvent("1", "no")]).at(-1)).toMatchObject({
      status: { state: "TASK_STATE_FAILED", message: { metadata: { adk_actions } } },
    });
  });

  it("reports escalation without content in a thought, because Python reads no bare status", () => {
    expect(processEvents([{ actions: { escalate: true } }])[0]).toEqual({
      metadata: { adk_escalate: true },
      status: {
        state: "TASK_STATE_WORKING",
        message: {
          parts: [{ text: "The agent escalates to its caller.", metadata: { adk_thought: true } }],
          metadata: { adk_actions: { escalate: true } },
        },
      },
    });
  });

  it("is an answer if the token limit has cut the text, as in ADK's runner", () => {
    const cut: AdkEvent = {
      ...createTextEvent("It is sun"),
      errorCode: "MAX_TOKENS",
      finishReason: "MAX_TOKENS",
    };
    expect(processEvents([cut])).toMatchObject([
      { artifact: { parts: [{ text: "It is sun" }], metadata: { adk_finish_reason: "MAX_TOKENS" } } },
      { status: { state: "TASK_STATE_COMPLETED" } },
    ]);
  });

  it.each<[string, AdkEvent, string]>([
    [
      "the token limit before any text",
      {
        ...createContentEvent({ text: "Hm.", thought: true }),
        errorCode: "MAX_TOKENS",
        finishReason: "MAX_TOKENS",
      },
      "The model stopped (MAX_TOKENS): the model reached its maximum number of output tokens before it wrote text.",
    ],
    [
      "a safety filter",
      { errorCode: "SAFETY", finishReason: "SAFETY", errorMessage: "hidden" },
      "The model stopped (SAFETY): a safety filter blocked the content.",
    ],
    [
      "a blocked prompt",
      { errorCode: "PROHIBITED_CONTENT", errorMessage: "hidden" },
      "The model rejected the request (PROHIBITED_CONTENT): the content is prohibited.",
    ],
  ])("that ends by %s tells the caller the reason and the usage", (_, event, sentence) => {
    const usageMetadata = { promptTokenCount: 7 };
    const stop = { ...event, usageMetadata, modelVersion: "gemini-2.5-flash-001" };
    const [failure] = processEvents([stop]).slice(-1);
    expect(failure).toMatchObject({
      status: { state: "TASK_STATE_FAILED" },
      metadata: {
        adk_error_code: event.errorCode,
        adk_usage_metadata: usageMetadata,
        adk_model_version: "gemini-2.5-flash-001",
        ...(event.finishReason && { adk_finish_reason: event.finishReason }),
      },
    });
    const text = JSON.stringify(failure);
    expect(text).toContain(sentence);
    expect(text).not.toContain("hidden");
    expect(JSON.stringify(processEvents([stop], { exposeErrors: true }))).toContain(
      event.errorMessage ?? sentence,
    );
  });

  it.each([
    ["of a blocked prompt in streaming mode, which has no finish reason", undefined, "none"],
    ["whose model stopped without content", "STOP", "STOP"],
  ])("%s fails, and tells the caller the finish reason", (_, finishReason, reason) => {
    const usageMetadata = { promptTokenCount: 7 };
    const answer: AdkEvent = { author: "a", usageMetadata, ...(finishReason && { finishReason }) };
    const [failure] = processEvents([answer]).slice(-1);
    expect(failure).toMatchObject({
      status: { state: "TASK_STATE_FAILED" },
      metadata: { adk_usage_metadata: usageMetadata },
    });
    expect(JSON.stringify(failure)).toContain(
      `The model returned neither text nor a function call (finish reason: ${reason}).`,
    );
    // The usage of a last chunk does not fail a run with content.
    const completed = processEvents([createTextEvent("hi"), answer]);
    expect(completed.at(-1)).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
  });

  it("keeps the metadata of an event [V23, V35, V41, V42]", () => {
    const event: AdkEvent = {
      ...createTextEvent("hi"),
      invocationId: "i",
      author: "a",
      branch: "b",
      nodeInfo: { path: "wf.n" },
      citationMetadata: { citations: [{ title: "Title1" }] },
      groundingMetadata: { retrievalMetadata: { googleSearchDynamicRetrievalScore: 23.3 } },
      usageMetadata: { promptTokenCount: 1 },
      customMetadata: { nested: { key: "value" } },
    };
    const metadata = {
      ...sessionMetadata,
      adk_invocation_id: "i",
      adk_author: "a",
      adk_branch: "b",
      adk_node_path: "wf.n",
      adk_citation_metadata: { citations: [{ title: "Title1" }] },
      adk_grounding_metadata: { retrievalMetadata: { googleSearchDynamicRetrievalScore: 23.3 } },
      adk_usage_metadata: { promptTokenCount: 1 },
      adk_custom_metadata: { nested: { key: "value" } },
    };
    const [artifactEvent] = processEvents([event]);
    expect(artifactEvent).toEqual({
      artifact: { artifactId: "A1", parts: [{ text: "hi" }], metadata },
      lastChunk: true,
      metadata,
    });
  });

  it("emits the output of a workflow node", () => {
    expect(
      summarizeEvents(processEvents([{ output: { total: 3 } }, { output: "done" }, { output: [1] }])),
    ).toEqual([
      [{ data: { total: 3 }, metadata: { adk_type: "output" } }],
      [{ data: "done", metadata: { adk_type: "output" } }],
      [{ data: [1], metadata: { adk_type: "output" } }],
      "COMPLETED",
    ]);
  });

  it("separates two authors, whose partial events alternate [V36]", () => {
    const piece = (author: string, value: string): AdkEvent => ({
      ...createTextEvent(value),
      author,
      partial: true,
    });
    const pieces = [piece("1", "Hel"), piece("2", "Wor"), piece("1", "lo"), piece("2", "ld")];
    const wholes = [
      { ...createTextEvent("Hello"), author: "1" },
      { ...createTextEvent("World"), author: "2" },
    ];
    const chunks = processEvents([...pieces, ...wholes]).flatMap((event) =>
      "artifact" in event
        ? [[event.artifact.artifactId, getText(event.artifact.parts), event.lastChunk]]
        : [],
    );
    expect(chunks).toEqual([
      ["A1", "Hello", undefined],
      ["A2", "World", undefined],
      ["A1", "Hello", true],
      ["A2", "World", true],
    ]);
  });

  it("separates parallel branches and nodes of one author [J23]", () => {
    const piece = (value: string, where: Partial<AdkEvent>): AdkEvent => ({
      ...createTextEvent(value),
      ...where,
      author: "a",
      partial: true,
    });
    const places = [{ branch: "p.1" }, { branch: "p.2" }, { nodeInfo: { path: "n" } }];
    const events = [1, 2].flatMap((n) => places.map((place, at) => piece(`${at}.${n} `, place)));
    const texts = new Map<string, string>();
    for (const event of processEvents(events)) {
      if (!("artifact" in event)) continue;
      const { artifactId, parts } = event.artifact;
      texts.set(artifactId, (event.append ? (texts.get(artifactId) ?? "") : "") + getText(parts));
    }
    expect([...texts.values()]).toEqual(["0.1 0.2 ", "1.1 1.2 ", "2.1 2.2 "]);
  });
});

describe("a run with one artifact", () => {
  const perRun = { artifacts: "per-run" } as const;
  const piece = (value: string, where: Partial<AdkEvent> = {}): AdkEvent => ({
    ...createTextEvent(value),
    ...where,
    partial: true,
  });

  /**
   * Returns the content and append flag of each chunk before the last one, the content of the last chunk, and
   * the resulting artifact.
   */
  function mergeEvents(events: readonly AdkEvent[]): {
    chunks: [Part[], boolean][];
    lastChunk: Part[];
    folded: Artifact[];
  } {
    let task: Task = { id: "T", contextId: "C", status: { state: "TASK_STATE_WORKING" } };
    const chunks: [Part[], boolean][] = [];
    const lastChunks: Part[][] = [];
    for (const event of processEvents(events, perRun)) {
      if (!("artifact" in event)) continue;
      expect(lastChunks).toEqual([]);
      if (event.lastChunk) {
        expect(event.append).toBeUndefined();
        lastChunks.push(event.artifact.parts);
      } else chunks.push([event.artifact.parts, event.append ?? false]);
      const next = fold(task, { artifactUpdate: { taskId: "T", contextId: "C", ...event } });
      if (isEventRefusal(next)) throw new Error(next.refusalReason);
      task = next;
    }
    expect(lastChunks).toHaveLength(1);
    const [lastChunk = []] = lastChunks;
    expect(task.artifacts?.map(({ parts }) => parts)).toEqual([lastChunk]);
    return { chunks, lastChunk, folded: task.artifacts ?? [] };
  }

  it("emits partial events, and ends with the content of all messages [V22]", () => {
    const { chunks, lastChunk, folded } = mergeEvents([
      piece("Hello, "),
      piece("world!"),
      createTextEvent("Hello, world!"),
    ]);
    expect(chunks).toEqual([
      [[{ text: "Hello, " }], false],
      [[{ text: "world!" }], true],
    ]);
    expect(lastChunk).toEqual([{ text: "Hello, world!" }]);
    expect(folded).toMatchObject([{ artifactId: "A1", parts: [{ text: "Hello, world!" }] }]);
  });

  it("contains all parts of all events in order [V25, V26]", () => {
    const code = { code: "get_the_answer()", language: "PYTHON" };
    const result = { outcome: "OUTCOME_OK", output: "42" };
    const { chunks, lastChunk } = mergeEvents([
      createContentEvent({ text: "Hello" }, { text: ", world!" }),
      createContentEvent({ executableCode: code }),
      createContentEvent({ codeExecutionResult: result }),
      createTextEvent("The answer is 42"),
    ]);
    expect(chunks).toEqual([
      [[{ text: "Hello" }, { text: ", world!" }], false],
      [[{ data: code, metadata: { adk_type: "executable_code" } }], true],
      [[{ data: result, metadata: { adk_type: "code_execution_result" } }], true],
      [[{ text: "The answer is 42" }], true],
    ]);
    expect(lastChunk).toEqual(chunks.flatMap(([parts]) => parts));
  });

  it("does not join the texts of two messages", () => {
    const pieces = [piece("One"), piece(" message."), createTextEvent("One message.")];
    const { lastChunk } = mergeEvents([...pieces, createTextEvent("Two.")]);
    expect(lastChunk).toEqual([{ text: "One message." }, { text: "Two." }]);
  });

  it("with one message is one event", () => {
    const { chunks, lastChunk } = mergeEvents([createTextEvent("Hello")]);
    expect([chunks, lastChunk]).toEqual([[], [{ text: "Hello" }]]);
  });

  it("does not hold its first message back while the run is idle", () => {
    const processor = createProcessor(perRun);
    expect(processor.hasBufferedParts).toBe(false);
    expect(processor.process(createTextEvent("Hello"))).toEqual([]);
    expect(processor.hasBufferedParts).toBe(true);
    expect(summarizeEvents(processor.flush())).toEqual([[{ text: "Hello" }]]);
    expect(processor.hasBufferedParts).toBe(false);
  });

  it("is marked if no complete event follows, and is not emptied [V34, J15]", () => {
    const code = { code: "get_the_answer()", language: "PYTHON" };
    const { folded } = mergeEvents([
      { ...createContentEvent({ text: "The answer is" }, { executableCode: code }), partial: true },
      piece("42"),
    ]);
    expect(folded).toEqual([
      {
        artifactId: "A1",
        parts: [
          { text: "The answer is" },
          { data: code, metadata: { adk_type: "executable_code" } },
          { text: "42" },
        ],
        metadata: expect.objectContaining({ adk_partial: true }) as unknown,
      },
    ]);
  });

  it("replaces only the chunks of a chain with a different complete event [V22]", () => {
    const { chunks, lastChunk } = mergeEvents([
      createTextEvent("one "),
      piece("to"),
      piece("o "),
      createTextEvent("two "),
      createTextEvent("three"),
    ]);
    expect(chunks).toEqual([
      [[{ text: "one " }], false],
      [[{ text: "to" }], true],
      [[{ text: "one " }, { text: "two " }], false],
      [[{ text: "three" }], true],
    ]);
    expect(lastChunk).toEqual([{ text: "one " }, { text: "two " }, { text: "three" }]);
  });

  it("does not interleave chains [J23]", () => {
    const chains = fc.constantFrom("a", "b", "c");
    const script = fc.array(fc.tuple(chains, fc.string({ minLength: 1, maxLength: 3 })), { minLength: 1 });
    fc.assert(
      fc.property(script, fc.boolean(), (pieces, isCut) => {
        const wholes = new Map<string, string>();
        const events = pieces.map(([author, value]) => {
          wholes.set(author, (wholes.get(author) ?? "") + value);
          return piece(value, { author });
        });
        if (!isCut) for (const [author, whole] of wholes) events.push({ ...createTextEvent(whole), author });
        const { chunks, folded } = mergeEvents(events);
        const expected = getText(folded[0]?.parts ?? []);
        expect(joinInEveryOrder([...wholes.values()])).toContain(expected);
        const streamed = getText(chunks.flatMap(([parts]) => parts));
        // The last chunk may contain text that was not streamed.
        expect(expected.startsWith(streamed)).toBe(true);
        expect(folded[0]?.metadata?.["adk_partial"] === true).toBe(isCut);
      }),
    );
  });
});

/** Joins the texts in every order. */
function joinInEveryOrder(texts: readonly string[]): string[] {
  if (texts.length === 0) return [""];
  return texts.flatMap((first, at) => joinInEveryOrder(texts.toSpliced(at, 1)).map((rest) => first + rest));
}

describe("a custom converter", () => {
  it("replaces the default converter for artifact parts", () => {
    const toA2aPart: RunEventProcessorOptions["toA2aPart"] = ({ text: value }, { author = "" }) =>
      value === undefined ? undefined : { text: `${author}: ${value}` };
    const event = { ...createContentEvent({ text: "hi" }, { functionCall: { name: "f" } }), author: "a" };
    expect(summarizeEvents(processEvents([event], { toA2aPart }))).toEqual([
      [{ text: "a: hi" }],
      "COMPLETED",
    ]);
  });
});

describe("a tool response", () => {
  it("neither ends nor replaces the chain of its agent", () => {
    const response: AdkEvent = {
      content: { role: "user", parts: [{ functionResponse: { name: "f", response: {} } }] },
    };
    const piece = (value: string): AdkEvent => ({ ...createTextEvent(value), partial: true });
    const processed = processEvents([piece("one "), piece("two"), response, createTextEvent("one two")]);
    expect(summarizeEvents(processed)).toEqual([
      [{ text: "one two" }],
      [{ data: { name: "f", response: {} }, metadata: { adk_type: "function_response" } }],
      [{ text: "one two" }],
      "COMPLETED",
    ]);
  });
});

describe("a run that waits for its user", () => {
  it("asks with the call and its pending response, and adds neither to an artifact [V16, J8]", () => {
    expect(processEvents([longRunningCallEvent, createContentEvent(pendingResponse)])).toEqual([
      {
        status: {
          state: "TASK_STATE_INPUT_REQUIRED",
          message: { parts: [weatherCallPart, pendingResponsePart] },
        },
        metadata: { ...sessionMetadata, ...extensionMetadata },
      },
    ]);
  });

  it("emits other content of the event as an artifact [V31]", () => {
    expect(
      summarizeEvents(processEvents([longRunningCallEvent, createTextEvent("This will take a while")])),
    ).toEqual([[{ text: "This will take a while" }], "INPUT_REQUIRED"]);
  });

  it("asks once, even if the call is repeated [J16]", () => {
    const again = processEvents([
      { ...longRunningCallEvent, partial: true },
      longRunningCallEvent,
      createContentEvent(pendingResponse),
      createContentEvent(pendingResponse),
    ]);
    expect(again).toEqual(processEvents([longRunningCallEvent, createContentEvent(pendingResponse)]));
  });

  it("waits for authorization when a credential is requested [V18]", () => {
    const credential: GenaiPart = { functionCall: { id: "c1", name: "adk_request_credential", args: {} } };
    const events = processEvents([
      longRunningCallEvent,
      { ...createContentEvent(credential), longRunningToolIds: ["c1"] },
    ]);
    expect(summarizeEvents(events)).toEqual(["AUTH_REQUIRED"]);
  });

  it("does not wait for a long-running call id without a call", () => {
    expect(summarizeEvents(processEvents([{ longRunningToolIds: ["x"] }]))).toEqual(["COMPLETED"]);
  });
});

describe("a run that fails", () => {
  const exposed = { exposeErrors: true };

  it("reports the first error and marks it [V15, V27, V28]", () => {
    expect(
      processEvents([createErrorEvent("1", "failed 1"), createErrorEvent("2", "failed 2")], exposed),
    ).toEqual([
      {
        status: {
          state: "TASK_STATE_FAILED",
          message: {
            parts: [
              { text: 'llm error response (code 1): "failed 1"', metadata: { adk_is_error_message: true } },
            ],
          },
        },
        metadata: { ...sessionMetadata, ...extensionMetadata, adk_error_code: "1" },
      },
    ]);
  });

  it("keeps its other output and its actions [V29, V33]", () => {
    const events = [
      { ...createTextEvent("The answer is"), actions: { escalate: true } },
      createErrorEvent("1", "failed"),
      { ...createTextEvent("42"), actions: { transferToAgent: "a-2" } },
    ];
    const processed = processEvents(events, exposed);
    expect(summarizeEvents(processed)).toEqual([[{ text: "The answer is" }], [{ text: "42" }], "FAILED"]);
    expect(processed.at(-1)).toMatchObject({
      metadata: { adk_error_code: "1", adk_escalate: true, adk_transfer_to_agent: "a-2" },
    });
  });

  it("fails even if it also has a pending call", () => {
    expect(summarizeEvents(processEvents([longRunningCallEvent, createErrorEvent("1", "x")]))).toEqual([
      "FAILED",
    ]);
  });

  it("returns an error id to callers by default, and reports the error", () => {
    const processor = createProcessor();
    processor.process(createErrorEvent("500", "key abc is wrong"));
    const { events, error } = processor.finish();
    expect(events).toMatchObject([
      {
        status: {
          message: {
            parts: [{ text: "The agent failed. The server's log has the cause under error id A1." }],
          },
        },
      },
    ]);
    expect(error?.message).toBe('llm error response (code 500): "key abc is wrong" (error_id: A1)');
  });

  it("reports the thrown error [V40]", () => {
    const thrown = new Error("OOF");
    const { events, error } = createProcessor(exposed).fail("agent run failed", thrown);
    expect(error?.cause).toBe(thrown);
    expect(events[0]).toMatchObject({ status: { message: { parts: [{ text: "agent run failed: OOF" }] } } });
  });

  it("closes its open artifacts [J3]", () => {
    const processor = createProcessor();
    const processed = [
      ...processor.process({ ...createTextEvent("half "), partial: true }),
      ...processor.fail("x", new Error("y")).events,
    ];
    expect(processed).toMatchObject([
      { artifact: { parts: [{ text: "half " }], metadata: { adk_partial: true } }, lastChunk: true },
      { status: { state: "TASK_STATE_FAILED" } },
    ]);
  });

  it("completes if the same agent answers afterward and the option is set [J24]", () => {
    const events = [
      { ...createErrorEvent("1", "no such tool"), author: "a" },
      { ...createTextEvent("All is well"), author: "a" },
    ];
    expect(summarizeEvents(processEvents(events)).at(-1)).toBe("FAILED");
    expect(summarizeEvents(processEvents(events, { recoveredErrorPolicy: "ignore" })).at(-1)).toBe(
      "COMPLETED",
    );
    const other = [events[0] as AdkEvent, { ...createTextEvent("Me too"), author: "b" }];
    expect(summarizeEvents(processEvents(other, { recoveredErrorPolicy: "ignore" })).at(-1)).toBe("FAILED");
  });
});

describe("two runs of one agent [J1]", () => {
  it("share no state", () => {
    const [first, second] = [createProcessor(), createProcessor()];
    const piece = { ...createTextEvent("x"), author: "a", partial: true };
    first.process(piece);
    expect(second.process(piece)).toEqual([]);
    expect(second.finish().events).toHaveLength(2);
    expect(first.finish().events).toHaveLength(2);
  });
});
