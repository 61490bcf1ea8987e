import { getText, isInterrupted, type JsonObject, type Task } from "../../../protocol/index.ts";
import { formatQuestion } from "../question-limiter.ts";
import { stripInvisibleAndTruncateText } from "../sanitize-text.ts";
import type { McpInputRequest } from "./mcp-task.ts";

/** Name of the form field for the user's answer. */
const ANSWER_FIELD = "answer";

/** A question from an agent to the host's user. */
export interface TaskQuestion {
  /** Key of the question, which is unique within the task. */
  readonly key: string;
  readonly request: McpInputRequest;
}

/** The user's response to a question. */
export type TaskAnswer =
  | { readonly kind: "text"; readonly text: string }
  /** The user has confirmed a sign-in request. */
  | { readonly kind: "confirmed" }
  /** The user declines to answer, or has closed the form. */
  | { readonly kind: "refused" };

/**
 * Converts the question of an interrupted task to an MCP elicitation. A sign-in request becomes a form
 * without fields. Returns `undefined` if the task has no question that contains text.
 */
export function findTaskQuestion({ status }: Task, agentId: string): TaskQuestion | undefined {
  const { state, message, timestamp } = status;
  if (!isInterrupted(state)) return undefined;
  const question = stripInvisibleAndTruncateText(getText(message?.parts ?? []), 4000);
  if (question === "") return undefined;
  const properties: JsonObject =
    state === "TASK_STATE_INPUT_REQUIRED" ? { [ANSWER_FIELD]: { type: "string", title: "Your answer" } } : {};
  return {
    key: message?.messageId ?? timestamp ?? "question",
    request: {
      method: "elicitation/create",
      params: {
        mode: "form",
        message: formatQuestion(agentId, question),
        requestedSchema: { type: "object", properties, required: Object.keys(properties) },
      },
    },
  };
}

/** Decodes the response to a question. Returns `undefined` if the response is invalid. */
export function decodeTaskAnswer({ status }: Task, response: unknown): TaskAnswer | undefined {
  const { action, content } = (response ?? {}) as { action?: unknown; content?: unknown };
  if (action === "decline" || action === "cancel") return { kind: "refused" };
  if (action !== "accept") return undefined;
  if (status.state === "TASK_STATE_AUTH_REQUIRED") return { kind: "confirmed" };
  const text: unknown = (content as { [ANSWER_FIELD]?: unknown } | undefined)?.[ANSWER_FIELD];
  return typeof text === "string" ? { kind: "text", text } : undefined;
}
