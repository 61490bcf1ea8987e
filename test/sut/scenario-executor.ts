import { randomUUID } from "node:crypto";
import { AgentCard, Message } from "@a2a-js/sdk";
import type { AgentExecutor, ExecutionEventBus, RequestContext } from "@a2a-js/sdk/server";
import { fromExecutor } from "../../src/adapters/a2a-js/index.ts";
import { publishToSdkBus } from "../../src/client/sdk-events.fixture.ts";
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
      for await (const said of play({ signal: abort.signal, message } as Parameters<typeof play>[0])) {
        if (!opened && !("message" in said)) {
          const status: TaskStatus = { state: "TASK_STATE_SUBMITTED" };
          publishToSdkBus(bus, { task: { id: taskId, contextId, status, history: [message] } });
        }
        opened = true;
        publishToSdkBus(bus, toStreamResponse(said, taskId, contextId));
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      publishToSdkBus(bus, toStreamResponse({ status: { state: "TASK_STATE_CANCELED" } }, taskId, contextId));
    } finally {
      this.#running.delete(taskId);
    }
  }

  cancelTask(taskId: string): Promise<void> {
    this.#running.get(taskId)?.abort();
    return Promise.resolve();
  }
}

function toStreamResponse(said: AgentEvent, taskId: string, contextId: string): StreamResponse {
  if ("artifact" in said) return { artifactUpdate: { taskId, contextId, ...said } };
  const { message } = "message" in said ? said : said.status;
  const whole = message && { role: "ROLE_AGENT" as const, contextId, ...message, messageId: randomUUID() };
  if ("message" in said) return { message: whole as Said };
  const { state } = said.status;
  const status = { state, timestamp: new Date().toISOString(), ...(whole ? { message: whole } : {}) };
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
