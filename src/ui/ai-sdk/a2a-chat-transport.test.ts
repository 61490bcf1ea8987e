import { once } from "node:events";
import type { UIMessage, UIMessageChunk } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { agent, data, file, inputRequired, status } from "../../agents/adapters/index.ts";
import { connect } from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { A2AChatTransport } from "./index.ts";
import { openTestChat as openChat, type TestChat } from "./test-chat.fixture.ts";
import { createTwoPartTestAgent } from "../two-part-agent.fixture.ts";

const card = { name: "helper", description: "Helps" };
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

async function serve(served: Agent): Promise<string> {
  const server = createServer(served, { store: "memory", mergeChunks: false, observer: false });
  servers.push(server);
  return (await server.listen()).url;
}

const describeMessages = ({ messages }: TestChat): unknown[] =>
  messages.map(({ role, parts }) => [
    role,
    ...parts.flatMap((part) => {
      if (part.type === "step-start") return [];
      if (part.type === "text") return [part.text];
      return part.type === "dynamic-tool" ? [`${part.toolName}: ${part.state}`] : [part.type];
    }),
  ]);

describe("a transport for useChat", () => {
  const talker = agent(card, async function* ({ text, message }) {
    yield status("Thinking…");
    yield "Hello, ";
    yield status(data({ type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: "sky" } }));
    yield status(data({ type: "tool-result", toolCallId: "c1", toolName: "look", output: "blue" }));
    yield `${text}${message.parts.length}!`;
    yield file(new Uint8Array([1]), { mediaType: "image/png" });
    yield data({ answer: 42 });
  });

  it("streams text, tool calls, files, and data, and sends files", async () => {
    const chat = await openChat(await serve(talker));
    await chat.sendMessage({
      text: "Ada",
      files: [
        { type: "file", mediaType: "text/plain", filename: "a.txt", url: "data:text/plain;base64,QQ==" },
      ],
    });
    expect(describeMessages(chat)).toEqual([
      ["user", "file", "Ada"],
      ["assistant", "Hello, ", "look: output-available", "Ada2!", "file", "data-a2a"],
    ]);
    expect(chat.status).toBe("ready");
    expect(chat.messages[1]?.metadata).toMatchObject({
      contextId: "chat-1",
      taskState: "TASK_STATE_COMPLETED",
    });
  });

  it("loads the messages of the chat again", async () => {
    const url = await serve(talker);
    const chat = await openChat(url);
    await chat.sendMessage({ text: "Ada" });
    const reloaded = await openChat(url);
    expect(describeMessages(reloaded)).toEqual(describeMessages(chat));
    expect(reloaded.messages.map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
    await reloaded.resumeStream();
    expect(describeMessages(reloaded)).toEqual(describeMessages(chat));
  });

  it("continues a running answer after a reload, and shows an answer that ended meanwhile", async () => {
    const gate = Promise.withResolvers<void>();
    const url = await serve(createTwoPartTestAgent(gate.promise));
    const chat = await openChat(url, { cancelOnAbort: false });
    const sent = chat.sendMessage({ text: "go" });
    await expect.poll(() => describeMessages(chat).at(-1)).toEqual(["assistant", "first "]);
    const [reloaded, late] = [await openChat(url), await openChat(url)];
    expect(describeMessages(late)).toEqual([["user", "go"]]);
    const resumed = reloaded.resumeStream();
    await expect.poll(() => describeMessages(reloaded).at(-1)).toEqual(["assistant", "first "]);
    gate.resolve();
    await resumed;
    await sent;
    await late.resumeStream();
    expect(describeMessages(chat)).toEqual([
      ["user", "go"],
      ["assistant", "first second"],
    ]);
    for (const { messages } of [reloaded, late]) expect(messages).toEqual(chat.messages);
  });

  it("resumes an agent that has continued after AUTH_REQUIRED without a message", async () => {
    const login = Promise.withResolvers<void>();
    const message = { messageId: "login", parts: [{ text: "Log in. " }] };
    const url = await serve({
      describe: () => card,
      async *execute() {
        yield { status: { state: "TASK_STATE_AUTH_REQUIRED", message } };
        await login.promise;
        yield { status: { state: "TASK_STATE_WORKING" } };
        yield { artifact: { artifactId: "a", parts: [{ text: "Welcome." }] } };
      },
    });
    const chat = await openChat(url);
    const sent = chat.sendMessage({ text: "go" });
    await expect.poll(() => describeMessages(chat).at(-1)).toEqual(["assistant", "Log in. "]);
    const reloaded = await openChat(url);
    await reloaded.resumeStream();
    expect(describeMessages(reloaded)).toEqual(describeMessages(chat));
    login.resolve();
    await sent;
    await reloaded.resumeStream();
    const expected = [
      ["user", "go"],
      ["assistant", "Log in. ", "Welcome."],
    ];
    for (const page of [chat, reloaded, await openChat(url)])
      expect(describeMessages(page)).toEqual(expected);
  });

  it("stops the agent, also before its first output, but not when a newer reconnect replaces a stream", async () => {
    const began = Promise.withResolvers<void>();
    const stopped: string[] = [];
    const url = await serve(
      agent(card, async function* ({ text, signal }) {
        began.resolve();
        if (text === "talk") yield "talking";
        await once(signal, "abort");
        stopped.push(text);
        signal.throwIfAborted();
      }),
    );
    const chat = await openChat(url);
    const unsent = chat.sendMessage({ text: "unsent" });
    await chat.stop();
    await unsent;
    const sent = chat.sendMessage({ text: "silent" });
    await began.promise;
    await chat.stop();
    await sent;
    await expect.poll(() => stopped).toEqual(["silent"]);

    const talking = chat.sendMessage({ text: "talk" });
    await expect.poll(() => describeMessages(chat).at(-1)).toEqual(["assistant", "talking"]);
    const reloaded = await openChat(url);
    const first = reloaded.resumeStream();
    const second = reloaded.resumeStream();
    await first;
    await expect.poll(() => describeMessages(reloaded).at(-1)).toEqual(["assistant", "talking"]);
    expect(stopped).toEqual(["silent"]);
    await reloaded.stop();
    await Promise.all([second, talking]);
    expect(stopped).toEqual(["silent", "talk"]);
  });

  it("closes the connection of a stream without a reader while the agent is silent", async () => {
    const url = await serve(
      agent(card, async function* ({ signal }) {
        yield "talking";
        await once(signal, "abort");
        signal.throwIfAborted();
      }),
    );
    const closedStreams: string[] = [];
    const client = await connect(url, {
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
        const { method } = JSON.parse(init?.body as string) as { method: string };
        const cancel = (): void => void closedStreams.push(method);
        return new Response(response.body?.pipeThrough(new TransformStream({ cancel })), response);
      },
    });
    const transport = new A2AChatTransport(client);
    const readFirstText = async (stream: ReadableStream<UIMessageChunk> | null): Promise<unknown> => {
      const reader = stream?.getReader();
      for (let type; type !== "text-delta";) type = (await reader?.read())?.value?.type;
      reader?.read().catch(() => {});
      return reader;
    };
    const [leaving, replaced] = [new AbortController(), new AbortController()];
    const messages: UIMessage[] = [{ id: "m", role: "user", parts: [{ type: "text", text: "talk" }] }];
    const sent = await transport.sendMessages({
      chatId: "chat-1",
      messages,
      trigger: "submit-message",
      messageId: undefined,
      abortSignal: leaving.signal,
    });
    const reader = (await readFirstText(sent)) as ReadableStreamDefaultReader;
    void reader.cancel();
    await expect.poll(() => closedStreams).toEqual(["SendStreamingMessage"]);
    const reconnect = { chatId: "chat-1", abortSignal: replaced.signal };
    await readFirstText(await transport.reconnectToStream(reconnect));
    replaced.abort();
    await readFirstText(await transport.reconnectToStream({ chatId: "chat-1" }));
    await expect.poll(() => closedStreams).toEqual(["SendStreamingMessage", "SubscribeToTask"]);
  });

  it("stops an answered task whose status still asks the user", async () => {
    const url = await serve({
      describe: () => card,
      // The status stays INPUT_REQUIRED after an answer, because the turn has not ended.
      async *execute({ signal }) {
        yield { status: { state: "TASK_STATE_INPUT_REQUIRED" } };
        await once(signal, "abort");
        signal.throwIfAborted();
      },
    });
    const client = await connect(url);
    for await (const event of client.stream("Weather?", { contextId: "chat-1" }))
      if ("statusUpdate" in event) break;
    const transport = new A2AChatTransport(url);
    const messages = await transport.loadMessages("chat-1");
    const stop = new AbortController();
    const stream = await transport.sendMessages({
      chatId: "chat-1",
      messages: [...messages, { id: "answer", role: "user", parts: [{ type: "text", text: "Seoul" }] }],
      trigger: "submit-message",
      messageId: undefined,
      abortSignal: stop.signal,
    });
    stop.abort();
    const getState = async (): Promise<unknown> => (await client.tasks.list({})).tasks[0]?.status.state;
    await expect.poll(getState, { timeout: 10_000 }).toBe("TASK_STATE_CANCELED");
    await stream.cancel();
  });

  const payer = agent(card, async function* ({ message, history }) {
    if (history.length === 1) {
      yield "Let me see. ";
      yield status(data({ type: "tool-call", toolCallId: "c", toolName: "pay", input: { euros: 80 } }));
      yield inputRequired(
        "May pay be called?",
        data({ type: "tool-approval-request", approvalId: "ok", toolCallId: "c", toolName: "pay" }),
      );
    }
    const [part] = message.parts;
    const isApproved = part && "data" in part && JSON.stringify(part.data).includes('"approved":true');
    if (isApproved)
      yield status(data({ type: "tool-result", toolCallId: "c", toolName: "pay", output: "paid" }));
    yield isApproved ? "Done." : "Not done.";
  });

  it.each([
    [true, "pay: output-available", "Done."],
    [false, "pay: output-denied", "Not done."],
  ])("sends the decision %s of the user, also after a reload", async (approved, toolState, result) => {
    const url = await serve(payer);
    const chat = await openChat(url);
    await chat.sendMessage({ text: "Pay" });
    const waiting = [
      ["user", "Pay"],
      ["assistant", "Let me see. ", "pay: approval-requested"],
    ];
    expect(describeMessages(chat)).toEqual(waiting);
    const reloaded = await openChat(url);
    await reloaded.resumeStream();
    expect(describeMessages(reloaded)).toEqual(waiting);
    await reloaded.addToolApprovalResponse({ id: "ok", approved });
    await expect
      .poll(() => describeMessages(reloaded).at(-1))
      .toEqual(["assistant", "Let me see. ", toolState, result]);
    await expect.poll(() => reloaded.status).toBe("ready");
    const again = await openChat(url);
    expect(describeMessages(again)).toEqual(describeMessages(reloaded));
  });

  it("answers a question with the next message, and reports failures", async () => {
    const url = await serve(
      agent(card, async function* ({ text, history }) {
        if (history.length === 1) yield inputRequired("Which city?");
        if (text === "Nowhere") throw new Error("secret");
        yield `${text}: sunny`;
      }),
    );
    const chat = await openChat(url);
    await chat.sendMessage({ text: "Weather?" });
    await chat.sendMessage({ text: "Seoul" });
    const expected = [
      ["user", "Weather?"],
      ["assistant", "Which city?"],
      ["user", "Seoul"],
      ["assistant", "Seoul: sunny"],
    ];
    expect(describeMessages(chat)).toEqual(expected);
    expect(describeMessages(await openChat(url))).toEqual(expected);
    await chat.sendMessage({ text: "Weather?" });
    await chat.sendMessage({ text: "Nowhere" });
    expect(chat.status).toBe("error");
    expect(chat.error?.message).not.toContain("secret");
  });
});
