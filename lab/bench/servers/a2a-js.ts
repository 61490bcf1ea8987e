import { TaskState, type AgentCard, type Part, type TaskStatus } from "@a2a-js/sdk";
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import { A2AService, grpcService, UserBuilder as GrpcUserBuilder } from "@a2a-js/sdk/server/grpc";
import * as grpc from "@grpc/grpc-js";
import express from "express";
import type { StartedSystem } from "../system-process-main.ts";
import { parseJobFromMessageText, generateJobChunks } from "../benchmark-job.ts";
import { listenOnFreePort } from "./baseline.ts";

/** Starts a server of `@a2a-js/sdk` as its samples do: Express, JSON-RPC, and tasks in memory. */
export async function startA2aJsServer(): Promise<StartedSystem> {
  const handler = new DefaultRequestHandler(benchmarkAgentCard, new InMemoryTaskStore(), new ChunkExecutor());
  const app = express();
  app.use("/", jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }));
  return { url: await listenOnFreePort(app) };
}

/** Starts a gRPC server of `@a2a-js/sdk` with tasks in memory. */
export async function startA2aJsGrpcServer(): Promise<StartedSystem> {
  const requestHandler = new DefaultRequestHandler(
    benchmarkAgentCard,
    new InMemoryTaskStore(),
    new ChunkExecutor(),
  );
  const server = new grpc.Server();
  const userBuilder = GrpcUserBuilder.noAuthentication;
  server.addService(A2AService, grpcService({ requestHandler, userBuilder }));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    );
  });
  return { url: `http://127.0.0.1:${port}` };
}

class ChunkExecutor implements AgentExecutor {
  async execute({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { text } = getPartTextContent(userMessage.parts[0]);
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: createStatus(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [userMessage],
        metadata: undefined,
      }),
    );
    bus.publish(createStatusUpdate(taskId, contextId, TaskState.TASK_STATE_WORKING));
    let append = false;
    for await (const chunk of generateJobChunks(parseJobFromMessageText(text))) {
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: {
            artifactId: "answer",
            name: "",
            description: "",
            parts: [createTextPart(chunk.text)],
            metadata: undefined,
            extensions: [],
          },
          append,
          lastChunk: chunk.last,
          metadata: undefined,
        }),
      );
      append = true;
    }
    bus.publish(createStatusUpdate(taskId, contextId, TaskState.TASK_STATE_COMPLETED));
    bus.finished();
  }

  async cancelTask(): Promise<void> {}
}

function createStatusUpdate(
  taskId: string,
  contextId: string,
  state: TaskState,
): ReturnType<typeof AgentEvent.statusUpdate> {
  return AgentEvent.statusUpdate({ taskId, contextId, status: createStatus(state), metadata: undefined });
}

function createStatus(state: TaskState): TaskStatus {
  return { state, message: undefined, timestamp: new Date().toISOString() };
}

function createTextPart(value: string): Part {
  return { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "" };
}

function getPartTextContent(part: Part | undefined): { text: string } {
  return { text: part?.content?.$case === "text" ? part.content.value : "" };
}

const benchmarkAgentCard: AgentCard = {
  name: "Chunks",
  description: "Answers in chunks.",
  supportedInterfaces: [
    { url: "http://127.0.0.1/", protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" },
    { url: "127.0.0.1:80", protocolBinding: "GRPC", tenant: "", protocolVersion: "1.0" },
  ],
  provider: undefined,
  version: "1.0.0",
  documentationUrl: undefined,
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [],
  signatures: [],
  iconUrl: undefined,
};
