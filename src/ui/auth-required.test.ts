import { once } from "node:events";
import type { UIMessageChunk } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { agent, authRequired } from "../agents/adapters/index.ts";
import { connect } from "../client/index.ts";
import type { Agent } from "../engine/index.ts";
import { createServer, type Server } from "../server/index.ts";
import { createAgUiHandler } from "./ag-ui/index.ts";
import { A2AChatTransport } from "./ai-sdk/index.ts";
import { type Chat, createChat } from "./index.ts";

const card = { name: "helper", description: "Helps" };
const contextId = "context-1";
const servers: Server[] = [];
const chats: Chat[] = [];
afterEach(async () => {
  for (const chat of chats.splice(0)) chat.close();
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

async function serve(served: Agent): Promise<string> {
  const server = createServer(served, { store: "memory", mergeChunks: false, observer: false });
  servers.push(server);
  return (await server.listen()).url;
}

function openChat(url: string): Chat {
  const chat = createChat(url, { storage: false, contextId });
  chats.push(chat);
  return chat;
}

const describeMessages = (chat: Chat): unknown[] =>
  chat
    .getSnapshot()
    .messages.map(({ role, parts }) => [
      role,
      ...parts.map((part) => (part.type === "text" ? part.text : part.type)),
    ]);

async function getTaskState(url: string): Promise<unknown> {
  return (await (await connect(url)).tasks.list({ contextId })).tasks[0]?.status.state;
}

/** An agent whose turn ends at AUTH_REQUIRED. */
const loginAgent = agent(card, async function* ({ text, history }) {
  if (history.length === 1) {
    yield "Before. ";
    yield authRequired("Log in.");
  }
  yield `Hi ${text}`;
});

/** An agent that waits at AUTH_REQUIRED within its turn, and continues without a message. */
function createContinuingAgent(login: Promise<unknown>): Agent {
  return {
    describe: () => card,
    async *execute({ signal }) {
      const message = { messageId: "login", parts: [{ text: "Log in." }] };
      yield { status: { state: "TASK_STATE_AUTH_REQUIRED", message } };
      await Promise.race([login, once(signal, "abort")]);
      signal.throwIfAborted();
      yield { status: { state: "TASK_STATE_WORKING" } };
      yield { artifact: { artifactId: "a", parts: [{ text: "Welcome." }] } };
    },
  };
}

const waiting = [
  ["user", "go"],
  ["agent", "Before. ", "Log in."],
];
const answered = [...waiting, ["user", "done"], ["agent", "Hi done"]];

describe("a chat whose agent waits at AUTH_REQUIRED", () => {
  it("resumes, answers, and has the same messages after a reload", async () => {
    const url = await serve(loginAgent);
    const chat = openChat(url);
    await chat.send("go");
    const reloaded = openChat(url);
    await reloaded.resume();
    expect(reloaded.getSnapshot()).toEqual(chat.getSnapshot());
    expect(reloaded.getSnapshot().status).toBe("waiting");
    await reloaded.send("done");
    expect(describeMessages(reloaded)).toEqual(answered);
    // The first page follows the task, which the second page has continued.
    await expect.poll(() => chat.getSnapshot().status).toBe("ready");
    expect(describeMessages(chat)).toEqual(answered);
    const again = openChat(url);
    await again.resume();
    expect(again.getSnapshot()).toEqual(reloaded.getSnapshot());
  });

  it("stops the waiting task after a reload", async () => {
    const url = await serve(loginAgent);
    await openChat(url).send("go");
    const reloaded = openChat(url);
    await reloaded.resume();
    await reloaded.stop();
    expect(await getTaskState(url)).toBe("TASK_STATE_CANCELED");
    expect(reloaded.getSnapshot().status).toBe("ready");
  });

  it("shows the output of an agent that continues without a message", async () => {
    const login = Promise.withResolvers<void>();
    const url = await serve(createContinuingAgent(login.promise));
    const chat = openChat(url);
    await chat.send("go");
    const reloaded = openChat(url);
    await reloaded.resume();
    expect([chat, reloaded].map((page) => page.getSnapshot().status)).toEqual(["waiting", "waiting"]);
    login.resolve();
    for (const page of [chat, reloaded]) {
      await expect.poll(() => page.getSnapshot().status).toBe("ready");
      expect(describeMessages(page)).toEqual([
        ["user", "go"],
        ["agent", "Log in.", "Welcome."],
      ]);
    }
    const again = openChat(url);
    await again.resume();
    expect(again.getSnapshot()).toEqual(reloaded.getSnapshot());
  });

  it("stops an agent that waits within its turn", async () => {
    const url = await serve(createContinuingAgent(new Promise(() => {})));
    const chat = openChat(url);
    await chat.send("go");
    await chat.stop();
    await expect.poll(() => getTaskState(url)).toBe("TASK_STATE_CANCELED");
    expect(chat.getSnapshot().status).toBe("ready");
  });
});

describe("a transport for useChat whose agent waits at AUTH_REQUIRED", () => {
  const go = (text: string): object => ({ id: `m-${text}`, role: "user", parts: [{ type: "text", text }] });

  async function send(
    transport: A2AChatTransport,
    texts: string[],
    signal?: AbortSignal,
  ): Promise<ReadableStream> {
    const messages = texts.map(go) as Parameters<A2AChatTransport["sendMessages"]>[0]["messages"];
    const trigger = "submit-message";
    const options = {
      chatId: contextId,
      messages,
      trigger,
      messageId: undefined,
      abortSignal: signal,
    } as const;
    return await transport.sendMessages(options);
  }

  async function readTypes(stream: ReadableStream<UIMessageChunk> | null): Promise<string[]> {
    const types: string[] = [];
    if (stream) for await (const { type } of stream) types.push(type);
    return types;
  }

  const describeLoaded = async (url: string): Promise<unknown[]> =>
    (await new A2AChatTransport(url).loadMessages(contextId)).map(({ role, parts }) => [
      role === "assistant" ? "agent" : role,
      ...parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
    ]);

  it("loads the messages, needs no stream, and sends the answer", async () => {
    const url = await serve(loginAgent);
    expect((await readTypes(await send(new A2AChatTransport(url), ["go"]))).at(-1)).toBe("finish");
    const reloaded = new A2AChatTransport(url);
    await reloaded.loadMessages(contextId);
    expect(await describeLoaded(url)).toEqual(waiting);
    expect(await reloaded.reconnectToStream({ chatId: contextId })).toBeNull();
    await readTypes(await send(reloaded, ["go", "done"]));
    expect(await describeLoaded(url)).toEqual(answered);
  });

  it("reconnects to an agent that has continued without a message, and then starts a task", async () => {
    const login = Promise.withResolvers<void>();
    const url = await serve(createContinuingAgent(login.promise));
    const sent = readTypes(await send(new A2AChatTransport(url), ["go"]));
    await expect.poll(() => getTaskState(url)).toBe("TASK_STATE_AUTH_REQUIRED");
    const reloaded = new A2AChatTransport(url);
    await reloaded.loadMessages(contextId);
    login.resolve();
    expect((await sent).at(-1)).toBe("finish");
    expect(await readTypes(await reloaded.reconnectToStream({ chatId: contextId }))).toContain("text-delta");
    await readTypes(await send(reloaded, ["go", "thanks"]));
    expect((await (await connect(url)).tasks.list({ contextId })).tasks).toHaveLength(2);
  });

  it("stops an agent that waits within its turn", async () => {
    const url = await serve(createContinuingAgent(new Promise(() => {})));
    const stop = new AbortController();
    const reader = (await send(new A2AChatTransport(url), ["go"], stop.signal)).getReader();
    await expect.poll(() => getTaskState(url)).toBe("TASK_STATE_AUTH_REQUIRED");
    await reader.read();
    stop.abort();
    await expect.poll(() => getTaskState(url)).toBe("TASK_STATE_CANCELED");
    await reader.cancel();
  });
});

describe("an AG-UI endpoint whose agent waits at AUTH_REQUIRED", () => {
  async function run(url: string, messages: object[]): Promise<string> {
    const body = JSON.stringify({ threadId: contextId, runId: "r", messages });
    const headers = { "content-type": "application/json" };
    const request = new Request("http://localhost/", { method: "POST", headers, body });
    return await (await createAgUiHandler(url)(request)).text();
  }
  const user = (content: string): object => ({ id: `m-${content}`, role: "user", content });

  it("ends each run, accepts the answer, and stops the task", async () => {
    const url = await serve(loginAgent);
    await run(url, [user("go")]);
    const reloaded = await run(url, []);
    expect(reloaded).toContain(`"type":"interrupt"`);
    expect(reloaded).toContain("Log in.");
    const answer = await run(url, [user("go"), { id: "a", role: "assistant", content: "" }, user("done")]);
    expect(answer).toContain("Hi done");
    const whole = await run(url, []);
    expect(whole.indexOf("Log in.")).toBeLessThan(whole.indexOf("Hi done"));
    expect(whole).toContain(`"type":"success"`);

    const other = await serve(loginAgent);
    await run(other, [user("go")]);
    const stop = new Request(`http://localhost/?threadId=${contextId}`, { method: "DELETE" });
    expect(await (await createAgUiHandler(other)(stop)).json()).toEqual({ stopped: 1 });
    expect(await getTaskState(other)).toBe("TASK_STATE_CANCELED");
  });
});
