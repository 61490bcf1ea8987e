import { type DataPart, isObject, type JsonObject, type JsonValue, type Part } from "../protocol/index.ts";
import type { ToolApproval } from "./chat-message.ts";

/** A change of a tool call that an agent reports in a data part. */
export type ToolEvent =
  | {
      readonly type: "call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input?: JsonValue;
    }
  | { readonly type: "result"; readonly toolCallId: string; readonly output: JsonValue }
  | { readonly type: "error"; readonly toolCallId: string }
  | {
      readonly type: "approval-request";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input?: JsonValue;
      readonly approval: ToolApproval;
    };

/** A user's decision about a tool call. */
export interface ApprovalDecision {
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason?: string | undefined;
}

const ADK_CONFIRMATION_NAME = "adk_request_confirmation";
/** Maximum length of the id of a message. */
const MAX_ID_LENGTH = 256;

/**
 * Finds the tool event in a part: the format of the adapters of Colloquy, or the function calls of ADK. Returns
 * `undefined` for other parts.
 */
export function findToolEvent(part: Part): ToolEvent | undefined {
  if (!("data" in part) || !isObject(part.data)) return undefined;
  const adkType = part.metadata?.["adk_type"];
  return typeof adkType === "string"
    ? decodeAdkToolEvent(adkType, part.data)
    : decodeAdapterToolEvent(part.data);
}

function decodeAdapterToolEvent(data: JsonObject): ToolEvent | undefined {
  const { type, toolCallId, toolName, input, output = null, approvalId } = data;
  if (typeof approvalId === "string" && typeof toolName === "string") {
    const id = typeof toolCallId === "string" ? toolCallId : approvalId;
    return {
      type: "approval-request",
      toolCallId: id,
      toolName,
      ...withInput(input),
      approval: { id: approvalId },
    };
  }
  if (typeof toolCallId !== "string") return undefined;
  if (type === "tool-call" && typeof toolName === "string")
    return { type: "call", toolCallId, toolName, ...withInput(input) };
  if (type === "tool-result") return { type: "result", toolCallId, output };
  return type === "tool-error" ? { type: "error", toolCallId } : undefined;
}

function decodeAdkToolEvent(adkType: string, data: JsonObject): ToolEvent | undefined {
  const { id, name, args, response = null } = data;
  if (typeof id !== "string" || typeof name !== "string") return undefined;
  if (adkType === "function_response") return { type: "result", toolCallId: id, output: response };
  if (adkType !== "function_call") return undefined;
  if (name !== ADK_CONFIRMATION_NAME)
    return { type: "call", toolCallId: id, toolName: name, ...withInput(args) };
  const original =
    isObject(args) && isObject(args["originalFunctionCall"]) ? args["originalFunctionCall"] : {};
  const { id: toolCallId, name: toolName, args: input = args } = original;
  return {
    type: "approval-request",
    toolCallId: typeof toolCallId === "string" ? toolCallId : id,
    toolName: typeof toolName === "string" ? toolName : name,
    ...withInput(input),
    approval: { id, functionName: name },
  };
}

function withInput(input: JsonValue | undefined): { input?: JsonValue } {
  return input === undefined ? {} : { input };
}

/** Creates the part that sends a user's decision to the agent. */
export function createDecisionPart(
  { id, functionName }: ToolApproval,
  approved: boolean,
  reason?: string,
): DataPart {
  const withReason = reason === undefined || reason === "" ? {} : { reason };
  if (functionName === undefined) return { data: { approvalId: id, approved, ...withReason } };
  return {
    data: { id, name: functionName, response: { confirmed: approved, ...withReason } },
    metadata: { adk_type: "function_response" },
  };
}

/**
 * Returns the id of the message with the decisions about approval requests. The agent processes a message with the same id
 * once, so a decision that is sent again after a reload has no effect.
 */
export function createDecisionMessageId(taskId: string, approvalIds: readonly string[]): string {
  return `${taskId}:${approvalIds.join(",")}`.slice(0, MAX_ID_LENGTH);
}

/** Finds the user's decision in a part of a user's message. */
export function findApprovalDecision(part: Part): ApprovalDecision | undefined {
  if (!("data" in part) || !isObject(part.data)) return undefined;
  const { approvalId, approved, reason, id, response } = part.data;
  if (typeof approvalId === "string") return createDecision(approvalId, approved, reason);
  if (part.metadata?.["adk_type"] !== "function_response" || typeof id !== "string" || !isObject(response))
    return undefined;
  const { confirmed } = response;
  return confirmed === undefined ? undefined : createDecision(id, confirmed, response["reason"]);
}

function createDecision(
  approvalId: string,
  approved: JsonValue | undefined,
  reason: JsonValue | undefined,
): ApprovalDecision {
  return {
    approvalId,
    approved: approved === true,
    ...(typeof reason === "string" ? { reason } : {}),
  };
}
