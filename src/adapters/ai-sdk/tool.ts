import { jsonSchema, type Tool, tool } from "ai";
import type { ConnectOptions, A2AClient } from "../../client/index.ts";
import { RemoteAgentClient, type RemoteAgentAnswer } from "../remote-agent-client.ts";

export interface A2aToolOptions {
  /** What the model is told that the agent does. Needed for a URL; of a connected agent, its card says it. */
  readonly description?: string;
  /** How to connect when the agent is given by its URL. */
  readonly connectOptions?: ConnectOptions;
}

/** What the model says to the agent. */
export interface A2aToolInput {
  readonly message: string;
  readonly taskId?: string;
  readonly contextId?: string;
}

const INPUT_SCHEMA = jsonSchema<A2aToolInput>({
  type: "object",
  properties: {
    message: { type: "string", description: "What to tell the agent, in words that need no other context." },
    taskId: { type: "string", description: "Of a task that is input-required, to answer what it asks." },
    contextId: { type: "string", description: "Of an earlier answer, to go on with that conversation." },
  },
  required: ["message"],
  additionalProperties: false,
});

/**
 * Any A2A agent as a tool of the AI SDK. The answer comes as preliminary results while the agent works; what it asks, the
 * model is told, and may answer with the `taskId`. An aborted call cancels the agent's task.
 */
export function a2aTool(
  agent: string | A2AClient,
  { description, connectOptions }: A2aToolOptions = {},
): Tool<A2aToolInput, RemoteAgentAnswer> {
  const client = new RemoteAgentClient(agent, connectOptions);
  const toolDescription = description ?? (typeof agent === "string" ? undefined : agent.card.description);
  if (toolDescription === undefined) {
    throw new TypeError(
      `a2aTool(${JSON.stringify(agent)}) needs a description, by which a model chooses it; or give it what connect() returns.`,
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
    // A model has no use for bytes; that there is a file it is told.
    toModelOutput: ({ output }) => {
      const value = JSON.stringify(output, (key, field: unknown) => (key === "raw" ? undefined : field));
      return { type: "text", value };
    },
  });
}
