import type { InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { type SendMessageResponse, getText } from "../protocol/index.ts";
import type { AgentRequest } from "./tool-arguments.ts";
import { sanitizeText } from "./sanitize-text.ts";

type McpServerSdk = typeof import("@modelcontextprotocol/server");

/** Under which the user's answer comes back. */
const ANSWER_KEY = "answer";

/**
 * What an agent asks, as a question of the host to its user (MCP elicitation). Undefined when there is no question in
 * words: data is for the model.
 */
export function toElicitation(
  { inputRequired }: McpServerSdk,
  answer: SendMessageResponse,
): InputRequiredResult | undefined {
  if (!("task" in answer) || answer.task.status.state !== "TASK_STATE_INPUT_REQUIRED") return undefined;
  const { id, status } = answer.task;
  const question = sanitizeText(getText(status.message?.parts ?? []), 4000);
  if (question === "") return undefined;
  return inputRequired({
    inputRequests: {
      [ANSWER_KEY]: inputRequired.elicit({
        message: question,
        requestedSchema: {
          type: "object",
          properties: { [ANSWER_KEY]: { type: "string", title: "Your answer" } },
          required: [ANSWER_KEY],
        },
      }),
    },
    // The host could name any task of its caller by the tool's arguments as well, so there is nothing to protect.
    requestState: id,
  });
}

/** What the user has answered, as what is to be said to the agent; `refused` when they would not. */
export function parseElicitationAnswer(
  { inputResponse }: McpServerSdk,
  { mcpReq }: ServerContext,
): AgentRequest | "refused" | undefined {
  const taskId = mcpReq.requestState<string>();
  const response = inputResponse(mcpReq.inputResponses, ANSWER_KEY);
  if (typeof taskId !== "string" || response.kind !== "elicit") return undefined;
  const text = response.content?.[ANSWER_KEY];
  if (response.action !== "accept" || typeof text !== "string") return "refused";
  return { parts: [{ text }], taskId };
}
