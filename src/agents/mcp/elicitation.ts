import type { InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { type SendMessageResponse, getText } from "../../protocol/index.ts";
import type { AgentRequestFromToolCall } from "./tool-arguments.ts";
import { formatQuestion } from "./question-limiter.ts";
import { stripInvisibleAndTruncateText } from "./sanitize-text.ts";

type McpServerSdk = typeof import("@modelcontextprotocol/server");

/** Key of the user's answer in the elicitation response. */
const ELICITATION_ANSWER_KEY = "answer";

/**
 * Converts an agent's question to an MCP elicitation for the host's user. Returns `undefined` if the question
 * has no text. If a question contains only data, the model receives the question instead of the user.
 */
export function convertAgentQuestionToElicitation(
  { inputRequired }: McpServerSdk,
  response: SendMessageResponse,
  agentId: string,
): InputRequiredResult | undefined {
  if (!("task" in response) || response.task.status.state !== "TASK_STATE_INPUT_REQUIRED") return undefined;
  const { id, status } = response.task;
  const question = stripInvisibleAndTruncateText(getText(status.message?.parts ?? []), 4000);
  if (question === "") return undefined;
  return inputRequired({
    inputRequests: {
      [ELICITATION_ANSWER_KEY]: inputRequired.elicit({
        message: formatQuestion(agentId, question),
        requestedSchema: {
          type: "object",
          properties: { [ELICITATION_ANSWER_KEY]: { type: "string", title: "Your answer" } },
          required: [ELICITATION_ANSWER_KEY],
        },
      }),
    },
    // The state needs no protection, because the host can name any task of its caller in the tool arguments.
    requestState: id,
  });
}

/**
 * Converts the user's answer to an elicitation into the next request to the agent. Returns `refused` if the
 * user declined to answer, and `undefined` if the tool call contains no answer.
 */
export function parseElicitationAnswer(
  { inputResponse }: McpServerSdk,
  { mcpReq }: ServerContext,
): AgentRequestFromToolCall | "refused" | undefined {
  const taskId = mcpReq.requestState<string>();
  const response = inputResponse(mcpReq.inputResponses, ELICITATION_ANSWER_KEY);
  if (typeof taskId !== "string" || response.kind !== "elicit") return undefined;
  const text = response.content?.[ELICITATION_ANSWER_KEY];
  if (response.action !== "accept" || typeof text !== "string") return "refused";
  return { parts: [{ text }], taskId };
}
