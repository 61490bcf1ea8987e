import { setTimeout } from "node:timers/promises";
import type { AgentExecutor, ExecutionEventBus, RequestContext } from "@a2a-js/sdk/server";
import { publishToA2aJsEventBus } from "../../src/client/publish-to-a2a-js-event-bus.fixture.ts";
import type { TaskState } from "../../src/protocol/index.ts";

const PAUSE_MS = 150;

/** The agent of the other peers for the official SDK: it counts with pauses, asks after `ask`, and waits after `wait`. */
export class SlowA2aJsExecutor implements AgentExecutor {
  readonly #contexts = new Map<string, string>();
  readonly #cancels = new Map<string, () => void>();

  async execute(
    { taskId, contextId, userMessage, task }: RequestContext,
    bus: ExecutionEventBus,
  ): Promise<void> {
    this.#contexts.set(taskId, contextId);
    const content = userMessage.parts[0]?.content;
    const text = content?.$case === "text" ? content.value : "";
    if (!task)
      publishToA2aJsEventBus(bus, {
        task: { id: taskId, contextId, status: { state: "TASK_STATE_SUBMITTED" } },
      });
    this.#publishState(bus, taskId, "TASK_STATE_WORKING");
    if (text === "wait") return await new Promise((resolve) => this.#cancels.set(taskId, resolve));
    if (text === "ask" && !task) this.#publishState(bus, taskId, "TASK_STATE_INPUT_REQUIRED");
    else {
      for (const [index, word] of ["one ", "two ", "three"].entries()) {
        await setTimeout(PAUSE_MS);
        const artifact = { artifactId: "answer", parts: [{ text: word }] };
        publishToA2aJsEventBus(bus, { artifactUpdate: { taskId, contextId, artifact, append: index > 0 } });
      }
      this.#publishState(bus, taskId, "TASK_STATE_COMPLETED");
    }
    bus.finished();
  }

  cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    this.#publishState(bus, taskId, "TASK_STATE_CANCELED");
    bus.finished();
    this.#cancels.get(taskId)?.();
    return Promise.resolve();
  }

  #publishState(bus: ExecutionEventBus, taskId: string, state: TaskState): void {
    const contextId = this.#contexts.get(taskId) ?? "";
    const status = { state, timestamp: new Date().toISOString() };
    publishToA2aJsEventBus(bus, { statusUpdate: { taskId, contextId, status } });
  }
}
