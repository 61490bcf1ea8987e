import {
  type Artifact,
  type JsonObject,
  type JsonValue,
  type Message,
  type Part,
  type SendMessageResponse,
  TASK_STATES,
  type TaskState,
} from "../protocol/index.ts";
import { truncateEnd } from "./sanitize-text.ts";

/** What `structuredContent` is of every tool. */
export interface StructuredResult {
  /** Absent for an answer without a task. */
  state?: TaskState;
  taskId?: string;
  contextId?: string;
  /** All that the agent said, and that of its artifacts which is text. */
  text: string;
  artifacts: StructuredArtifact[];
}

interface StructuredArtifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: StructuredPart[];
}

/** A file's content is not here a second time: it stands in the result's content. */
type StructuredPart =
  | { text: string }
  | { data: JsonValue }
  | { file: { name?: string; mediaType?: string; url?: string; bytes?: number } };

/** Of text, in one result. Hosts read lines of 10 MB at most, in which a text stands up to three times. */
export const MAX_TEXT_LENGTH = 300_000;

export function toStructuredResult(answer: SendMessageResponse, text: string): StructuredResult {
  if ("message" in answer) {
    const { contextId, parts } = answer.message;
    const extra = parts.some((part) => !("text" in part));
    return {
      ...(contextId === undefined ? {} : { contextId }),
      text,
      artifacts: extra ? [{ artifactId: "message", parts: toStructuredParts(parts, new TextBudget()) }] : [],
    };
  }
  const { id, contextId, status, artifacts = [] } = answer.task;
  const budget = new TextBudget();
  const said = status.message && findNonTextParts(status.message);
  return {
    state: status.state,
    taskId: id,
    contextId,
    text,
    artifacts: [
      ...artifacts.map((artifact) => toStructuredArtifact(artifact, budget)),
      ...(said ? [{ artifactId: "status-message", parts: toStructuredParts(said, budget) }] : []),
    ],
  };
}

/** What a message has beside text, which `text` has already. */
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
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
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
        ...(part.filename === undefined ? {} : { name: part.filename }),
        ...(part.mediaType === undefined ? {} : { mediaType: part.mediaType }),
        ...("url" in part ? { url: part.url } : { bytes: computeBase64ByteLength(part.raw) }),
      },
    };
  });
}

/** Of the bytes that base64 stands for. */
export function computeBase64ByteLength(base64: string): number {
  return Math.floor((base64.length * 3) / 4) - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0);
}

/** How much text a result may still have. */
export class TextBudget {
  #remaining = MAX_TEXT_LENGTH;

  tryConsume(length: number): boolean {
    if (length > this.#remaining) return false;
    this.#remaining -= length;
    return true;
  }

  /** The text, or as much of it as there is room for. */
  truncateText(text: string): string {
    if (this.tryConsume(text.length)) return text;
    const start = truncateEnd(text, this.#remaining);
    this.#remaining = 0;
    return `${start}… (cut: ${text.length} characters are too many)`;
  }
}

const STRING_SCHEMA: JsonObject = { type: "string" };

/** The schema of `StructuredResult`, for hosts that check what they are given and for models that plan with it. */
export const TOOL_OUTPUT_SCHEMA: JsonObject & { type: "object" } = {
  type: "object",
  properties: {
    state: {
      type: "string",
      enum: [...TASK_STATES],
      description: "TASK_STATE_INPUT_REQUIRED: the agent waits for an answer to what it asked.",
    },
    taskId: { type: "string", description: "To go on with this task." },
    contextId: { type: "string", description: "To stay in this conversation." },
    text: { type: "string", description: "All that the agent said." },
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
