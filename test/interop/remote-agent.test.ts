/** Tests our RemoteAgent in an ADK Runner against a server built with the official SDK, @a2a-js/sdk. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard } from "@a2a-js/sdk";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import type { Event } from "@google/adk";
import express from "express";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  TestAdkConversation,
  listFinalEventTexts,
  joinPartialTexts,
  createTestRemoteAgent,
} from "../../src/agents/adk/remote/test-adk-conversation.fixture.ts";
import { publishToA2aJsEventBus } from "../../src/client/publish-to-a2a-js-event-bus.fixture.ts";
import { connect, type ConnectOptions } from "../../src/client/index.ts";
import type { Task, TaskState } from "../../src/protocol/index.ts";

/** Counts, asks, fails, works endlessly, or answers without a task, as the text requests. */
class TextDrivenExecutor implements AgentExecutor {
  readonly #contexts = new Map<string, string>();

  execute = (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = request;
    this.#contexts.set(taskId, contextId);
    const content = userMessage.parts[0]?.content;
    const text = content?.$case === "text" ? content.value : "";
    const status = (state: TaskState, said?: string): void => {
      const parts = [{ text: said ?? "" }];
      const message = { messageId: "m", role: "ROLE_AGENT" as const, taskId, contextId, parts };
      const update = { state, timestamp: new Date().toISOString(), ...(said && { message }) };
      publishToA2aJsEventBus(bus, { statusUpdate: { taskId, contextId, status: update } });
    };
    const say = (words: readonly string[]): void => {
      for (const [at, word] of words.entries()) {
        const artifact = { artifactId: `answer-${text}`, parts: [{ text: word }] };
        publishToA2aJsEventBus(bus, { artifactUpdate: { taskId, contextId, artifact, append: at > 0 } });
      }
    };
    if (text === "message") {
      const parts = [{ text: "hi" }];
      publishToA2aJsEventBus(bus, { message: { messageId: "m", role: "ROLE_AGENT", contextId, parts } });
      bus.finished();
      return Promise.resolve();
    }
    const state = task ? "TASK_STATE_WORKING" : "TASK_STATE_SUBMITTED";
    const started: Task = { id: taskId, contextId, status: { state } };
    publishToA2aJsEventBus(bus, { task: started });
    status("TASK_STATE_WORKING");
    if (text === "work") {
      say(["on it"]);
      return Promise.resolve();
    }
    if (task) {
      say([`It is sunny in ${text}.`]);
      status("TASK_STATE_COMPLETED");
    } else if (text === "weather?") {
      say(["Let me see. "]);
      status("TASK_STATE_INPUT_REQUIRED", "Which city?");
    } else if (text === "fail") status("TASK_STATE_FAILED", "no credit");
    else {
      say(["one ", "two ", "three"]);
      status("TASK_STATE_COMPLETED");
    }
    bus.finished();
    return Promise.resolve();
  };

  cancelTask = (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const contextId = this.#contexts.get(taskId) ?? "";
    publishToA2aJsEventBus(bus, {
      statusUpdate: { taskId, contextId, status: { state: "TASK_STATE_CANCELED" } },
    });
    bus.finished();
    return Promise.resolve();
  };
}

async function startServer(): Promise<string> {
  const app = express();
  const http = createServer(app);
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    http.close();
    http.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const card = AgentCard.fromJSON({
    name: "Worker",
    description: "Works.",
    version: "1",
    supportedInterfaces: ["1.0", "0.3"].flatMap((protocolVersion) => [
      { url: `${url}/jsonrpc`, protocolBinding: "JSONRPC", protocolVersion },
      { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion },
    ]),
    capabilities: { streaming: true },
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "work", name: "Work", description: "Works", tags: ["test"] }],
  });
  const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new TextDrivenExecutor());
  const userBuilder = UserBuilder.noAuthentication;
  const legacyCompat = { enabled: true };
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/jsonrpc", jsonRpcHandler({ requestHandler, userBuilder, legacyCompat }));
  app.use("/rest", restHandler({ requestHandler, userBuilder, legacyCompat }));
  return url;
}

const collectIds = (events: readonly Event[], key: string): Set<unknown> =>
  new Set(events.flatMap(({ customMetadata }) => customMetadata?.[key] ?? []));

describe.each<[string, ConnectOptions]>([
  ["1.0, JSON-RPC", { binding: "JSONRPC" }],
  ["1.0, REST", { binding: "HTTP+JSON" }],
  ["0.3, JSON-RPC", { binding: "JSONRPC", version: "0.3" }],
  ["0.3, REST", { binding: "HTTP+JSON", version: "0.3" }],
])("RemoteAgent and a server of the official SDK, %s", (_, how) => {
  it("chunks stream and are kept once, in one conversation", async () => {
    const conversation = new TestAdkConversation(
      createTestRemoteAgent(await startServer(), { connect: how }),
    );
    const events = await conversation.sendUserMessage("count");
    expect(joinPartialTexts(events)).toBe("one two three");
    expect(listFinalEventTexts(events)).toEqual(["remote: one two three"]);
    const more = await conversation.sendUserMessage("message");
    expect(listFinalEventTexts(more)).toEqual(["remote: hi"]);
    expect(collectIds([...events, ...more], "a2a:context_id").size).toBe(1);
  });

  it("a question is answered in its task without repeating earlier output [W24, J18]", async () => {
    const conversation = new TestAdkConversation(
      createTestRemoteAgent(await startServer(), { connect: how }),
    );
    const question = await conversation.sendUserMessage("weather?");
    expect(listFinalEventTexts(question)).toEqual(["remote: Let me see. "]);
    const call = question.at(-1)?.content?.parts?.[0]?.functionCall;
    expect(call?.args).toEqual({ input_required: "Which city?" });
    const answered = await conversation.sendUserMessage("Warsaw");
    expect(listFinalEventTexts(answered)).toEqual(["remote: It is sunny in Warsaw."]);
    expect(collectIds([...question, ...answered], "a2a:task_id").size).toBe(1);
  });

  it("a failure is an error [J17]", async () => {
    const events = await new TestAdkConversation(
      createTestRemoteAgent(await startServer(), { connect: how }),
    ).sendUserMessage("fail");
    expect(events.at(-1)).toMatchObject({ errorCode: "A2A_TASK_FAILED", errorMessage: "no credit" });
  });

  it("an aborted run cancels the task [J20]", async () => {
    const url = await startServer();
    const abort = new AbortController();
    const events = await new TestAdkConversation(
      createTestRemoteAgent(url, { connect: how }),
    ).sendUserMessage("work", abort, ({ partial }) => {
      if (partial) abort.abort();
    });
    const [id] = collectIds(events, "a2a:task_id");
    const task = await (await connect(url)).tasks.get(id as string);
    expect(task.status.state).toBe("TASK_STATE_CANCELED");
  });
});
