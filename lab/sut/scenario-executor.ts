import { randomUUID } from "node:crypto";
import { AgentCard, Message } from "@a2a-js/sdk";
import type { AgentExecutor, ExecutionEventBus, RequestContext } from "@a2a-js/sdk/server";
import { fromExecutor } from "../../src/agents/adapters/a2a-js/index.ts";
import { publishToA2aJsEventBus } from "../../src/client/publish-to-a2a-js-event-bus.fixture.ts";
import type { Agent, AgentDescription, AgentEvent } from "../../src/engine/index.ts";
import type { Message as Said, StreamResponse, TaskStatus } from "../../src/protocol/index.ts";
import { completeWithArtifact } from "./scenario.ts";
import { findTckScenario } from "./tck.ts";

/**
 * Plays the scenarios of the TCK for 1.0 as an `AgentExecutor` of a2a-js. It uses only the SDK's event bus
 * and none of our types.
 */
class ScenarioExecutor implements AgentExecutor {
  readonly #running = new Map<string, AbortController>();

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, task } = context;
    const message = Message.toJSON(context.userMessage) as Said;
    const play = findTckScenario(message.messageId) ?? (() => completeWithArtifact(...message.parts));
    const abort = new AbortController();
    this.#running.set(taskId, abort);
    // The SDK requires the task as the first event, unless the answer is a message.
    let opened = task !== undefined;
    try {
      for await (const event of play({ signal: abort.signal, message } as Parameters<typeof play>[0])) {
        if (!opened && !("message" in event)) {
          const status: TaskStatus = { state: "TASK_STATE_SUBMITTED" };
          publishToA2aJsEventBus(bus, { task: { id: taskId, contextId, status, history: [message] } });
        }
        opened = true;
        publishToA2aJsEventBus(bus, toStreamResponse(event, taskId, contextId));
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      publishToA2aJsEventBus(
        bus,
        toStreamResponse({ status: { state: "TASK_STATE_CANCELED" } }, taskId, contextId),
      );
    } finally {
      this.#running.delete(taskId);
    }
  }

  cancelTask(taskId: string): Promise<void> {
    this.#running.get(taskId)?.abort();
    return Promise.resolve();
  }
}

function toStreamResponse(event: AgentEvent, taskId: string, contextId: string): StreamResponse {
  if ("artifact" in event) return { artifactUpdate: { taskId, contextId, ...event } };
  const { message } = "message" in event ? event : event.status;
  const agentMessage = message && {
    role: "ROLE_AGENT" as const,
    contextId,
    ...message,
    messageId: randomUUID(),
  };
  if ("message" in event) return { message: agentMessage as Said };
  const { state } = event.status;
  const status = {
    state,
    timestamp: new Date().toISOString(),
    ...(agentMessage ? { message: agentMessage } : {}),
  };
  return { statusUpdate: { taskId, contextId, status } };
}

/** Runs that executor on our engine. */
export function createExecutorAgent(about: Partial<AgentDescription>): Agent {
  const card = {
    name: "Colloquy SUT, an executor of a2a-js",
    description: "Plays the scenarios of the TCK.",
    version: "1.0.0",
    defaultInputModes: ["text"],
    defaultOutputModes: ["text", "task-status"],
    skills: [{ id: "tck", name: "TCK", description: "Plays scenarios by messageId.", tags: ["tck"] }],
    ...about,
  };
  return fromExecutor(new ScenarioExecutor(), AgentCard.fromJSON(card));
}
