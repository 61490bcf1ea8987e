import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { jsonSchema, type Tool, tool } from "ai";
import type { ConnectOptions, A2AClient } from "../../../client/index.ts";
import { RemoteAgentClient, type RemoteAgentAnswer } from "../remote-agent-client.ts";

/** Options for `a2aTool`. */
export interface A2aToolOptions {
  /**
   * The model uses this description to decide when to call the agent. A description is required if the agent
   * is passed as a URL. For a connected client, the default is the description in the agent card.
   */
  readonly description?: string;
  /** Connection options for an agent that is passed as a URL. */
  readonly connectOptions?: ConnectOptions;
}

const assertKnownOptions = defineOptionNames<A2aToolOptions>()("a2aTool", "connectOptions description");

/** The tool input that the model provides. */
interface A2aToolInput {
  readonly message: string;
  readonly taskId?: string;
  readonly contextId?: string;
}

const INPUT_SCHEMA = jsonSchema<A2aToolInput>({
  type: "object",
  properties: {
    message: {
      type: "string",
      description: "The message to the agent. It must be understandable without further context.",
    },
    taskId: {
      type: "string",
      description: "The id of a task in state input-required, to answer its question.",
    },
    contextId: {
      type: "string",
      description: "The contextId of an earlier answer, to continue that conversation.",
    },
  },
  required: ["message"],
  additionalProperties: false,
});

/**
 * Creates an AI SDK tool from any A2A agent. While the agent works, the tool returns the answer so far as
 * preliminary results. If the agent asks a question, the model receives the question. To answer, the model
 * calls the tool again with the `taskId`. Aborting the tool call cancels the agent's task.
 */
export function a2aTool(
  agent: string | A2AClient,
  options: A2aToolOptions = {},
): Tool<A2aToolInput, RemoteAgentAnswer> {
  assertKnownOptions(options);
  const { description, connectOptions } = options;
  const client = new RemoteAgentClient(agent, connectOptions);
  const toolDescription = description ?? (typeof agent === "string" ? undefined : agent.card.description);
  if (toolDescription === undefined) {
    throw new TypeError(
      `a2aTool(${JSON.stringify(agent)}) needs a description for the model. Set \`description\`, or pass a client that connect() has returned.`,
    );
  }
  return tool({
    description: toolDescription,
    inputSchema: INPUT_SCHEMA,
    execute: ({ message, taskId, contextId }, { abortSignal }) =>
      client.streamAnswer(message, {
        taskId,
        contextId,
        signal: abortSignal ?? new AbortController().signal,
      }),
    // Removes file contents from the output, because a model cannot use raw bytes. The file's name and type
    // remain.
    toModelOutput: ({ output }) => {
      const files = output.files?.map((file) => ({ ...file, raw: undefined }));
      return { type: "text", value: JSON.stringify({ ...output, ...(files ? { files } : {}) }) };
    },
  });
}
