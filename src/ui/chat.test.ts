import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { agent, data, file, inputRequired, status } from "../agents/adapters/index.ts";
import { createBreakingProxy } from "../client/breaking-proxy.fixture.ts";
import { connect } from "../client/index.ts";
import type { Agent } from "../engine/index.ts";
import { createServer, type Server } from "../server/index.ts";
import { type Chat, type ChatPart, type ChatPosition, createChat, createWebStorage } from "./index.ts";
import { createTwoPartTestAgent } from "./two-part-agent.fixture.ts";

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

/** A storage like `sessionStorage`, which several chats share like the reloads of a page. */
function createTestStorage(): ReturnType<typeof createWebStorage> {
  const entries = new Map<string, string>();
  return createWebStorage({
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => void entries.set(key, value),
  });
}

const describeParts = (parts: readonly ChatPart[]): unknown[] =>
  parts.map((part) => {
    if (part.type === "text" || part.type === "reasoning") return part.text;
    return part.type === "tool" ? `${part.toolName}: ${part.state}` : part.type;
  });
const describeMessages = (chat: Chat): unknown[] =>
  chat.getSnapshot().messages.map(({ role, parts }) => [role, ...describeParts(parts)]);

describe("a chat", () => {
  const talker = agent(card, async function* ({ text }) {
    yield status("Thinking…");
    yield "Hello, ";
    yield status(data({ type: "tool-call", toolCallId: "c1", toolName: "look", input: { at: "sky" } }));
    yield status(data({ type: "tool-result", toolCallId: "c1", toolName: "look", output: "blue" }));
    yield `${text}!`;
    yield file(new Uint8Array([1]), { mediaType: "image/png" });
    yield data({ answer: 42 });
  });
  const answer = ["agent", "Hello, ", "look: succeeded", "Ada!", "file", "data"];

  it("shows the parts of an answer in the order of the events", async () => {
    const chat = createChat(await serve(talker), { storage: false });
    const states = new Set<string>();
    chat.subscribe(() => void states.add(chat.getSnapshot().status));
    await chat.send("Ada");
    expect(describeMessages(chat)).toEqual([["user", "Ada"], answer]);
    expect([...states]).toEqual(["sending", "streaming", "ready"]);
    expect(chat.getSnapshot().messages[1]?.parts[1]).toMatchObject({ input: { at: "sky" }, output: "blue" });
  });

  it("has the same messages, with the same ids, after a reload", async () => {
    const url = await serve(talker);
    const storage = createTestStorage();
    const chat = createChat(url, { storage });
    await chat.resume();
    await chat.send("Ada");
    const reloaded = createChat(url, { storage });
    await reloaded.resume();
    expect(reloaded.getSnapshot()).toEqual(chat.getSnapshot());
    await reloaded.send("Bob");
    const again = createChat(url, { storage });
    await again.resume();
    expect(describeMessages(again).length).toBe(4);
    expect(describeMessages(again).at(-1)).toEqual([
      "agent",
      "Hello, ",
      "look: succeeded",
      "Bob!",
      "file",
      "data",
    ]);
  });

  it("continues a running answer after a reload", async () => {
    const gate = Promise.withResolvers<void>();
    const url = await serve(createTwoPartTestAgent(gate.promise));
    const storage = createTestStorage();
    const chat = createChat(url, { storage });
    void chat.send("go");
    await expect.poll(() => describeMessages(chat).at(-1)).toEqual(["agent", "first "]);
    chat.close();
    const reloaded = createChat(url, { storage });
    const resumed = reloaded.resume();
    await expect.poll(() => describeMessages(reloaded).at(-1)).toEqual(["agent", "first "]);
    expect(reloaded.getSnapshot().status).toBe("streaming");
    gate.resolve();
    await resumed;
    expect(describeMessages(reloaded)).toEqual([
      ["user", "go"],
      ["agent", "first second"],
    ]);
  });

  it("continues the answer of a new chat after the connection has broken", async () => {
    const gate = Promise.withResolvers<void>();
    const url = await serve(createTwoPartTestAgent(gate.promise));
    const proxy = await createBreakingProxy(url);
    let currentUrl = url;
    const client = await connect(url, {
      reconnect: { maxRetries: 0 },
      fetch: (input, init) => fetch((input as string).replace(url, currentUrl), init),
    });
    currentUrl = proxy.url;
    const chat = createChat(client, { storage: false });
    const sent = chat.send("go");
    await expect.poll(() => describeMessages(chat).at(-1)).toEqual(["agent", "first "]);
    proxy.close();
    await sent;
    expect(chat.getSnapshot().status).toBe("error");
    currentUrl = url;
    gate.resolve();
    await chat.resume();
    expect(chat.getSnapshot().status).toBe("ready");
    expect(describeMessages(chat)).toEqual([
      ["user", "go"],
      ["agent", "first second"],
    ]);
  });

  it("reports that it connects again, also while the agent is silent, and shows the whole answer", async () => {
    const gate = Promise.withResolvers<void>();
    const url = await serve(createTwoPartTestAgent(gate.promise));
    const proxy = await createBreakingProxy(url);
    let currentUrl = url;
    const client = await connect(url, {
      reconnect: { initialDelayMs: 1 },
      fetch: (input, init) => fetch((input as string).replace(url, currentUrl), init),
    });
    currentUrl = proxy.url;
    const chat = createChat(client, { storage: false });
    const sent = chat.send("go");
    await expect.poll(() => describeMessages(chat).at(-1)).toEqual(["agent", "first "]);
    proxy.close();
    await expect.poll(() => chat.getSnapshot().status).toBe("reconnecting");
    currentUrl = url;
    await expect.poll(() => chat.getSnapshot().status).toBe("streaming");
    gate.resolve();
    await sent;
    expect(chat.getSnapshot().status).toBe("ready");
    expect(describeMessages(chat).at(-1)).toEqual(["agent", "first second"]);
  });

  it("stores the context before the first task, and afterwards always a task", async () => {
    const positions: ChatPosition[] = [];
    const storage = {
      load: () => positions.at(-1),
      save: (_: string, next: ChatPosition) => void positions.push(next),
    };
    const chat = createChat(await serve(talker), { storage });
    await chat.send("Ada");
    await chat.send("Bob");
    const { contextId, messages } = chat.getSnapshot();
    const tasks = [messages[1], messages[3]].map((message) => ({ contextId, taskId: message?.taskId }));
    expect(positions).toEqual([{ contextId }, ...tasks]);
  });

  it("loads the position again after the storage has failed", async () => {
    const url = await serve(talker);
    const working = createTestStorage();
    const chat = createChat(url, { storage: working });
    await chat.send("Ada");
    let isOffline = true;
    const load = (key: string): ReturnType<typeof working.load> => {
      if (isOffline) throw new Error("offline");
      return working.load(key);
    };
    const reloaded = createChat(url, { storage: { ...working, load } });
    await reloaded.resume();
    expect(reloaded.getSnapshot()).toMatchObject({ status: "error", error: { message: "offline" } });
    isOffline = false;
    await reloaded.resume();
    expect(reloaded.getSnapshot()).toEqual(chat.getSnapshot());
  });

  it("answers although the storage cannot store the position", async () => {
    const save = (): Promise<void> => Promise.reject(new Error("full"));
    const chat = createChat(await serve(talker), { storage: { load: () => undefined, save } });
    await chat.send("Ada");
    expect(chat.getSnapshot().status).toBe("ready");
    expect(describeMessages(chat)).toEqual([["user", "Ada"], answer]);
  });

  it("cancels the task, also before the agent has sent an event", async () => {
    const stopped = Promise.withResolvers<void>();
    const url = await serve(
      agent(card, async function* ({ signal }) {
        await once(signal, "abort");
        stopped.resolve();
        signal.throwIfAborted();
        yield "never";
      }),
    );
    const chat = createChat(url, { storage: false });
    const sent = chat.send("go");
    await chat.stop();
    await stopped.promise;
    await sent;
    expect(chat.getSnapshot()).toMatchObject({ status: "ready", messages: [{ role: "user" }] });
    expect(chat.getSnapshot().messages).toHaveLength(1);
  });

  it("shows that a waiting task could not be canceled, and tries again", async () => {
    const waiting = agent(card, async function* () {
      yield inputRequired("Which city?");
    });
    const url = await serve(waiting);
    let isOnline = true;
    const client = await connect(url, {
      fetch: (input, init) =>
        isOnline ? fetch(input, init) : Promise.reject(new TypeError("The network is down.")),
      retry: { maxRetries: 0 },
    });
    const chat = createChat(client, { storage: false });
    await chat.send("weather");
    isOnline = false;
    await chat.stop();
    expect(chat.getSnapshot()).toMatchObject({ status: "error", error: expect.any(Error) });
    isOnline = true;
    await chat.retry();
    expect(chat.getSnapshot().status).toBe("waiting");
    await chat.stop();
    expect(chat.getSnapshot().status).toBe("ready");
    expect((await client.tasks.list({})).tasks[0]?.status.state).toBe("TASK_STATE_CANCELED");
  });

  it("refuses an empty message without a request", async () => {
    const chat = createChat("http://127.0.0.1:1", { storage: false });
    await expect(chat.send("")).rejects.toThrow("Pass a text or at least one part.");
    await expect(chat.send([])).rejects.toThrow("The message is empty.");
    expect(chat.getSnapshot()).toMatchObject({ status: "ready", messages: [] });
  });

  it("answers a question with the next message", async () => {
    const url = await serve(
      agent(card, async function* ({ text, history }) {
        if (history.length === 1) yield inputRequired("Which city?");
        yield `${text}: sunny`;
      }),
    );
    const storage = createTestStorage();
    const chat = createChat(url, { storage });
    await chat.send("Weather?");
    expect(chat.getSnapshot().status).toBe("waiting");
    await chat.send("Seoul");
    const expected = [
      ["user", "Weather?"],
      ["agent", "Which city?"],
      ["user", "Seoul"],
      ["agent", "Seoul: sunny"],
    ];
    expect(describeMessages(chat)).toEqual(expected);
    const reloaded = createChat(url, { storage });
    await reloaded.resume();
    expect(reloaded.getSnapshot()).toEqual(chat.getSnapshot());
  });

  const approver = agent(card, async function* ({ message, history }) {
    if (history.length === 1) {
      for (const id of ["a", "b"])
        yield status(data({ type: "tool-call", toolCallId: id, toolName: "pay", input: { id } }));
      const requests = ["a", "b"].map((id) =>
        data({ type: "tool-approval-request", approvalId: `ok-${id}`, toolCallId: id, toolName: "pay" }),
      );
      yield inputRequired("May pay be called?", ...requests);
    }
    yield status(data({ type: "tool-result", toolCallId: "a", toolName: "pay", output: "paid" }));
    yield JSON.stringify(message.parts.map((part) => ("data" in part ? part.data : part)));
  });

  it("sends the decisions after the last one, and shows them in the tool calls", async () => {
    const url = await serve(approver);
    const storage = createTestStorage();
    const chat = createChat(await connect(url), { storage });
    await chat.send("Pay");
    expect(describeMessages(chat)).toEqual([
      ["user", "Pay"],
      ["agent", "pay: approval-requested", "pay: approval-requested"],
    ]);
    const reloaded = createChat(url, { storage });
    await reloaded.resume();
    expect(reloaded.getSnapshot()).toEqual(chat.getSnapshot());
    await reloaded.approve("ok-a");
    expect(describeMessages(reloaded).at(-1)).toEqual(["agent", "pay: approved", "pay: approval-requested"]);
    await reloaded.approve("ok-b", false, "Too much");
    const decisions = [
      { approvalId: "ok-a", approved: true },
      { approvalId: "ok-b", approved: false, reason: "Too much" },
    ];
    expect(describeMessages(reloaded)).toEqual([
      ["user", "Pay"],
      ["agent", "pay: succeeded", "pay: denied", JSON.stringify(decisions)],
    ]);
    const again = createChat(url, { storage });
    await again.resume();
    expect(again.getSnapshot()).toEqual(reloaded.getSnapshot());
    await expect(again.approve("ok-a")).rejects.toThrow("No tool call waits");
  });

  it("sends only the decisions about the latest request of a task", async () => {
    const url = await serve(
      agent(card, async function* ({ message, history }) {
        const id = ["a", "b"][history.filter(({ role }) => role === "ROLE_USER").length - 1];
        if (id) {
          const call = { toolCallId: id, toolName: "pay" };
          yield status(data({ type: "tool-call", ...call, input: {} }));
          yield inputRequired(
            "May pay be called?",
            data({ type: "tool-approval-request", approvalId: id, ...call }),
          );
        }
        yield JSON.stringify(message.parts.map((part) => ("data" in part ? part.data : part)));
      }),
    );
    const chat = createChat(url, { storage: false });
    await chat.send("Pay");
    await chat.approve("a", false);
    await chat.approve("b");
    const decisions = [{ approvalId: "b", approved: true }];
    expect(describeMessages(chat)).toEqual([
      ["user", "Pay"],
      ["agent", "pay: denied", "pay: approved", JSON.stringify(decisions)],
    ]);
  });

  it("sends a message again after its server was not there, once and with the same id", async () => {
    const free = createServer(talker, { store: "memory", observer: false });
    const { url, port } = await free.listen();
    await free.close();
    const chat = createChat(url, { storage: false });
    await expect(chat.retry()).rejects.toThrow("has not failed");
    await chat.send("Ada");
    expect(chat.getSnapshot().status).toBe("error");
    const server = createServer(talker, { store: "memory", mergeChunks: false, observer: false });
    servers.push(server);
    await server.listen({ port });
    await chat.retry();
    expect(chat.getSnapshot().status).toBe("ready");
    expect(describeMessages(chat)).toEqual([["user", "Ada"], answer]);
  });

  it("begins a new task if the agent has failed", async () => {
    let runs = 0;
    const failing = agent(card, async function* () {
      runs += 1;
      if (runs === 1) throw new Error("no model");
      yield "Now.";
    });
    const chat = createChat(await serve(failing), { storage: false });
    await chat.send("go");
    expect(chat.getSnapshot().status).toBe("error");
    await chat.retry();
    expect(chat.getSnapshot().status).toBe("ready");
    expect(describeMessages(chat).slice(-2)).toEqual([
      ["user", "go"],
      ["agent", "Now."],
    ]);
  });

  /** A client whose messages do not reach the server while `network.isDown`. */
  async function connectWithFaults(url: string, network: { isDown: boolean }): ReturnType<typeof connect> {
    return await connect(url, {
      retry: { maxRetries: 0 },
      reconnect: { maxRetries: 0 },
      fetch: (...call) => (network.isDown ? Promise.reject(new TypeError("offline")) : fetch(...call)),
    });
  }

  it("sends an answer to a question again that did not reach the server, once", async () => {
    const network = { isDown: false };
    const asker = agent(card, async function* ({ text, history }) {
      if (history.length === 1) yield inputRequired("Which city?");
      else yield `Sunny in ${text}`;
    });
    const chat = createChat(await connectWithFaults(await serve(asker), network), { storage: false });
    await chat.send("Weather");
    network.isDown = true;
    await chat.send("Seoul");
    expect(chat.getSnapshot().status).toBe("error");
    network.isDown = false;
    await chat.retry();
    expect(chat.getSnapshot().status).toBe("ready");
    expect(describeMessages(chat).slice(-2)).toEqual([
      ["user", "Seoul"],
      ["agent", "Sunny in Seoul"],
    ]);
  });

  it("sends decisions again that did not reach the server, and the user's words after the agent has failed", async () => {
    const network = { isDown: false };
    let isFailing = true;
    const approver = agent(card, async function* ({ text, message }) {
      if (text !== "") {
        yield inputRequired(
          "May pay be called?",
          data({ type: "tool-call", toolCallId: "a", toolName: "pay", input: {} }),
          data({ type: "tool-approval-request", approvalId: "a", toolCallId: "a", toolName: "pay" }),
        );
        return;
      }
      if (isFailing) throw new Error("no model");
      yield JSON.stringify(message.parts.map((part) => ("data" in part ? part.data : part)));
    });
    const chat = createChat(await connectWithFaults(await serve(approver), network), { storage: false });
    await chat.send("Pay");
    network.isDown = true;
    await chat.approve("a");
    network.isDown = false;
    expect(chat.getSnapshot().status).toBe("error");
    await chat.retry();
    expect(chat.getSnapshot().error?.message).toContain("The agent failed");
    isFailing = false;
    await chat.retry();
    expect(chat.getSnapshot().status).toBe("waiting");
    expect(describeMessages(chat).at(-2)).toEqual(["user", "Pay"]);
    await chat.approve("a");
    expect(describeMessages(chat).at(-1)).toEqual([
      "agent",
      "pay: approved",
      JSON.stringify([{ approvalId: "a", approved: true }]),
    ]);
  });

  it("shows the end of a task that did not wait for an answer that is sent again", async () => {
    const network = { isDown: false };
    const asker = agent(card, async function* () {
      yield inputRequired("Which city?");
    });
    const url = await serve(asker);
    const chat = createChat(await connectWithFaults(url, network), { storage: false });
    await chat.send("Weather");
    const other = await connect(url);
    const [task] = (await other.tasks.list()).tasks;
    network.isDown = true;
    await chat.send("Seoul");
    network.isDown = false;
    await other.tasks.cancel(task?.id ?? "");
    await chat.retry();
    expect(chat.getSnapshot().status).toBe("ready");
    await chat.send("Weather again");
    expect(chat.getSnapshot().status).toBe("waiting");
  });

  it("begins a new task after a failure that a reloaded page shows", async () => {
    let isFailing = true;
    const failing = agent(card, async function* () {
      if (isFailing) throw new Error("no model");
      yield "Now.";
    });
    const url = await serve(failing);
    const storage = createTestStorage();
    await createChat(url, { storage }).send("go");
    const reloaded = createChat(url, { storage });
    await reloaded.resume();
    expect(reloaded.getSnapshot().status).toBe("error");
    isFailing = false;
    await reloaded.retry();
    expect(reloaded.getSnapshot().status).toBe("ready");
    expect(describeMessages(reloaded).slice(-2)).toEqual([
      ["user", "go"],
      ["agent", "Now."],
    ]);
  });

  it("reports the failure of the agent, and then sends the next message in a new task", async () => {
    let attempts = 0;
    const url = await serve(
      agent(card, async function* () {
        if (attempts++ === 0) throw new Error("secret");
        yield "Fine.";
      }),
    );
    const chat = createChat(url, { storage: false });
    await chat.send("go");
    expect(chat.getSnapshot().status).toBe("error");
    expect(chat.getSnapshot().error?.message).not.toContain("secret");
    await chat.send("again");
    expect(chat.getSnapshot().status).toBe("ready");
    expect(describeMessages(chat)).toEqual([
      ["user", "go"],
      ["user", "again"],
      ["agent", "Fine."],
    ]);
  });
});
