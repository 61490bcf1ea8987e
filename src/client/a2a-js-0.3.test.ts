import type { AgentCard, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from "a2a-js-sdk-0.3";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "a2a-js-sdk-0.3/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "a2a-js-sdk-0.3/server/express";
import { A2AService, grpcService, UserBuilder as GrpcUserBuilder } from "a2a-js-sdk-0.3/server/grpc";
import { afterAll, beforeAll, vi } from "vitest";
import { SCRIPTED_TEST_AGENT_CARD, startSdkServer } from "./sdk-server.fixture.ts";
import {
  defineA2AClientContractTests,
  type RunningTestServer,
  TESTED_0_3_BINDINGS,
} from "./a2a-client.contract.ts";

// The official server logs each error response.
beforeAll(() => {
  vi.spyOn(console, "error").mockReturnValue();
  vi.spyOn(console, "warn").mockReturnValue();
});
afterAll(() => void vi.restoreAllMocks());

class ScriptedExecutor implements AgentExecutor {
  readonly #contexts = new Map<string, string>();

  execute = (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = request;
    this.#contexts.set(taskId, contextId);
    const [part] = userMessage.parts;
    const text = part?.kind === "text" ? part.text : "";
    const begun: Task = {
      kind: "task",
      id: taskId,
      contextId,
      status: { state: "submitted" },
      history: [userMessage],
    };
    if (!task) bus.publish(begun);
    bus.publish(createStatusUpdate(taskId, contextId, "working"));
    if (text === "wait") return Promise.resolve();
    if (text === "ask" && !task) bus.publish(createStatusUpdate(taskId, contextId, "input-required"));
    else {
      const words = task ? [`got ${text}`] : ["one ", "two ", "three"];
      for (const [index, word] of words.entries())
        bus.publish(createArtifactUpdate(taskId, contextId, word, index > 0));
      bus.publish(createStatusUpdate(taskId, contextId, "completed"));
    }
    bus.finished();
    return Promise.resolve();
  };

  cancelTask = (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    bus.publish(createStatusUpdate(taskId, this.#contexts.get(taskId) ?? "", "canceled"));
    bus.finished();
    return Promise.resolve();
  };
}

function createStatusUpdate(
  taskId: string,
  contextId: string,
  state: "working" | "input-required" | "completed" | "canceled",
): TaskStatusUpdateEvent {
  const status = { state, timestamp: new Date().toISOString() };
  return { kind: "status-update", taskId, contextId, status, final: state !== "working" };
}

function createArtifactUpdate(
  taskId: string,
  contextId: string,
  text: string,
  append: boolean,
): TaskArtifactUpdateEvent {
  const artifact = { artifactId: "answer", parts: [{ kind: "text" as const, text }] };
  return { kind: "artifact-update", taskId, contextId, artifact, append };
}

function serveWithOfficialSdk(): Promise<RunningTestServer> {
  return startSdkServer(({ url, grpcAddress, app, grpcServer }) => {
    const card: AgentCard = {
      ...SCRIPTED_TEST_AGENT_CARD,
      protocolVersion: "0.3.0",
      url: `${url}/jsonrpc`,
      preferredTransport: "JSONRPC",
      additionalInterfaces: [
        { url: `${url}/jsonrpc`, transport: "JSONRPC" },
        { url: `${url}/rest`, transport: "HTTP+JSON" },
        { url: grpcAddress, transport: "GRPC" },
      ],
    };
    const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new ScriptedExecutor());
    const userBuilder = UserBuilder.noAuthentication;
    app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
    app.use("/jsonrpc", jsonRpcHandler({ requestHandler, userBuilder }));
    app.use("/rest", restHandler({ requestHandler, userBuilder }));
    const grpcUsers = GrpcUserBuilder.noAuthentication;
    grpcServer.addService(A2AService, grpcService({ requestHandler, userBuilder: grpcUsers }));
  });
}

defineA2AClientContractTests("the official SDK's server of 0.3", TESTED_0_3_BINDINGS, serveWithOfficialSdk);
