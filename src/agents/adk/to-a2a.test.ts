import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ClientFactory } from "@a2a-js/sdk/client";
import { SendMessageRequest, StreamResponse as SdkStreamResponse } from "@a2a-js/sdk";
import {
  App,
  InMemoryRunner,
  InMemorySessionService,
  LlmAgent,
  LongRunningFunctionTool,
  MCPToolset,
} from "@google/adk";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { collect, connect, type A2AClient } from "../../client/index.ts";
import {
  type AgentCard,
  ArtifactContentTracker,
  type DataPart,
  type StreamResponse,
  type Task,
  type TaskArtifactUpdateEvent,
  getText,
} from "../../protocol/index.ts";
import { bearer } from "../../server/auth/index.ts";
import { createServer, type Server } from "../../server/index.ts";
import { adkAgent } from "./adk-agent.ts";
import { ADK_EXTENSION_URI } from "./adk-event-metadata.ts";
import { ScriptedLlm } from "./models/index.ts";
import { toA2a, type ToA2aOptions } from "./to-a2a.ts";

let folder: string;
const servers: Server[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-to-a2a-"));
});

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
  rmSync(folder, { recursive: true });
});

function createApprovalAgent(): LlmAgent {
  return new LlmAgent({
    name: "clerk",
    description: "Approves things.",
    instruction: "You are secret.",
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
      return text === "approve" ? { call: "request_approval" } : `You said ${text}, and that is all.`;
    }),
  });
}

async function serveAgent(
  options: ToA2aOptions = {},
): Promise<{ remote: A2AClient; url: string; server: Server }> {
  const server = toA2a(createApprovalAgent(), {
    port: 0,
    store: `sqlite:${join(folder, "c.db")}`,
    ...options,
  });
  servers.push(server);
  const { url } = await server.listen();
  return { remote: await connect(url), url, server };
}

function requireTask(result: object): Task {
  if (!("task" in result)) throw new Error("not a task");
  return result.task as Task;
}

function getArtifactText(task: Task): string {
  return (task.artifacts ?? []).map(({ parts }) => getText(parts)).join("");
}

describe("the id of an ADK agent", () => {
  const helper = new LlmAgent({ name: "helper", description: "Helps", model: new ScriptedLlm(["Hi"]) });
  const boss = new LlmAgent({ name: "boss", model: new ScriptedLlm(["Hi"]), subAgents: [helper] });

  it.each([
    ["agent", boss, "boss"],
    ["sub-agent", helper, "helper"],
    ["runner", new InMemoryRunner({ agent: boss, appName: "office" }), "boss"],
    ["app", new App({ name: "office", rootAgent: boss }), "boss"],
  ])(
    "that a program passes as %s is the name of the agent, with toA2a and with adkAgent",
    async (_, source, id) => {
      const single = createServer(adkAgent(source), { store: "memory" });
      servers.push(single, toA2a(source, { store: "memory" }));
      for (const server of servers) {
        const { agents } = await server.listen({ port: 0 });
        expect(agents.map((served) => served.id)).toEqual([id]);
      }
    },
  );
});

describe("an ADK agent served with toA2a", () => {
  it.each([undefined, null, "clerk", {}])("cannot be %j, and throws immediately", (nothing) => {
    const agent = nothing as LlmAgent;
    expect(() => toA2a(agent, { store: "memory" })).toThrow(
      /is not an ADK agent, workflow, app, or runner \(/,
    );
  });

  it("has a card with its skills and without its instruction", async () => {
    const { remote, url } = await serveAgent();
    expect(remote.card).toMatchObject({
      name: "clerk",
      description: "Approves things.",
      capabilities: {
        streaming: true,
        extensions: expect.arrayContaining([
          expect.objectContaining({ uri: expect.stringContaining("a2a-extension") as string }),
        ]) as unknown[],
      },
      skills: [{ id: "clerk", name: "model", tags: ["llm"] }, { id: "clerk-request_approval" }],
    });
    expect(remote.card.supportedInterfaces[0]?.url).toBe(`${url}/a2a/clerk`);
    expect(JSON.stringify(remote.card)).not.toContain("secret");
  });

  it("answers once, with and without streaming", async () => {
    const { remote } = await serveAgent();
    const whole = requireTask(await remote.send("hello"));
    expect(whole.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactText(whole)).toBe("You said hello, and that is all.");
    expect(whole.metadata).toMatchObject({ adk_app_name: "clerk", adk_session_id: whole.contextId });

    const events: StreamResponse[] = [];
    for await (const event of remote.stream("hello")) events.push(event);
    const chunks = events.flatMap((event) => ("artifactUpdate" in event ? [event.artifactUpdate] : []));
    expect(chunks.length).toBeGreaterThan(1);
    const { artifact, append, lastChunk } = chunks.at(-1) as TaskArtifactUpdateEvent;
    expect(getText(artifact.parts)).toBe("You said hello, and that is all.");
    expect([append, lastChunk]).toEqual([undefined, true]);
  });

  it("remembers a conversation by its context", async () => {
    const { remote } = await serveAgent();
    const first = requireTask(await remote.send("one"));
    const second = requireTask(await remote.send("two", { contextId: first.contextId }));
    expect(second.contextId).toBe(first.contextId);
    expect(second.id).not.toBe(first.id);
  });

  it("resumes an approval after a restart of the server", async () => {
    const before = await serveAgent();
    const waitingTask = requireTask(await before.remote.send("approve"));
    expect(waitingTask.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    await before.server.close();
    const { remote } = await serveAgent();
    const call = waitingTask.status.message?.parts[0] as DataPart;
    const { id } = call.data as { id: string };
    const response = { id, name: "request_approval", response: { status: "approved" } };
    const completedTask = requireTask(
      await collect(
        remote.stream([{ data: response, metadata: { adk_type: "function_response" } }], {
          taskId: waitingTask.id,
          contextId: waitingTask.contextId,
        }),
      ),
    );
    expect(completedTask.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactText(completedTask)).toBe("It was approved.");
    const wholeTask = await remote.tasks.get(waitingTask.id);
    expect(getArtifactText(wholeTask)).toBe("I have asked.It was approved.");
  });

  it("reports a failure to the caller, and the error to the server's observer", async () => {
    const model = new ScriptedLlm([{ error: "the key sk-123 is wrong", code: "401" }]);
    const errors: string[] = [];
    const server = toA2a(new LlmAgent({ name: "a", model }), {
      port: 0,
      store: "memory",
      observer: { onError: ({ error }) => void errors.push(String(error)) },
    });
    servers.push(server);
    const { url } = await server.listen();
    const task = requireTask(await (await connect(url)).send("hi"));
    const errorText = getText(task.status.message?.parts ?? []);
    const [, errorId] =
      /^The agent failed\. The server's log has the cause under error id (\w{8})\.$/.exec(errorText) ?? [];
    expect(task.metadata?.["adk_error_code"]).toBe("401");
    expect(errors).toEqual([expect.stringContaining(`(error_id: ${errorId})`)]);
    expect(errors[0]).toContain("sk-123");
  });

  it("tells the operator how to install a missing MCP SDK, and the caller only that the agent failed", async () => {
    const hooks = registerHooks({
      resolve(specifier, context, nextResolve) {
        if (!specifier.startsWith("@modelcontextprotocol/sdk")) return nextResolve(specifier, context);
        throw Object.assign(new Error(`Cannot find module '${specifier}'`), { code: "MODULE_NOT_FOUND" });
      },
    });
    onTestFinished(() => hooks.deregister());
    const errors: string[] = [];
    const toolset = new MCPToolset({ type: "StdioConnectionParams", serverParams: { command: "false" } });
    const server = toA2a(new LlmAgent({ name: "a", model: new ScriptedLlm(["hi"]), tools: [toolset] }), {
      port: 0,
      store: "memory",
      observer: { onError: ({ error }) => void errors.push(String(error)) },
    });
    servers.push(server);
    const { url } = await server.listen();
    const task = requireTask(await (await connect(url)).send("hi"));
    expect(task.status.state).toBe("TASK_STATE_FAILED");
    const errorText = getText(task.status.message?.parts ?? []);
    expect(errorText).toMatch(/^The agent failed\. The server's log has the cause under error id \w{8}\.$/);
    expect(errors).toHaveLength(2);
    for (const error of errors) expect(error).toContain("npm install @modelcontextprotocol/sdk");
  });

  it("keeps everything in memory with the memory store", async () => {
    const { remote } = await serveAgent({ store: "memory" });
    expect(getArtifactText(requireTask(await remote.send("x")))).toBe("You said x, and that is all.");
  });

  it("uses a custom runner and custom sessions", async () => {
    const sessionService = new InMemorySessionService();
    const own = await serveAgent({ sessionService });
    const { contextId } = requireTask(await own.remote.send("x"));
    const place = { appName: "clerk", userId: `A2A_USER_${contextId}`, sessionId: contextId };
    expect((await sessionService.getSession(place))?.events).toHaveLength(2);

    const runner = new InMemoryRunner({ agent: createApprovalAgent(), appName: "office" });
    const given = await serveAgent({ runner, store: "memory" });
    expect(requireTask(await given.remote.send("x")).metadata).toMatchObject({ adk_app_name: "office" });
  });

  it("accepts a card as an object, a path, or a URL", async () => {
    const card = { description: "Mine.", iconUrl: "https://example.com/i.png" };
    const path = join(folder, "card.json");
    writeFileSync(path, JSON.stringify(card));
    for (const agentCard of [card, path, pathToFileURL(path)]) {
      const { remote } = await serveAgent({ agentCard, store: "memory" });
      expect(remote.card).toMatchObject({ name: "clerk", ...card });
      expect(remote.card.skills).toHaveLength(2);
    }
  });

  it("merges the capabilities of another agent card, and ignores the members of a 0.3 agent card that only the server knows", async () => {
    const agentCard = {
      protocolVersion: "0.3.0",
      url: "http://old.example/",
      preferredTransport: "JSONRPC",
      additionalInterfaces: [{ url: "http://old.example/rest", transport: "HTTP+JSON" }],
      supportsAuthenticatedExtendedCard: true,
      securitySchemes: { old: { type: "http", scheme: "bearer" } },
      security: [{ old: [] }],
      iconUrl: "https://example.com/i.png",
      capabilities: { streaming: true, stateTransitionHistory: true, extensions: [{ uri: "urn:own" }] },
    } as object;
    const { url } = await serveAgent({ agentCard, store: "memory", versions: ["1.0"] });
    const text = await (await fetch(`${url}/.well-known/agent-card.json`)).text();
    expect(text).not.toMatch(/old|stateTransitionHistory|supportsAuthenticated/);
    const { iconUrl, capabilities } = JSON.parse(text) as AgentCard;
    expect([iconUrl, capabilities.streaming]).toEqual(["https://example.com/i.png", true]);
    expect(capabilities.extensions?.slice(0, 2).map(({ uri }) => uri)).toEqual([
      ADK_EXTENSION_URI,
      "urn:own",
    ]);
  });

  it("answers fetch without a port", async () => {
    const server = toA2a(createApprovalAgent(), { store: "memory" });
    servers.push(server);
    const response = await server.fetch(new Request("http://x/.well-known/agent-card.json"));
    expect(await response.json()).toMatchObject({ name: "clerk" });
  });

  it("keeps a serverless host running until the agent has ended", async () => {
    const server = toA2a(createApprovalAgent(), { store: "memory" });
    servers.push(server);
    const work: Promise<unknown>[] = [];
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "hello" }] };
    const headers = { "content-type": "application/json", "a2a-version": "1.0" };
    const response = await server.fetch(
      new Request("http://x/message:send", { method: "POST", headers, body: JSON.stringify({ message }) }),
      { waitUntil: (promise: Promise<unknown>) => void work.push(promise) },
    );
    expect(response.status).toBe(200);
    expect(work).toHaveLength(1);
  });

  it("listens for gRPC if the option is set", async () => {
    const { url } = await serveAgent({ grpc: true });
    const remote = await connect(url, { binding: "GRPC" });
    expect(requireTask(await remote.send("hello")).status.state).toBe("TASK_STATE_COMPLETED");
  });

  it("works with the official client", async () => {
    const { url } = await serveAgent();
    const client = await new ClientFactory().createFromUrl(url);
    const events: StreamResponse[] = [];
    const request = SendMessageRequest.fromJSON({
      message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hello" }] },
    });
    for await (const event of client.sendMessageStream(request)) {
      events.push(SdkStreamResponse.toJSON(event) as StreamResponse);
    }
    const tracker = new ArtifactContentTracker();
    const text = events.map((event) =>
      "artifactUpdate" in event ? getText(tracker.addUpdate(event.artifactUpdate).parts) : "",
    );
    expect(text.join("")).toBe("You said hello, and that is all.");
    expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
  });
});

describe("an ADK agent with authentication", () => {
  const ada = "token-of-ada-0123456789";
  const bob = "token-of-bob-0123456789";
  const guarded: ToA2aOptions = {
    authenticate: bearer({ tokens: { [ada]: "ada", [bob]: "bob" } }),
    describeExtended: ({ principal }) => ({ description: `Approves things for ${principal}.` }),
  };
  const as = (url: string, token: string): Promise<A2AClient> => connect(url, { auth: { bearer: token } });

  it("rejects unauthenticated callers, and declares the schemes in its card [M-01, A-10]", async () => {
    const { url, remote } = await serveAgent(guarded);
    await expect(remote.send("Hi")).rejects.toMatchObject({ reason: "UNAUTHENTICATED" });
    expect(remote.card.securitySchemes).toEqual({ bearer: { httpAuthSecurityScheme: { scheme: "Bearer" } } });
    expect(getText(requireTask(await (await as(url, ada)).send("Hi")).artifacts?.[0]?.parts ?? [])).toContain(
      "You said Hi",
    );
  });

  it("separates tasks and conversations of callers, even in one context [E13, M-04]", async () => {
    const { url } = await serveAgent(guarded);
    const [hers, his] = [await as(url, ada), await as(url, bob)];
    const task = requireTask(await hers.send("approve", { contextId: "shared" }));
    await his.send("approve", { contextId: "shared" });
    expect((await his.tasks.list({})).totalSize).toBe(1);
    await expect(his.tasks.get(task.id)).rejects.toMatchObject({ reason: "TASK_NOT_FOUND" });
  });

  it("has an extended card for authenticated callers [A-30, A-32]", async () => {
    const { url } = await serveAgent(guarded);
    expect((await (await as(url, bob)).getExtendedCard()).description).toBe("Approves things for bob.");
  });

  it("listens on all interfaces, which is refused without authentication", async () => {
    const { server } = await serveAgent({ ...guarded, host: "0.0.0.0" });
    expect(server).toBeDefined();
    await expect(serveAgent({ host: "0.0.0.0" })).rejects.toThrow("allowUnauthenticated: true");
  });
});
