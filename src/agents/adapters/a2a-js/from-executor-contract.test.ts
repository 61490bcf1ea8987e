import { randomUUID } from "node:crypto";
import { type AgentCard, type Part, Role, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { toBase64 } from "../../../protocol/index.ts";
import { defineAdapterContract } from "../adapter.contract.ts";
import { fromExecutor } from "./index.ts";

const card: AgentCard = {
  name: "executor",
  description: "For tests",
  version: "2.0.0",
  supportedInterfaces: [
    { url: "http://elsewhere.example", protocolBinding: "JSONRPC", tenant: "", protocolVersion: "1.0" },
  ],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ["text", "file", "data"],
  defaultOutputModes: ["text", "task-status"],
  skills: [
    {
      id: "test",
      name: "Test",
      description: "Tests",
      tags: ["test"],
      examples: [],
      inputModes: [],
      outputModes: [],
      securityRequirements: [],
    },
  ],
  signatures: [],
};

const createTextPart = (value: string): Part => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "",
});

/**
 * An executor in the style of the SDK's samples: it publishes the task, the work, an artifact in chunks, and
 * the end.
 */
class SampleExecutor implements AgentExecutor {
  readonly #run: (say: SamplePublisher, context: RequestContext) => Promise<void>;
  readonly #onCancel: (taskId: string, bus: ExecutionEventBus) => void;

  constructor(
    work: (say: SamplePublisher, context: RequestContext) => Promise<void>,
    onCancel: (taskId: string, bus: ExecutionEventBus) => void = () => {},
  ) {
    this.#run = work;
    this.#onCancel = onCancel;
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const say = new SamplePublisher(context, bus);
    bus.publish(
      AgentEvent.task(
        task ?? {
          id: taskId,
          contextId,
          status: { state: TaskState.TASK_STATE_SUBMITTED, message: undefined, timestamp: undefined },
          artifacts: [],
          history: [userMessage],
          metadata: undefined,
        },
      ),
    );
    say.publishState(TaskState.TASK_STATE_WORKING);
    await this.#run(say, context);
    if (!say.stopped) say.publishState(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    this.#onCancel(taskId, bus);
  }
}

class SamplePublisher {
  stopped = false;
  readonly #context: RequestContext;
  readonly #bus: ExecutionEventBus;
  readonly #artifactId = randomUUID();
  #hasStarted = false;

  constructor(context: RequestContext, bus: ExecutionEventBus) {
    this.#context = context;
    this.#bus = bus;
  }

  publishState(state: TaskState, words?: string): void {
    const { taskId, contextId } = this.#context;
    const message = words === undefined ? undefined : createAgentMessage(this.#context, words);
    const status = { state, message, timestamp: new Date().toISOString() };
    if (state !== TaskState.TASK_STATE_WORKING) this.stopped = true;
    this.#bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
  }

  publishChunk(words: string): void {
    const { taskId, contextId } = this.#context;
    const artifact = {
      artifactId: this.#artifactId,
      name: "answer",
      description: "",
      parts: [createTextPart(words)],
      metadata: undefined,
      extensions: [],
    };
    const about = {
      taskId,
      contextId,
      artifact,
      append: this.#hasStarted,
      lastChunk: false,
      metadata: undefined,
    };
    this.#hasStarted = true;
    this.#bus.publish(AgentEvent.artifactUpdate(about));
  }
}

function createAgentMessage({ taskId, contextId }: RequestContext, words: string) {
  return {
    messageId: randomUUID(),
    role: Role.ROLE_AGENT,
    parts: [createTextPart(words)],
    taskId,
    contextId,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function getUserText({ userMessage }: RequestContext): string {
  const [content] = userMessage.parts.map(({ content }) => content);
  return content?.$case === "text" ? content.value : "";
}

function formatPart({ content, mediaType }: Part): string {
  if (content?.$case === "raw") return `file:${mediaType}:${toBase64(content.value)}`;
  if (content?.$case === "data") return `data:${JSON.stringify(content.value)}`;
  return `text:${content?.value}`;
}

const createSampleAgent = (...args: ConstructorParameters<typeof SampleExecutor>) =>
  fromExecutor(new SampleExecutor(...args), card);

defineAdapterContract("an AgentExecutor of a2a-js", {
  createAnsweringAgent: (chunks) =>
    createSampleAgent(async (say) => {
      for (const chunk of chunks) say.publishChunk(chunk);
    }),
  createGateWaitingAgent: (gate) =>
    createSampleAgent(async (say) => {
      say.publishChunk("first ");
      await gate;
      say.publishChunk("second");
    }),
  createFailingAgent: (error) =>
    createSampleAgent(async () => {
      throw error;
    }),
  createEndlessAgent(stopped) {
    const cancelled = Promise.withResolvers<void>();
    return createSampleAgent(
      async (say) => {
        say.publishChunk("working");
        await cancelled.promise;
        say.publishState(TaskState.TASK_STATE_CANCELED);
        stopped();
      },
      () => cancelled.resolve(),
    );
  },
  createRememberingAgent() {
    const conversations = new Map<string, string[]>();
    return createSampleAgent(async (say, context) => {
      const received = [...(conversations.get(context.contextId) ?? []), getUserText(context)];
      conversations.set(context.contextId, received);
      say.publishChunk(received.join(" | "));
    });
  },
  createEchoAgent: () =>
    createSampleAgent(async (say, { userMessage }) =>
      say.publishChunk(userMessage.parts.map(formatPart).join(" ")),
    ),
  createAskingAgent: () =>
    createSampleAgent(async (say, context) => {
      if (context.task) say.publishChunk(`Sunny in ${getUserText(context)}`);
      else say.publishState(TaskState.TASK_STATE_INPUT_REQUIRED, "Which city?");
    }),
});
