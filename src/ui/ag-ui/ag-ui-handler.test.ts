import { once } from "node:events";
import { BaseLlm, type BaseLlmConnection, FunctionTool, LlmAgent, type LlmResponse } from "@google/adk";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { agent, data, failed, inputRequired, status } from "../../agents/adapters/index.ts";
import { adkAgent } from "../../agents/adk/index.ts";
import { type A2AClient, connect } from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { parseSse } from "../../wire/index.ts";
import type { AgUiHandler } from "./ag-ui-handler.ts";
import { createAgUiHandler } from "./index.ts";

const card = { name: "helper", description: "Helps" };
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

async function serve(served: Agent): Promise<AgUiHandler> {
  const server = createServer(served, { store: "memory", mergeChunks: false, observer: false });
  servers.push(server);
  return createAgUiHandler(await connect((await server.listen()).url));
}

interface TestEvent {
  readonly id: string | undefined;
  readonly event: Record<string, unknown>;
}

const send = (handle: AgUiHandler, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  handle(
    new Request("http://localhost/ag-ui", {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ threadId: "t", runId: "r", messages: [], ...body }),
    }),
  );

async function* readEvents(response: Response): AsyncGenerator<TestEvent> {
  if (!response.body) throw new Error("no body");
  for await (const { id, data: json } of parseSse(response.body))
    yield { id, event: JSON.parse(json) as Record<string, unknown> };
}

async function run(
  handle: AgUiHandler,
  body: object,
  headers?: Record<string, string>,
): Promise<TestEvent[]> {
  const events: TestEvent[] = [];
  for await (const event of readEvents(await send(handle, body, headers))) events.push(event);
  return events;
}

const summarize = (events: readonly TestEvent[]): unknown[] =>
  events.map(({ event }) => {
    const { type, delta, content, outcome } = event;
    const detail = delta ?? content ?? (outcome as { type?: string } | undefined)?.type;
    return detail === undefined ? type : [type, detail];
  });

const hello = { id: "m1", role: "user", content: "Ada" };

describe("an AG-UI endpoint", () => {
  const talker = agent(card, async function* ({ text }) {
    yield status("Thinking…");
    yield "Hello, ";
    yield status(data({ type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: "sky" } }));
    yield status(data({ type: "tool-result", toolCallId: "c1", toolName: "look", output: "blue" }));
    yield text;
    yield "!";
    yield data({ answer: 42 });
  });
  const output = [
    "CUSTOM",
    "TEXT_MESSAGE_START",
    ["TEXT_MESSAGE_CONTENT", "Hello, "],
    "CUSTOM",
    "TEXT_MESSAGE_END",
    "TOOL_CALL_START",
    ["TOOL_CALL_ARGS", `{"at":"sky"}`],
    "TOOL_CALL_END",
    ["TOOL_CALL_RESULT", `"blue"`],
    "TEXT_MESSAGE_START",
    ["TEXT_MESSAGE_CONTENT", "Ada"],
    ["TEXT_MESSAGE_CONTENT", "!"],
    "TEXT_MESSAGE_END",
    ["ACTIVITY_SNAPSHOT", { data: { answer: 42 } }],
  ];
  const end = ["RUN_FINISHED", "success"];

  it("converts the output of the agent to events", async () => {
    const handle = await serve(talker);
    const events = await run(handle, { messages: [hello] });
    expect(summarize(events)).toEqual(["RUN_STARTED", ...output, end]);
    expect(events[0]?.event).toEqual({
      type: "RUN_STARTED",
      threadId: "t",
      runId: "r",
      protocolVersion: "1.0",
    });
    expect(events.at(-1)?.event).toMatchObject({ threadId: "t", runId: "r" });
    expect(events.at(-1)?.event).not.toHaveProperty("usage");
  });

  it("continues after each event id, and after each state of the client's messages", async () => {
    const handle = await serve(talker);
    const events = await run(handle, { messages: [hello] });
    for (const [index, { id }] of events.entries()) {
      if (id === undefined) continue;
      const rest = await run(handle, { messages: [hello] }, { "last-event-id": id });
      const expected = events.slice(index + 1).filter(({ event }) => event["type"] !== "CUSTOM");
      const received = rest.slice(1).filter(({ event }) => event["type"] !== "CUSTOM");
      // A text message that the client has in part starts again before its rest.
      const contents = (list: readonly TestEvent[]): unknown[] =>
        summarize(list).filter((entry) => Array.isArray(entry));
      expect(contents(received)).toEqual(contents(expected));
    }
    const [first = ""] = events.flatMap(({ event }) =>
      event["type"] === "TEXT_MESSAGE_START" ? [String(event["messageId"])] : [],
    );
    const partial = { id: first, role: "assistant", content: "Hel" };
    const rest = summarize(await run(handle, { messages: [hello, partial] }));
    expect(rest).toContainEqual(["TEXT_MESSAGE_CONTENT", "lo, "]);
    expect(rest).not.toContainEqual(["TEXT_MESSAGE_CONTENT", "Hello, "]);
  });

  it("processes a repeated message once, and gives a client without messages the whole thread", async () => {
    let runs = 0;
    const handle = await serve(
      agent(card, async function* () {
        yield `run ${++runs}`;
      }),
    );
    await run(handle, { messages: [hello] });
    expect(summarize(await run(handle, { messages: [hello] }))).toContainEqual([
      "TEXT_MESSAGE_CONTENT",
      "run 1",
    ]);
    await run(handle, {
      messages: [hello, { id: "a", role: "assistant", content: "run 1" }, { ...hello, id: "m2" }],
    });
    const whole = summarize(await run(handle, {})).filter((entry) => Array.isArray(entry));
    expect(whole).toEqual([
      ["TEXT_MESSAGE_CONTENT", "Ada"],
      ["TEXT_MESSAGE_CONTENT", "run 1"],
      ["TEXT_MESSAGE_CONTENT", "Ada"],
      ["TEXT_MESSAGE_CONTENT", "run 2"],
      end,
    ]);
    expect(runs).toBe(2);
  });

  it("ends a run with an interrupt for each approval, and sends the decisions", async () => {
    const handle = await serve(
      agent(card, async function* ({ message, history }) {
        if (history.length === 1) {
          const request = {
            type: "tool-approval-request",
            approvalId: "ok",
            toolCallId: "c",
            toolName: "pay",
          };
          yield inputRequired("May pay be called?", data(request));
        }
        yield status(data({ type: "tool-result", toolCallId: "c", toolName: "pay", output: "paid" }));
        yield JSON.stringify(message.parts);
      }),
    );
    const asked = await run(handle, { messages: [hello] });
    expect(asked.at(-1)?.event["outcome"]).toMatchObject({
      type: "interrupt",
      interrupts: [{ id: "ok", toolCallId: "c", reason: "tool_approval" }],
    });
    const resume = [{ interruptId: "ok", status: "resolved", payload: { approved: true } }];
    const call = { id: "c", type: "function", function: { name: "pay", arguments: "{}" } };
    const messages = [hello, { id: "x", role: "assistant", toolCalls: [call] }];
    const answered = await run(handle, { messages, resume });
    expect(summarize(answered).filter((entry) => Array.isArray(entry))).toEqual([
      ["TOOL_CALL_RESULT", `"paid"`],
      ["TEXT_MESSAGE_CONTENT", `[{"data":{"approvalId":"ok","approved":true}}]`],
      end,
    ]);
  });

  it("reports the tokens of each turn, and repeats those of the latest turn after a reload", async () => {
    const handle = await serve(
      agent(card, async function* ({ history }) {
        const isFirst = history.length === 1;
        const usage = {
          inputTokens: isFirst ? 10 : 20,
          outputTokens: 2,
          totalTokens: 0,
          cachedInputTokens: 4,
        };
        if (isFirst) yield { ...inputRequired("Which city?"), metadata: { usage } };
        yield { ...failed("No weather."), metadata: { usage } };
      }),
    );
    const counts = { outputTokens: 2, cachedInputTokens: 4 };
    const asked = await run(handle, { messages: [hello] });
    const usageOfQuestion = [{ ...counts, inputTokens: 10, totalTokens: 12 }];
    expect(asked.at(-1)?.event).toMatchObject({ type: "RUN_FINISHED", usage: usageOfQuestion });
    const question = { id: "q", role: "assistant", content: "Which city?" };
    const messages = [hello, question, { id: "m2", role: "user", content: "Seoul" }];
    const usageOfAnswer = [{ ...counts, inputTokens: 20, totalTokens: 22 }];
    for (const reload of [false, true]) {
      const answered = await run(handle, { messages: reload ? [] : messages });
      expect(answered.at(-1)?.event).toMatchObject({ type: "RUN_ERROR", usage: usageOfAnswer });
    }
  });

  it.each(["per-event", "per-run"] as const)(
    "reports the tokens of all model calls of an ADK agent, with the cached tokens: %s",
    async (artifacts) => {
      const look = new FunctionTool({
        name: "look",
        description: "Looks",
        parameters: z.object({}),
        execute: () => "blue",
      });
      const model = new CachingLlm();
      const handle = await serve(
        adkAgent(new LlmAgent({ name: "seer", description: "Sees", model, tools: [look] }), { artifacts }),
      );
      const expected = {
        type: "RUN_FINISHED",
        usage: [
          {
            inputTokens: 230,
            outputTokens: 20,
            totalTokens: 250,
            cachedInputTokens: 160,
            reasoningTokens: 6,
            model: "m-001",
          },
        ],
      };
      expect((await run(handle, { messages: [hello] })).at(-1)?.event).toMatchObject(expected);
      expect((await run(handle, { messages: [hello] })).at(-1)?.event).toMatchObject(expected);
    },
  );

  it("answers a question with the next message, and reports failures", async () => {
    const handle = await serve(
      agent(card, async function* ({ text, history }) {
        if (history.length === 1) yield inputRequired("Which city?");
        yield failed(`No weather in ${text}.`);
      }),
    );
    const asked = await run(handle, { messages: [hello] });
    expect(asked.at(-1)?.event["outcome"]).toMatchObject({
      interrupts: [{ reason: "input_required", message: "Which city?" }],
    });
    const question = { id: "q", role: "assistant", content: "Which city?" };
    const answered = await run(handle, {
      messages: [hello, question, { id: "m2", role: "user", content: "Seoul" }],
    });
    expect(answered.at(-1)?.event).toEqual({ type: "RUN_ERROR", message: "No weather in Seoul." });
  });

  it("stops the agent on DELETE, and not when the connection closes", async () => {
    const stopped = Promise.withResolvers<void>();
    let isStopped = false;
    const handle = await serve(
      agent(card, async function* ({ signal }) {
        yield "talking";
        await once(signal, "abort");
        isStopped = true;
        stopped.resolve();
        signal.throwIfAborted();
      }),
    );
    for await (const { event } of readEvents(await send(handle, { messages: [hello] })))
      if (event["type"] === "TEXT_MESSAGE_CONTENT") break;
    expect(isStopped).toBe(false);
    const rest = readEvents(await send(handle, { messages: [hello] }));
    const stop = await handle(new Request("http://localhost/ag-ui?threadId=t", { method: "DELETE" }));
    expect(await stop.json()).toEqual({ stopped: 1 });
    await stopped.promise;
    let last: unknown;
    for await (const { event } of rest) last = event;
    expect(last).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });
  });

  it("does not state that it has stopped an agent that it cannot cancel", async () => {
    const task = { id: "t", contextId: "c", status: { state: "TASK_STATE_WORKING" } };
    const client = {
      tasks: {
        list: () => Promise.resolve({ tasks: [task] }),
        cancel: () => Promise.reject(new A2AError("UNAVAILABLE", "The agent is not there.")),
      },
    } as unknown as A2AClient;
    const stop = new Request("http://localhost/ag-ui?threadId=c", { method: "DELETE" });
    expect((await createAgUiHandler(client)(stop)).status).toBe(502);
  });

  it.each([
    [{ threadId: 1 }, 400],
    [{ messages: [{ role: "user" }] }, 400],
    [{ resume: "yes" }, 400],
    [{ forwardedProps: { cursor: "x" } }, 400],
  ])("refuses the request %j", async (body, expected) => {
    expect((await send(await serve(talker), body)).status).toBe(expected);
  });

  it("refuses requests that are no JSON, too large, or of another method", async () => {
    const handle = createAgUiHandler("http://127.0.0.1:1", { maxRequestBytes: 10 });
    const headers = { "content-type": "application/json" };
    const request = (init: RequestInit): Promise<Response> =>
      handle(new Request("http://localhost/", { headers, ...init }));
    expect((await request({ method: "POST", body: "{}", headers: {} })).status).toBe(415);
    expect((await request({ method: "POST", body: "{" })).status).toBe(400);
    expect((await request({ method: "POST", body: "x".repeat(11) })).status).toBe(413);
    expect((await request({ method: "PUT" })).status).toBe(405);
    expect((await request({ method: "DELETE" })).status).toBe(502);
    expect(await (await request({ method: "GET" })).json()).toMatchObject({ transport: { resumable: true } });
  });
});

/** Calls the tool `look`, and then answers in chunks. Each response reports the tokens so far, as Gemini does. */
class CachingLlm extends BaseLlm {
  #callCount = 0;

  constructor() {
    super({ model: "m" });
  }

  override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
    const isFirst = this.#callCount++ % 2 === 0;
    const report = (candidatesTokenCount: number): Partial<LlmResponse> => ({
      modelVersion: "m-001",
      usageMetadata: {
        promptTokenCount: isFirst ? 100 : 130,
        cachedContentTokenCount: 80,
        candidatesTokenCount,
        thoughtsTokenCount: 3,
      },
    });
    if (isFirst) {
      yield {
        content: { role: "model", parts: [{ functionCall: { name: "look", args: {} } }] },
        ...report(7),
      };
      return;
    }
    const toContent = (text: string) => ({ role: "model", parts: [{ text }] });
    yield { content: toContent("It is "), partial: true, ...report(3) };
    yield { content: toContent("blue."), partial: true, ...report(7) };
    yield { content: toContent("It is blue."), ...report(7) };
  }

  override connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error("Not used."));
  }
}
