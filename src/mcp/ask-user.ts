import type { InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { type SendMessageResponse, textOf } from "../protocol/index.ts";
import type { Said } from "./input.ts";
import { plain } from "./plain.ts";

type Sdk = typeof import("@modelcontextprotocol/server");

/** Under which the user's answer comes back. */
const KEY = "answer";

/**
 * What an agent asks, as a question of the host to its user (MCP elicitation). Undefined when there is no question in
 * words: data is for the model.
 */
export function questionFor(
  { inputRequired }: Sdk,
  answer: SendMessageResponse,
): InputRequiredResult | undefined {
  if (!("task" in answer) || answer.task.status.state !== "TASK_STATE_INPUT_REQUIRED") return undefined;
  const { id, status } = answer.task;
  const question = plain(textOf(status.message?.parts ?? []), 4000);
  if (question === "") return undefined;
  return inputRequired({
    inputRequests: {
      [KEY]: inputRequired.elicit({
        message: question,
        requestedSchema: {
          type: "object",
          properties: { [KEY]: { type: "string", title: "Your answer" } },
          required: [KEY],
        },
      }),
    },
    // The host could name any task of its caller by the tool's arguments as well, so there is nothing to protect.
    requestState: id,
  });
}

/** What the user has answered, as what is to be said to the agent; `refused` when they would not. */
export function userAnswer({ inputResponse }: Sdk, { mcpReq }: ServerContext): Said | "refused" | undefined {
  const taskId = mcpReq.requestState<string>();
  const response = inputResponse(mcpReq.inputResponses, KEY);
  if (typeof taskId !== "string" || response.kind !== "elicit") return undefined;
  const text = response.content?.[KEY];
  if (response.action !== "accept" || typeof text !== "string") return "refused";
  return { parts: [{ text }], taskId };
}
