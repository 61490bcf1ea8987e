import { AgentCard } from "@a2a-js/sdk";
import {
  type AgentExecutor,
  DefaultRequestHandler,
  type ExecutionEventBus,
  InMemoryTaskStore,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { LegacyA2AService, legacyGrpcService } from "@a2a-js/sdk/compat/v0_3/server/grpc";
import { A2AService, grpcService, UserBuilder as GrpcUserBuilder } from "@a2a-js/sdk/server/grpc";
import type { RequestHandler } from "express";
import type { Task, TaskState } from "../protocol/index.ts";
import { publishToA2aJsEventBus } from "./publish-to-a2a-js-event-bus.fixture.ts";
import { SCRIPTED_TEST_AGENT_CARD, startSdkServer } from "./sdk-server.fixture.ts";
import type { RunningTestServer } from "./a2a-client.contract.ts";

/** The agent that `a2a-client.contract.ts` describes. */
export class ScriptedA2aJsTestExecutor implements AgentExecutor {
  readonly #contexts = new Map<string, string>();

  execute = (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage, task } = request;
    this.#contexts.set(taskId, contextId);
    const content = userMessage.parts[0]?.content;
    const text = content?.$case === "text" ? content.value : "";
    const status = (state: TaskState): void =>
      publishToA2aJsEventBus(bus, {
        statusUpdate: { taskId, contextId, status: { state, timestamp: new Date().toISOString() } },
      });
    const say = (text: string, append: boolean): void => {
      const artifact = { artifactId: "answer", parts: [{ text }] };
      publishToA2aJsEventBus(bus, { artifactUpdate: { taskId, contextId, artifact, append } });
    };
    if (text === "message") {
      publishToA2aJsEventBus(bus, {
        message: { messageId: "m", role: "ROLE_AGENT", contextId, parts: [{ text: "hi" }] },
      });
      bus.finished();
      return Promise.resolve();
    }
    const begun: Task = { id: taskId, contextId, status: { state: "TASK_STATE_SUBMITTED" } };
    publishToA2aJsEventBus(bus, {
      task: task ? { ...begun, status: { state: "TASK_STATE_WORKING" } } : begun,
    });
    status("TASK_STATE_WORKING");
    if (text === "wait") return Promise.resolve();
    if (text === "ask" && !task) status("TASK_STATE_INPUT_REQUIRED");
    else {
      const words = task ? [`got ${text}`] : ["one ", "two ", "three"];
      for (const [index, word] of words.entries()) say(word, index > 0);
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

/**
 * Starts the official SDK's server on every binding, with the agent that `a2a-client.contract.ts` describes. With
 * `extendedSkills`, the agent has an extended card with these skills. With `corsOrigin`, pages of the origin may call the
 * server.
 */
export function serveWithOfficialSdk({
  corsOrigin,
  extendedSkills,
  executor = new ScriptedA2aJsTestExecutor(),
}: {
  readonly corsOrigin?: string;
  readonly extendedSkills?: typeof SCRIPTED_TEST_AGENT_CARD.skills;
  readonly executor?: AgentExecutor;
} = {}): Promise<RunningTestServer> {
  return startSdkServer(({ url, grpcAddress, app, grpcServer }) => {
    const cardJson = {
      ...SCRIPTED_TEST_AGENT_CARD,
      capabilities: { streaming: true, ...(extendedSkills ? { extendedAgentCard: true } : {}) },
      supportedInterfaces: ["1.0", "0.3"].flatMap((protocolVersion) => [
        { url: `${url}/jsonrpc`, protocolBinding: "JSONRPC", protocolVersion },
        { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion },
        { url: grpcAddress, protocolBinding: "GRPC", protocolVersion },
      ]),
    };
    const requestHandler = new DefaultRequestHandler(
      AgentCard.fromJSON(cardJson),
      new InMemoryTaskStore(),
      executor,
      undefined,
      undefined,
      undefined,
      // The SDK returns a card only to authenticated callers, and calls a function for all callers.
      extendedSkills && (() => Promise.resolve(AgentCard.fromJSON({ ...cardJson, skills: extendedSkills }))),
    );
    const userBuilder = UserBuilder.noAuthentication;
    if (corsOrigin !== undefined) app.use(createCorsMiddleware(corsOrigin));
    app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
    const legacyCompat = { enabled: true };
    app.use("/jsonrpc", jsonRpcHandler({ requestHandler, userBuilder, legacyCompat }));
    app.use("/rest", restHandler({ requestHandler, userBuilder, legacyCompat }));
    const grpcUsers = GrpcUserBuilder.noAuthentication;
    grpcServer.addService(A2AService, grpcService({ requestHandler, userBuilder: grpcUsers }));
    grpcServer.addService(LegacyA2AService, legacyGrpcService({ requestHandler, userBuilder: grpcUsers }));
  });
}

/** Creates Express middleware that answers CORS questions, as the package `cors` does. */
function createCorsMiddleware(origin: string): RequestHandler {
  return (request, response, next) => {
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("access-control-allow-methods", "GET, POST, DELETE");
    response.setHeader(
      "access-control-allow-headers",
      request.get("access-control-request-headers") ?? "content-type",
    );
    if (request.method === "OPTIONS") response.status(204).end();
    else next();
  };
}
