/**
 * Serves an unchanged `AgentExecutor` of `@a2a-js/sdk` on this engine. The tasks of the executor become
 * durable and resumable, over A2A 1.0 and 0.3.
 *
 *     npm run -s colloquy -- serve examples/19-a2a-js-executor.ts
 */
import { AgentCard, type Part, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { fromExecutor } from "colloquy/a2a-js";

class Greeter implements AgentExecutor {
  async execute({ taskId, contextId, userMessage, task }: RequestContext, bus: ExecutionEventBus) {
    if (!task) {
      bus.publish(
        AgentEvent.task({
          id: taskId,
          contextId,
          status: status(TaskState.TASK_STATE_SUBMITTED),
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        }),
      );
    }
    const [first] = userMessage.parts;
    const name = first?.content?.$case === "text" ? first.content.value : "stranger";
    for (const [index, words] of ["Hello, ", name, "!"].entries()) {
      const artifact = { artifactId: "greeting", name: "greeting", description: "", extensions: [] };
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: { ...artifact, parts: [textPart(words)], metadata: undefined },
          append: index > 0,
          lastChunk: index === 2,
          metadata: undefined,
        }),
      );
    }
    const end = { taskId, contextId, status: status(TaskState.TASK_STATE_COMPLETED), metadata: undefined };
    bus.publish(AgentEvent.statusUpdate(end));
    bus.finished();
  }

  // Canceling has no effect, because the task completes immediately.
  async cancelTask() {}
}

function status(state: TaskState) {
  return { state, message: undefined, timestamp: new Date().toISOString() };
}

function textPart(value: string): Part {
  return { content: { $case: "text", value }, metadata: undefined, filename: "", mediaType: "" };
}

const card = AgentCard.fromJSON({
  name: "greeter",
  description: "Greets people",
  version: "1.0.0",
  capabilities: { streaming: true },
  defaultInputModes: ["text/plain"],
  defaultOutputModes: ["text/plain"],
  skills: [{ id: "greet", name: "Greet", description: "Greets people", tags: ["greeting"] }],
});

export default fromExecutor(new Greeter(), card);
