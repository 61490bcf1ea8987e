import { randomUUID } from "node:crypto";
import { type AgentCard, type Part, Role, TaskState } from "@a2a-js/sdk";
import {
  AgentEvent,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { toBase64 } from "../../protocol/index.ts";
import { describeAdapter } from "../adapter.contract.ts";
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

const textPart = (value: string): Part => ({
  content: { $case: "text", value },
  metadata: undefined,
  filename: "",
  mediaType: "",
});

/** An executor in the idiom of the SDK's samples: the task, the work, an artifact in chunks, the end. */
class Sample implements AgentExecutor {
  readonly #work: (say: Say, context: RequestContext) => Promise<void>;
  readonly #onCancel: (taskId: string, bus: ExecutionEventBus) => void;

  constructor(
    work: (say: Say, context: RequestContext) => Promise<void>,
    onCancel: (taskId: string, bus: ExecutionEventBus) => void = () => {},
  ) {
    this.#work = work;
    this.#onCancel = onCancel;
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { taskId, contextId, userMessage, task } = context;
    const say = new Say(context, bus);
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
    say.state(TaskState.TASK_STATE_WORKING);
    await this.#work(say, context);
    if (!say.stopped) say.state(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    this.#onCancel(taskId, bus);
  }
}

class Say {
  stopped = false;
  readonly #context: RequestContext;
  readonly #bus: ExecutionEventBus;
  readonly #artifactId = randomUUID();
  #begun = false;

  constructor(context: RequestContext, bus: ExecutionEventBus) {
    this.#context = context;
    this.#bus = bus;
  }

  state(state: TaskState, words?: string): void {
    const { taskId, contextId } = this.#context;
    const message = words === undefined ? undefined : messageOf(this.#context, words);
    const status = { state, message, timestamp: new Date().toISOString() };
    if (state !== TaskState.TASK_STATE_WORKING) this.stopped = true;
    this.#bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
  }

  chunk(words: string): void {
    const { taskId, contextId } = this.#context;
    const artifact = {
      artifactId: this.#artifactId,
      name: "answer",
      description: "",
      parts: [textPart(words)],
      metadata: undefined,
      extensions: [],
    };
    const about = { taskId, contextId, artifact, append: this.#begun, lastChunk: false, metadata: undefined };
    this.#begun = true;
    this.#bus.publish(AgentEvent.artifactUpdate(about));
  }
}

function messageOf({ taskId, contextId }: RequestContext, words: string) {
  return {
    messageId: randomUUID(),
    role: Role.ROLE_AGENT,
    parts: [textPart(words)],
    taskId,
    contextId,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function wordsOf({ userMessage }: RequestContext): string {
  const [content] = userMessage.parts.map(({ content }) => content);
  return content?.$case === "text" ? content.value : "";
}

function seenIn({ content, mediaType }: Part): string {
  if (content?.$case === "raw") return `file:${mediaType}:${toBase64(content.value)}`;
  if (content?.$case === "data") return `data:${JSON.stringify(content.value)}`;
  return `text:${content?.value}`;
}

const served = (...args: ConstructorParameters<typeof Sample>) => fromExecutor(new Sample(...args), card);

describeAdapter("an AgentExecutor of a2a-js", {
  answering: (chunks) =>
    served(async (say) => {
      for (const chunk of chunks) say.chunk(chunk);
    }),
  pausing: (gate) =>
    served(async (say) => {
      say.chunk("first ");
      await gate;
      say.chunk("second");
    }),
  failing: (error) =>
    served(async () => {
      throw error;
    }),
  endless(stopped) {
    const cancelled = Promise.withResolvers<void>();
    return served(
      async (say) => {
        say.chunk("working");
        await cancelled.promise;
        say.state(TaskState.TASK_STATE_CANCELED);
        stopped();
      },
      () => cancelled.resolve(),
    );
  },
  remembering() {
    const conversations = new Map<string, string[]>();
    return served(async (say, context) => {
      const heard = [...(conversations.get(context.contextId) ?? []), wordsOf(context)];
      conversations.set(context.contextId, heard);
      say.chunk(heard.join(" | "));
    });
  },
  receiving: () => served(async (say, { userMessage }) => say.chunk(userMessage.parts.map(seenIn).join(" "))),
  asking: () =>
    served(async (say, context) => {
      if (context.task) say.chunk(`Sunny in ${wordsOf(context)}`);
      else say.state(TaskState.TASK_STATE_INPUT_REQUIRED, "Which city?");
    }),
});
