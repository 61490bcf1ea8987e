import { omitUndefined } from "../../base/usage-checks/index.ts";
import {
  type Artifact,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type SendMessageResponse,
  TASK_STATES,
  type TaskState,
  truncateText,
} from "../../protocol/index.ts";

/** The `structuredContent` of every MCP tool result. */
export interface StructuredToolResult {
  /** The state of the agent's task, which is absent if the agent replied without a task. */
  state?: TaskState;
  taskId?: string;
  contextId?: string;
  /** The text of all messages and artifacts of the agent. */
  text: string;
  artifacts: StructuredArtifact[];
}

interface StructuredArtifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: StructuredPart[];
}

/**
 * A part of an artifact in a tool result. Only the `content` of a tool result contains the bytes of files.
 */
type StructuredPart =
  | { text: string }
  | { data: JsonValue }
  | { file: { name?: string; mediaType?: string; url?: string; bytes?: number } };

/**
 * Maximum number of text characters in one tool result. The limit exists because hosts read lines of at most
 * 10 MB, and a tool result contains its text up to three times.
 */
export const MAX_TOOL_RESULT_TEXT_LENGTH = 300_000;

/**
 * Converts an agent's response to structured content. The argument `text` is the text of the agent's
 * response.
 */
export function toStructuredToolResult(response: SendMessageResponse, text: string): StructuredToolResult {
  if ("message" in response) {
    const { contextId, parts } = response.message;
    const hasNonText = parts.some((part) => !("text" in part));
    return {
      ...(contextId === undefined ? {} : { contextId }),
      text,
      artifacts: hasNonText
        ? [{ artifactId: "message", parts: toStructuredParts(parts, new TextBudget()) }]
        : [],
    };
  }
  const { id, contextId, status, artifacts = [] } = response.task;
  const budget = new TextBudget();
  const nonTextParts = status.message && findNonTextParts(status.message);
  return {
    state: status.state,
    taskId: id,
    contextId,
    text,
    artifacts: [
      ...artifacts.map((artifact) => toStructuredArtifact(artifact, budget)),
      ...(nonTextParts
        ? [{ artifactId: "status-message", parts: toStructuredParts(nonTextParts, budget) }]
        : []),
    ],
  };
}

/** Returns the message parts that are not text, because `text` already contains the text. */
function findNonTextParts({ parts }: Message): Part[] | undefined {
  const rest = parts.filter((part) => !("text" in part));
  return rest.length > 0 ? rest : undefined;
}

function toStructuredArtifact(
  { artifactId, name, description, parts }: Artifact,
  budget: TextBudget,
): StructuredArtifact {
  return {
    artifactId,
    ...omitUndefined({ name, description }),
    parts: toStructuredParts(parts, budget),
  };
}

function toStructuredParts(parts: readonly Part[], budget: TextBudget): StructuredPart[] {
  return parts.map((part): StructuredPart => {
    if ("text" in part) return { text: budget.truncateText(part.text) };
    if ("data" in part) {
      const json = JSON.stringify(part.data);
      return budget.tryConsume(json.length) ? { data: part.data } : { text: budget.truncateText(json) };
    }
    return {
      file: {
        ...omitUndefined({ name: part.filename, mediaType: part.mediaType }),
        ...("url" in part ? { url: part.url } : { bytes: computeBase64ByteLength(part.raw) }),
      },
    };
  });
}

/** Returns the number of bytes that a base64 text encodes. */
export function computeBase64ByteLength(base64: string): number {
  return Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

/** Tracks how many more characters fit into a tool result. */
export class TextBudget {
  #remaining = MAX_TOOL_RESULT_TEXT_LENGTH;

  tryConsume(length: number): boolean {
    if (length > this.#remaining) return false;
    this.#remaining -= length;
    return true;
  }

  /** Truncates the text to the remaining number of characters. */
  truncateText(text: string): string {
    if (this.tryConsume(text.length)) return text;
    const start = truncateText(text, this.#remaining);
    this.#remaining = 0;
    return `${start}… (truncated: ${text.length} characters exceed the limit)`;
  }
}

const STRING_SCHEMA: JsonObject = { type: "string" };

/**
 * The JSON Schema of `StructuredToolResult`, for hosts that validate results and for models that plan tool calls.
 */
export const TOOL_OUTPUT_SCHEMA: JsonObject & { type: "object" } = {
  type: "object",
  properties: {
    state: {
      type: "string",
      enum: [...TASK_STATES],
      description:
        "State of the task. TASK_STATE_INPUT_REQUIRED: the agent is waiting for an answer to its question.",
    },
    taskId: { type: "string", description: "Id with which this task can be continued." },
    contextId: { type: "string", description: "Id with which this conversation can be continued." },
    text: { type: "string", description: "All text of the agent." },
    artifacts: {
      type: "array",
      items: {
        type: "object",
        properties: {
          artifactId: STRING_SCHEMA,
          name: STRING_SCHEMA,
          description: STRING_SCHEMA,
          parts: {
            type: "array",
            items: {
              type: "object",
              properties: {
                text: STRING_SCHEMA,
                data: {},
                file: {
                  type: "object",
                  properties: {
                    name: STRING_SCHEMA,
                    mediaType: STRING_SCHEMA,
                    url: STRING_SCHEMA,
                    bytes: { type: "integer" },
                  },
                },
              },
            },
          },
        },
        required: ["artifactId", "parts"],
      },
    },
  },
  required: ["text", "artifacts"],
};
