import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  AgentTool,
  type BaseAgent,
  type Event,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  LogLevel,
  LongRunningFunctionTool,
  LoopAgent,
  RemoteA2AAgent,
  setLogLevel,
  toA2a as toA2aOfAdk,
} from "@google/adk";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { RemoteAgent, ScriptedLlm, toA2a } from "../../src/agents/adk/index.ts";
import type { Server } from "../../src/server/index.ts";

setLogLevel(LogLevel.ERROR);

const servers: Server[] = [];
const listeners: HttpServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
  for (const listener of listeners.splice(0)) {
    listener.closeAllConnections();
    listener.close();
  }
});

function createApprovalAgent(): LlmAgent {
  return new LlmAgent({
    name: "clerk",
    description: "Approves things.",
    tools: [
      new LongRunningFunctionTool({
        name: "request_approval",
        description: "Asks a human",
        parameters: z.object({}),
        execute: () => ({ status: "pending" }),
      }),
    ],
    model: new ScriptedLlm(({ text, results }) => {
      const [result] = results;
      if (result?.response?.["status"] === "pending") return "I have asked.";
      if (result) return `It was ${String(result.response?.["status"])}.`;
      if (text === "fail") return { error: "no credit", code: "402" };
      return text === "approve" ? { call: "request_approval" } : `You said ${text}, and that is all.`;
    }),
  });
}

async function startOurServer(): Promise<string> {
  const server = toA2a(createApprovalAgent(), { port: 0, store: "memory" });
  servers.push(server);
  return (await server.listen()).url;
}

/** ADK's own server writes its port into its card, so the port must be known in advance. */
async function startAdkServer(agent: BaseAgent = createApprovalAgent()): Promise<string> {
  const listener = createHttpServer((request, response) => app(request, response));
  listeners.push(listener);
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const app = (await toA2aOfAdk(agent, {
    allowUnauthenticated: true,
    host: "127.0.0.1",
    port,
  })) as RequestListener;
  return `http://127.0.0.1:${port}`;
}

class Conversation {
  readonly #runner: InMemoryRunner;
  readonly #session = { userId: "u", sessionId: "s" };

  constructor(agent: BaseAgent) {
    this.#runner = new InMemoryRunner({ agent, appName: "app" });
  }

  async send(parts: object[]): Promise<Event[]> {
    const { sessionService } = this.#runner;
    const known = await sessionService.getSession({ appName: "app", ...this.#session });
    if (!known) await sessionService.createSession({ appName: "app", ...this.#session });
    const events: Event[] = [];
    const runConfig = { streamingMode: "sse" as never };
    for await (const event of this.#runner.runAsync({
      ...this.#session,
      newMessage: { role: "user", parts },
      runConfig,
    })) {
      events.push(event);
    }
    return events;
  }
}

const getText = (events: readonly Event[]): string =>
  events
    .filter(({ partial }) => !partial)
    .flatMap(({ content }) => content?.parts ?? [])
    .map(({ text = "" }) => text)
    .join("");

/** Returns the answers of a remote agent to a greeting, an approval, and a failure. */
async function runConversation(agent: BaseAgent): Promise<unknown[]> {
  const conversation = new Conversation(agent);
  const greeting = getText(await conversation.send([{ text: "hello" }]));
  const question = await conversation.send([{ text: "approve" }]);
  const ids = new Set(question.flatMap(({ longRunningToolIds }) => longRunningToolIds ?? []));
  const [id] = ids;
  const response = { id, name: "request_approval", response: { status: "approved" } };
  const approved = getText(await conversation.send([{ functionResponse: response }]));
  const failed = await conversation.send([{ text: "fail" }]);
  const errors = failed.flatMap(({ errorMessage }) => errorMessage ?? []);
  return [greeting, ids.size, approved, errors.length > 0];
}

const expectedResults = ["You said hello, and that is all.", 1, "It was approved.", true];

describe("ADK of the same language, over HTTP", () => {
  it("RemoteA2AAgent of @google/adk works with our server", async () => {
    const agent = new RemoteA2AAgent({ name: "far", agentCard: await startOurServer() });
    expect(await runConversation(agent)).toEqual(expectedResults);
  });

  it("our RemoteAgent works with toA2a of @google/adk", async () => {
    expect(await runConversation(new RemoteAgent({ name: "far", agent: await startAdkServer() }))).toEqual(
      expectedResults,
    );
  });

  it("our RemoteAgent receives the end of a loop from toA2a of @google/adk [J13]", async () => {
    const quit = new FunctionTool({
      name: "quit",
      description: "Ends it",
      parameters: z.object({}),
      execute: (_, context) => {
        if (context) context.actions.escalate = true;
        return { done: true };
      },
    });
    const worker = new LlmAgent({
      name: "worker",
      tools: [quit],
      model: new ScriptedLlm([{ call: "quit" }, "Done."]),
    });
    const remoteAgent = new RemoteAgent({ name: "far", agent: await startAdkServer(worker) });
    const nag = new LlmAgent({ name: "nag", model: new ScriptedLlm(["Again."]) });
    const loop = new LoopAgent({ name: "loop", subAgents: [remoteAgent, nag], maxIterations: 3 });
    const events = await new Conversation(loop).send([{ text: "go" }]);
    expect(events.filter(({ author }) => author === "nag")).toEqual([]);
    expect(getText(events)).toBe("Done.");
  });

  it("our RemoteAgent is a tool and a sub-agent, with toA2a of @google/adk behind it", async () => {
    const url = await startAdkServer();
    const user = new LlmAgent({
      name: "user_of_tools",
      tools: [new AgentTool({ agent: new RemoteAgent({ name: "far", description: "Far.", agent: url }) })],
      model: new ScriptedLlm(({ results: [result] }) =>
        result ? JSON.stringify(result.response) : { call: "far", args: { request: "hello" } },
      ),
    });
    expect(getText(await new Conversation(user).send([{ text: "go" }]))).toContain(expectedResults[0]);
    const boss = new LlmAgent({
      name: "boss",
      subAgents: [new RemoteAgent({ name: "far", description: "Far.", agent: url })],
      model: new ScriptedLlm([{ call: "transfer_to_agent", args: { agentName: "far" } }]),
    });
    expect(getText(await new Conversation(boss).send([{ text: "hello" }]))).toBe(expectedResults[0]);
  });

  it("our RemoteAgent works with our server", async () => {
    expect(await runConversation(new RemoteAgent({ name: "far", agent: await startOurServer() }))).toEqual(
      expectedResults,
    );
  });
});
